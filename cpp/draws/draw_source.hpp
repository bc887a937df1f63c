// Draws as a search asks for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/random.hpp"
#include "draws/draws.hpp"
#include "draws/problem.hpp"
#include "partition/labels.hpp"

namespace partita::search {

/// The labels of a random draw, items in no cluster where the draw has a gap.
using RandomDraw = std::function<std::vector<std::uint32_t>(common::Rng&)>;

template <class Label> std::vector<std::uint32_t> draw_labels(const Draws<Label>& draws, std::size_t t) {
    const auto row = draws.draw(t);
    std::vector<std::uint32_t> labels(row.size());
    std::transform(row.begin(), row.end(), labels.begin(), [](Label label) {
        return label == gap<Label> ? no_cluster : static_cast<std::uint32_t>(label);
    });
    return labels;
}

/// What a search asks of draws, whatever the type of their labels: with it, searches are compiled once.
struct DrawSource {
    std::size_t n_items, n_draws;
    RandomDraw random_draw;                                         // a start
    std::function<Problem(std::span<const std::uint32_t>)> problem; // of some of the draws, or of all

    template <class Label>
    DrawSource(const Draws<Label>& draws, const LossTables& tables)
        : n_items(draws.n_items), n_draws(draws.n_draws()),
          random_draw([&draws](common::Rng& rng) { return draw_labels(draws, rng.below(draws.n_draws())); }),
          problem([&](std::span<const std::uint32_t> chosen) { return Problem(draws, tables, chosen); }) {}

    std::size_t n_labels() const { return n_draws * n_items; }
};

} // namespace partita::search
