// Draws that may share a tangent of the logarithm.
#pragma once

#include <cstdint>
#include <numeric>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include <algorithm>

namespace partita::proofs {

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

} // namespace partita::proofs
