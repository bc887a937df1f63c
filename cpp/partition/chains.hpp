// Chains of moves: an item goes to the cluster that suits it second best, others follow, and the chain is
// kept if it lowers the expected loss as a whole. Single moves cannot do this: the first step of a chain
// costs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "partition/journal.hpp"
#include "partition/moves.hpp"

namespace partita::search {

/// An item that would lose little in another cluster.
struct BoundaryItem {
    std::uint32_t item, own, other;
    double penalty;

    bool touches(const BoundaryItem& moved) const {
        return own == moved.own || own == moved.other || other == moved.own || other == moved.other;
    }
};

/// What moving item i to `target` lowers the value by, in double precision.
template <SearchState S> double gain_of_move(S& state, std::size_t i, std::uint32_t target) {
    const auto scores = state.score_precisely(i);
    return scores[state.cluster_of(i)] - scores[target];
}

/// Adds item i to the boundary_items, with the cluster that suits it second best, unless there is none.
template <SearchState S> void add_boundary_item(S& state, std::uint32_t i, std::vector<BoundaryItem>& found) {
    const auto own = state.cluster_of(i);
    const auto scores = state.score(i).first(state.n_clusters());
    const auto other = best_other(scores, own);
    if (std::isfinite(other.best_score) && !state.is_alone(i))
        found.push_back({i, own, other.best, other.best_score - scores[own]});
}

/// The items that lose least by going to another cluster, least first; as many as keep all chains
/// together no more expensive than a sweep. `boundary` are the items to choose from, all if empty. Clusters
/// neither open nor close in a chain, so that it can be undone step by step.
template <SearchState S>
std::vector<BoundaryItem> boundary_items(S& state, std::vector<std::uint32_t> boundary,
                                         const Limits& limits) {
    const auto n = state.labels().size();
    if (boundary.empty()) {
        boundary.resize(n);
        std::iota(boundary.begin(), boundary.end(), 0u);
    }
    std::vector<BoundaryItem> found;
    for (std::size_t visited = 0; visited < boundary.size(); ++visited) {
        if (visited % poll_every == 0 && limits.reached())
            break;
        add_boundary_item(state, boundary[visited], found);
    }
    const auto count = std::min(found.size(), static_cast<std::size_t>(std::sqrt(static_cast<double>(n))));
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end(),
                      [](const BoundaryItem& x, const BoundaryItem& y) { return x.penalty < y.penalty; });
    found.resize(count);
    return found;
}

/// Moves an item and records in double precision what that changes.
template <SearchState S> void make_move(S& state, std::uint32_t item, std::uint32_t target, Journal& chain) {
    chain.add(item, state.cluster_of(item), -gain_of_move(state, item, target));
    state.move(item, target);
}

/// Moves the item to its best cluster if that exists and its own is not left empty.
template <SearchState S> void follow(S& state, std::uint32_t item, Journal& chain) {
    const auto target = best_cluster(state, item);
    if (target != state.cluster_of(item) && target < state.n_clusters() && !state.is_alone(item))
        make_move(state, item, target, chain);
}

/// Starts a chain at each boundary item in turn; the boundary_items that share a cluster with it may follow.
/// Returns whether one of the chains helped.
template <SearchState S> bool try_chains(S& state, Tally& tally, const Limits& limits) {
    bool helped = false;
    const auto candidates = boundary_items(state, tally.boundary, limits);
    for (const auto& first : candidates) {
        if (limits.reached())
            break;
        if (state.cluster_of(first.item) != first.own || state.is_alone(first.item))
            continue;
        Journal chain;
        make_move(state, first.item, first.other, chain);
        for (const auto& next : candidates)
            if (next.item != first.item && next.touches(first))
                follow(state, next.item, chain);
        if (chain.change() < -state.rounding()) {
            tally.moves += chain.size();
            helped = true;
        } else {
            chain.undo(state);
        }
    }
    return helped;
}

} // namespace partita::search
