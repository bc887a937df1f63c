// The changes of the exact ICL that merges of clusters bring.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "networks/dirichlet.hpp"
#include "networks/merging_clusters.hpp"
#include "networks/network_state.hpp"
#include "partition/merges.hpp"

namespace partita::models {

/// The prior and the degrees are here, the blocks in State::Merges. Clusters are the filled slots, numbered
/// in their order.
template <NetworkState State> class Merger {
public:
    Merger(const State& state, const Priors& priors)
        : state_(state), priors_(priors), clusters_(filled_clusters(state)), merges_(state, clusters_),
          degrees_(state, clusters_), into_(state.slots()) {
        std::iota(into_.begin(), into_.end(), 0u);
        for (const auto side : clusters_.side)
            count_[side] += 1;
    }
    Merger(const Merger&) = delete; // merges_ refers to clusters_
    Merger& operator=(const Merger&) = delete;

    std::size_t size() const { return clusters_.slot.size(); }
    std::size_t n_sides() const { return state_.n_sides(); }
    std::size_t n_clusters(std::size_t s) const { return count_[s]; }
    std::uint32_t into(std::uint32_t slot) const { return into_[slot]; }

    Merge best(std::size_t only) const {
        auto best = Merge::none();
        const double fewer[2] = {fewer_clusters(0), fewer_clusters(1)};
        const auto& side = clusters_.side;
        for (std::size_t a = 0; a < size(); ++a)
            for (std::size_t b = 0; clusters_.alive[a] && b < a; ++b)
                if (can_merge(a, b) && (only == n_sides() || side[a] == only))
                    if (const double change = total_change(a, b) + fewer[side[a]]; change > best.change)
                        best = {static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(a), change};
        return best;
    }

    bool can_merge(std::size_t a, std::size_t b) const { return clusters_.may_merge(a, b); }
    double change(std::size_t a, std::size_t b) const {
        return total_change(std::max(a, b), std::min(a, b)) + fewer_clusters(clusters_.side[a]);
    }

    void merge(const Merge& merge) {
        const std::size_t h = merge.into, g = merge.from;
        std::replace(into_.begin(), into_.end(), clusters_.slot[g], clusters_.slot[h]);
        clusters_.alive[g] = false;
        clusters_.nodes[h] += clusters_.nodes[g];
        count_[clusters_.side[g]] -= 1;
        degrees_.merge(g, h);
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
        return degrees_.added_to(merges_.change(a, b) + prior.cluster(nodes[a] + nodes[b]) -
                                     prior.cluster(nodes[a]) - prior.cluster(nodes[b]),
                                 a, b);
    }

    const State& state_;
    const Priors& priors_;
    MergingClusters clusters_;
    typename State::Merges merges_;
    MergingDegrees degrees_;
    std::vector<std::uint32_t> into_; // of each slot, where its nodes are now
    std::size_t count_[2] = {0, 0};
};

} // namespace partita::models
