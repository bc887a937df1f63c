// Greedy merges of clusters, and the path of merges down to one cluster.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "networks/dirichlet.hpp"
#include "networks/merging_clusters.hpp"
#include "networks/network_state.hpp"
#include "partition/solution.hpp"

namespace partita::models {

/// The changes of ICL that merges of two clusters bring: the prior and the degrees here, the blocks in
/// State::Merges.
template <NetworkState State> class Merger {
public:
    Merger(const State& state, const Priors& priors)
        : state_(state), priors_(priors), clusters_(filled_clusters(state)), merges_(state, clusters_) {
        for (std::size_t a = 0; a < size(); ++a) {
            count_[clusters_.side[a]] += 1;
            for (std::size_t d = 0; d < state.network().directions(); ++d)
                degree_[d].push_back(state.degree(d, slot(a)));
        }
    }
    Merger(const Merger&) = delete; // merges_ refers to clusters_
    Merger& operator=(const Merger&) = delete;

    std::size_t clusters(std::size_t s) const { return count_[s]; }

    /// The best merge of two clusters of side `only` (2: of any side); from == into if none is left.
    Merge best(std::size_t only = 2) const {
        Merge best{0, 0, -std::numeric_limits<double>::infinity()};
        const double fewer[2] = {fewer_clusters(0), fewer_clusters(1)};
        const auto& side = clusters_.side;
        for (std::size_t a = 0; a < size(); ++a)
            for (std::size_t b = 0; clusters_.alive[a] && b < a; ++b)
                if (clusters_.may_merge(a, b) && (only == 2 || side[a] == only))
                    if (const double change = total_change(a, b) + fewer[side[a]]; change > best.change)
                        best = {static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(a), change};
        return best;
    }

    /// The change of ICL for every pair of clusters (in the order of their slots).
    std::vector<double> all_changes() const {
        const auto n = size();
        std::vector<double> changes(n * n, 0.0);
        for (std::size_t a = 0; a < n; ++a)
            for (std::size_t b = 0; b < n; ++b)
                if (a != b && clusters_.side[a] == clusters_.side[b])
                    changes[a * n + b] =
                        total_change(std::max(a, b), std::min(a, b)) + fewer_clusters(clusters_.side[a]);
        return changes;
    }

    std::uint32_t slot(std::size_t cluster) const { return clusters_.slot[cluster]; }
    std::size_t size() const { return clusters_.slot.size(); }

    void merge(const Merge& merge) {
        const std::size_t h = merge.into, g = merge.from;
        clusters_.alive[g] = false;
        clusters_.nodes[h] += clusters_.nodes[g];
        count_[clusters_.side[g]] -= 1;
        for (std::size_t d = 0; d < state_.network().directions(); ++d)
            degree_[d][h] += degree_[d][g];
        merges_.merge(g, h);
    }

private:
    static MergingClusters filled_clusters(const State& state) {
        MergingClusters clusters;
        for (std::size_t s = 0; s < state.n_sides(); ++s)
            for (auto k = state.side(s).first; k < state.side(s).end(); ++k)
                if (state.size(k) > 0) {
                    clusters.slot.push_back(static_cast<std::uint32_t>(k));
                    clusters.side.push_back(s);
                    clusters.nodes.push_back(state.size(k));
                    clusters.alive.push_back(true);
                }
        return clusters;
    }

    /// The prior's change when side s has one cluster less.
    double fewer_clusters(std::size_t s) const {
        return count_[s] < 2 ? 0.0 : priors_[s].clusters(count_[s] - 1) - priors_[s].clusters(count_[s]);
    }

    /// The change of ICL for a > b, without the term of the number of clusters.
    double total_change(std::size_t a, std::size_t b) const {
        const auto& prior = priors_[clusters_.side[a]];
        const auto& nodes = clusters_.nodes;
        double change = merges_.change(a, b) + prior.cluster(nodes[a] + nodes[b]) - prior.cluster(nodes[a]) -
                        prior.cluster(nodes[b]);
        if (state_.degree_corrected())
            for (std::size_t d = 0; d < state_.network().directions(); ++d)
                change += degree_term(nodes[a] + nodes[b], degree_[d][a] + degree_[d][b]) -
                          degree_term(nodes[a], degree_[d][a]) - degree_term(nodes[b], degree_[d][b]);
        return change;
    }

    const State& state_;
    const Priors& priors_;
    MergingClusters clusters_;
    typename State::Merges merges_;
    std::size_t count_[2] = {0, 0};
    std::vector<std::int64_t> degree_[2];
};

} // namespace partita::models
