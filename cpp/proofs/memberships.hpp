// How often an item is with each other item, in groups of draws that share a tangent of the logarithm.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "common/clones.hpp"
#include "draws/draws.hpp"

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

/// Groups of draws with similar features for an item: for each class in play, the logarithm of |S n T| at the
/// reference S. The group and feature with the largest variation are repeatedly split at their mean.
class Grouping {
public:
    Grouping(std::span<const float> features, std::size_t n_features, std::span<const double> weights)
        : features_(features), n_features_(n_features), weights_(weights) {}

    /// At most this many groups; without a start, begins with all draws in one group.
    std::vector<std::vector<std::uint32_t>> run(std::size_t max_groups,
                                                std::vector<std::vector<std::uint32_t>> start = {}) {
        if (start.empty()) {
            start.emplace_back(weights_.size());
            std::iota(start[0].begin(), start[0].end(), 0u);
        }
        std::vector<Group> groups;
        std::priority_queue<std::pair<double, std::size_t>> queue;
        for (auto& draws : start) {
            groups.push_back({std::move(draws)});
            rank(groups.back());
            queue.emplace(groups.back().spread, groups.size() - 1);
        }
        while (groups.size() < max_groups && queue.top().first > 1e-9) {
            const auto parent = queue.top().second;
            queue.pop();
            groups.push_back(split(groups[parent]));
            queue.emplace(groups[parent].spread, parent);
            queue.emplace(groups.back().spread, groups.size() - 1);
        }
        std::vector<std::vector<std::uint32_t>> out;
        for (auto& group : groups)
            out.push_back(std::move(group.draws));
        return out;
    }

private:
    struct Group {
        std::vector<std::uint32_t> draws = {};
        double spread = 0, mean = 0;
        std::size_t feature = 0;
    };

    void rank(Group& group) const {
        group.spread = -1;
        for (std::size_t f = 0; f < n_features_; ++f) {
            double mass = 0, sum = 0, squares = 0;
            for (const auto h : group.draws) {
                const double value = features_[h * n_features_ + f];
                mass += weights_[h];
                sum += weights_[h] * value;
                squares += weights_[h] * value * value;
            }
            const double spread = mass > 0 ? squares - sum * sum / mass : 0;
            if (spread > group.spread) {
                group.spread = spread;
                group.feature = f;
                group.mean = mass > 0 ? sum / mass : 0;
            }
        }
    }

    Group split(Group& parent) const {
        auto below = [&](std::uint32_t h) {
            return static_cast<double>(features_[h * n_features_ + parent.feature]) <= parent.mean;
        };
        const auto middle = std::stable_partition(parent.draws.begin(), parent.draws.end(), below);
        Group child;
        child.draws.assign(middle, parent.draws.end());
        parent.draws.erase(middle, parent.draws.end());
        rank(child);
        rank(parent);
        return child;
    }

    std::span<const float> features_;
    std::size_t n_features_;
    std::span<const double> weights_;
};

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
