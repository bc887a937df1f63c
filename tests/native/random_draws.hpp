// Random draws with canonical labels, for the native tests.
#pragma once

#include <vector>

#include "common/random.hpp"
#include "draws/draws.hpp"
#include "draws/losses.hpp"
#include "partition/first_appearance.hpp"
#include "partition/run.hpp"

/// Owns what partita::Draws borrows.
template <class Label> struct RandomDraws {
    std::vector<Label> labels;
    std::vector<double> weights;
    std::size_t n_items;

    RandomDraws(std::size_t n_draws, std::size_t n, std::uint32_t clusters, double gaps, std::uint64_t seed)
        : weights(n_draws, 1.0 / static_cast<double>(n_draws)), n_items(n) {
        partita::common::Rng rng(seed);
        for (std::size_t t = 0; t < n_draws; ++t) {
            auto row = partita::search::random_labels(n, clusters, rng);
            partita::common::FirstAppearance name(clusters);
            for (const auto label : row) {
                if (rng.uniform() < gaps) {
                    labels.push_back(partita::gap<Label>);
                    continue;
                }
                labels.push_back(static_cast<Label>(name(label)));
            }
        }
    }

    partita::Draws<Label> view() const { return {labels, weights, n_items}; }
};

inline std::vector<partita::Loss> all_losses(std::size_t n) {
    std::vector<double> squares(n + 1);
    for (std::size_t count = 0; count <= n; ++count)
        squares[count] = static_cast<double>(count * count);
    auto combine = [](std::span<const double> joint, std::span<const double> estimate,
                      std::span<const double> draw, std::span<double> out) {
        for (std::size_t t = 0; t < out.size(); ++t)
            out[t] = estimate[t] + draw[t] - 2 * joint[t];
    };
    std::vector<partita::Loss> losses = {partita::Binder{1, 1}, partita::Binder{0.5, 1.5}, partita::VI{1, 1},
                                         partita::VI{1.7, 0.3},
                                         partita::CustomLoss{combine, squares, squares, squares}};
    for (auto& loss : partita::plain_losses())
        if (!std::holds_alternative<partita::ZeroOne>(loss)) // its optimum is a draw: no search looks for it
            losses.push_back(loss);
    return losses;
}
