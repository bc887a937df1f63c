// What a run does to its state: single moves and merges until neither helps, clusters taken apart and built
// anew.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <vector>

#include "partition/labels.hpp"
#include "partition/moves.hpp"
#include "partition/rounding.hpp"

namespace partita::search {

/// Items cluster by cluster, clusters and items in random order: neighbours share the rows that a score
/// reads.
template <SearchState S> std::vector<std::uint32_t> cluster_order(const S& state, common::Rng& rng) {
    const auto items = rng.permutation(state.labels().size());
    const auto ranks = rng.permutation(state.n_clusters());
    std::vector<std::uint32_t> ends(state.n_clusters() + 1), order(items.size());
    for (const auto i : items)
        ++ends[ranks[state.cluster_of(i)] + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    for (const auto i : items)
        order[ends[ranks[state.cluster_of(i)]]++] = i;
    return order;
}

/// Single moves and merges until neither helps. Sweeps may split what merges join, so that the value after
/// the merges has to fall from round to round.
template <SearchState S> void descend(S& state, common::Rng& rng, Tally& tally, const Limits& limits) {
    MonotoneGuard value;
    do
        sweep_until_stable(state, [&] { return cluster_order(state, rng); }, tally, limits);
    while (merge_best_pairs(state, limits) > 0 && value.falls(state.exact_value(), state.rounding()));
}

/// Puts groups of items back as clusters of their own, wherever they are now.
template <SearchState S> void restore(S& state, const std::vector<std::vector<std::uint32_t>>& groups) {
    for (const auto& group : groups)
        for (const auto i : group)
            state.remove(i);
    for (const auto& group : groups) {
        const auto cluster = state.n_clusters();
        for (const auto i : group)
            state.insert(i, cluster);
    }
}

/// How many items of each group are in each cluster: [group][cluster].
template <SearchState S>
std::vector<std::vector<std::uint32_t>> overlaps(const S& state,
                                                 const std::vector<std::vector<std::uint32_t>>& groups) {
    std::vector<std::vector<std::uint32_t>> shared;
    for (const auto& group : groups) {
        shared.emplace_back(state.n_clusters());
        for (const auto i : group)
            ++shared.back()[state.cluster_of(i)];
    }
    return shared;
}

/// For each group an item that is in the cluster which can become the group's with the fewest moves, or
/// `no_cluster`. Such a cluster has no items but those of the groups, and serves one group.
template <SearchState S>
std::vector<std::uint32_t> anchors(const S& state, const std::vector<std::vector<std::uint32_t>>& groups) {
    auto shared = overlaps(state, groups);
    std::vector<std::uint32_t> others(state.n_clusters()), found(groups.size(), no_cluster);
    for (const auto cluster : state.labels())
        if (cluster != no_cluster)
            ++others[cluster];
    for (const auto& own : shared)
        for (std::size_t k = 0; k < own.size(); ++k)
            others[k] -= own[k];
    for (std::size_t turn = 0; turn < groups.size(); ++turn) {
        std::uint32_t most = 0;
        std::size_t group = 0, cluster = 0;
        for (std::size_t g = 0; g < groups.size(); ++g)
            for (std::size_t k = 0; k < shared[g].size(); ++k)
                if (found[g] == no_cluster && others[k] == 0 && shared[g][k] > most) {
                    most = shared[g][k];
                    group = g;
                    cluster = k;
                }
        if (most == 0)
            break;
        found[group] = *std::find_if(groups[group].begin(), groups[group].end(),
                                     [&](auto i) { return state.cluster_of(i) == cluster; });
        others[cluster] = 1; // taken
    }
    return found;
}

/// Makes clusters of groups of items that have just been moved about: few are elsewhere, and only these move.
template <SearchState S> void put_back(S& state, const std::vector<std::vector<std::uint32_t>>& groups) {
    auto anchor = anchors(state, groups);
    for (std::size_t g = 0; g < groups.size(); ++g)
        if (anchor[g] == no_cluster) {
            anchor[g] = groups[g].front();
            state.move(anchor[g], state.n_clusters());
        }
    for (std::size_t g = 0; g < groups.size(); ++g)
        for (const auto i : groups[g])
            if (const auto target = state.cluster_of(anchor[g]); target != state.cluster_of(i))
                state.move(i, target);
}

/// One of the few cheapest merges of two clusters, neither of them `besides`; there are at least two others.
template <SearchState S> ClusterMerge cheap_merge(const S& state, std::uint32_t besides, common::Rng& rng) {
    const auto changes = state.merge_changes();
    const auto clusters = state.n_clusters();
    std::vector<ClusterMerge> merges;
    for (std::uint32_t k = 0; k < clusters; ++k)
        for (std::uint32_t l = k + 1; l < clusters; ++l)
            if (k != besides && l != besides)
                merges.push_back({k, l, changes[std::size_t{k} * clusters + l]});
    const auto end =
        merges.begin() + static_cast<std::ptrdiff_t>(std::min(policy::cheap_merges, merges.size()));
    std::partial_sort(merges.begin(), end, merges.end(), [](const auto& x, const auto& y) {
        return std::tie(x.change, x.keep, x.gone) < std::tie(y.change, y.keep, y.gone);
    });
    return merges[rng.below(static_cast<std::size_t>(end - merges.begin()))];
}

/// Takes items out, puts them back one by one in random order, each into its best cluster, and sweeps them.
template <SearchState S>
void reallocate(S& state, std::vector<std::uint32_t>& items, common::Rng& rng, Tally& tally,
                const Limits& limits) {
    rng.shuffle(std::span(items));
    for (const auto i : items)
        state.remove(i);
    allocate_in_order(state, items, limits);
    sweep(state, items, tally, limits);
}

/// Takes a cluster apart and allocates its items anew, one by one: alone, together with another cluster, or,
/// where the limit on clusters binds, after a cheap merge of two others, which frees a cluster for a split.
/// Kept if the value falls, by its changes in single precision and computed anew. `allocated` counts items.
template <SearchState S>
bool rebuild(S& state, std::uint32_t cluster, std::uint32_t max_clusters, MonotoneGuard& exact,
             common::Rng& rng, Tally& tally, const Limits& limits, std::size_t& allocated) {
    const auto value = state.value();
    std::vector<std::vector<std::uint32_t>> groups{state.members(cluster)};
    auto order = groups[0];
    const auto kind = rng.below(3);
    if (kind == 1 && state.n_clusters() > 2 && state.n_clusters() >= max_clusters) {
        const auto merge = cheap_merge(state, cluster, rng);
        groups.push_back(state.members(merge.gone));
        const auto anchor = state.members(merge.keep).front(); // numbers may change under way
        for (const auto i : groups[1])
            state.move(i, state.cluster_of(anchor));
    } else if (kind > 0 && state.n_clusters() > 1) {
        const auto second = (cluster + 1 + rng.below(state.n_clusters() - 1)) % state.n_clusters();
        groups.push_back(state.members(static_cast<std::uint32_t>(second)));
        order.insert(order.end(), groups[1].begin(), groups[1].end());
    }
    allocated += order.size();
    reallocate(state, order, rng, tally, limits);
    if (state.value() < value - state.tolerance() * std::abs(value) &&
        exact.falls(state.exact_value(), state.rounding()))
        return true;
    put_back(state, groups);
    return false;
}

/// Failed attempts to rebuild clusters that end a run: this many in a row, or fewer that allocated each item
/// several times, but one of each cluster. Where clusters are few, an attempt allocates nearly all items.
struct Patience {
    std::uint32_t attempts = 0;

    bool ends(std::uint32_t failures, std::size_t allocated, std::size_t n_items,
              std::uint32_t clusters) const {
        const auto enough = policy::allocations_per_attempt * attempts * static_cast<double>(n_items);
        return attempts == 0 ||
               (failures >= clusters && (failures >= attempts || static_cast<double>(allocated) >= enough));
    }
};

/// Descends, then rebuilds clusters in turn until patience ends. An attempt that is better lowers the value,
/// computed anew, below that of all before.
template <SearchState S>
void improve(S& state, Patience patience, std::uint32_t max_clusters, common::Rng& rng, Tally& tally,
             const Limits& limits) {
    descend(state, rng, tally, limits);
    MonotoneGuard value(state.exact_value());
    std::uint32_t failures = 0, turn = 0;
    std::size_t allocated = 0;
    while (!patience.ends(failures, allocated, state.labels().size(), state.n_clusters()) &&
           !limits.reached()) {
        if (rebuild(state, turn++ % state.n_clusters(), max_clusters, value, rng, tally, limits, allocated)) {
            descend(state, rng, tally, limits);
            value.falls(state.exact_value(), state.rounding());
            failures = 0;
            allocated = 0;
        } else {
            ++failures;
        }
    }
    state.refresh();
}

/// Gives every item a cluster and respects the limit on clusters.
template <SearchState S>
void complete(S& state, std::uint32_t max_clusters, common::Rng& rng, const Limits& limits) {
    std::vector<std::uint32_t> loose;
    for (std::uint32_t i = 0; i < state.labels().size(); ++i)
        if (state.cluster_of(i) == no_cluster)
            loose.push_back(i);
    rng.shuffle(std::span(loose));
    allocate_in_order(state, loose, limits);
    merge_down_to(state, max_clusters, limits);
}

} // namespace partita::search
