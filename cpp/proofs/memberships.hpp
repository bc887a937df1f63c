// How often an item is with each other item, in groups of draws that share a tangent of the logarithm.
#pragma once

#include <cstdint>
#include <vector>

#include "common/clones.hpp"
#include "draws/draws.hpp"
#include "proofs/grouping.hpp"

namespace partita::proofs {

template <class Label>
PARTITA_CLONES float masked_sum(const float* x, const Label* row, Label own, std::size_t n) {
    float sum = 0;
    for (std::size_t j = 0; j < n; ++j)
        sum += row[j] == own ? x[j] : 0.0f;
    return sum;
}

template <class Label>
PARTITA_CLONES void add_where(const Label* row, Label own, double amount, std::size_t n, double* out) {
    for (std::size_t j = 0; j < n; ++j)
        out[j] += row[j] == own ? amount : 0.0;
}

template <class Label>
PARTITA_CLONES double sum_where(const Label* row, Label own, const double* x, std::size_t n) {
    double part[4] = {};
    std::size_t j = 0;
    for (; j + 4 <= n; j += 4)
        for (std::size_t lane = 0; lane < 4; ++lane)
            part[lane] += row[j + lane] == own ? x[j + lane] : 0.0;
    for (; j < n; ++j)
        part[0] += row[j] == own ? x[j] : 0.0;
    return (part[0] + part[2]) + (part[1] + part[3]);
}

/// For one item: groups of draws, and for each group the share of its weight in which the item is with item
/// j.
struct Memberships {
    std::vector<std::vector<std::uint32_t>> draws; // of each group
    std::vector<float> weight;                     // (groups)
    std::vector<float> shares;                     // (items, groups), row by row

    /// Groups the draws by features, a (draws, features) array by rows. Refining splits the current groups,
    /// which can only raise the rows.
    template <class Label>
    void regroup(const Draws<Label>& sample, std::size_t item, std::span<const float> features,
                 std::size_t n_features, std::size_t n_groups, bool refine) {
        Grouping grouping(features, n_features, sample.weights);
        draws = refine ? grouping.run(n_groups, std::move(draws)) : grouping.run(n_groups);
        weight.assign(n_groups, 0.0f);
        shares.assign(sample.n_items * n_groups, 0.0f);
        std::vector<double> mass(sample.n_items);
        for (std::size_t g = 0; g < draws.size(); ++g) {
            double total = 0;
            std::fill(mass.begin(), mass.end(), 0.0);
            for (const auto h : draws[g]) {
                const auto row = sample.draw(h);
                total += sample.weights[h];
                add_where(row.data(), row[item], sample.weights[h], sample.n_items, mass.data());
            }
            weight[g] = static_cast<float>(total);
            for (std::size_t j = 0; j < sample.n_items && total > 0; ++j)
                shares[j * n_groups + g] = static_cast<float>(mass[j] / total);
        }
    }
};

} // namespace partita::proofs
