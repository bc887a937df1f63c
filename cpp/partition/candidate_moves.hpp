// The moves of a search, restricted to candidates: clusters that have something in common with an item. What
// is in moves.hpp, chains.hpp and improve.hpp for any state is here for states that name candidates;
// overloads that are more constrained win.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "partition/chains.hpp"
#include "partition/improve.hpp"
#include "partition/labels.hpp"
#include "partition/level.hpp"
#include "partition/moves.hpp"
#include "partition/queue.hpp"

namespace partita::search {

template <class S>
concept CandidateState = SearchState<S> && requires(S state, std::size_t i, std::uint32_t k) {
    state.candidates(i);
    state.merges_of(k);
    state.merge_change(k, k);
    state.smallest_cluster(k);
    state.first_member(k);
    state.for_each_neighbour(i, [](std::uint32_t) {});
};

template <CandidateState S> inline const std::size_t draws_per_start<S> = policy::draws_per_sparse_start;

/// The least score of the candidates that `allows` lets pass. Among equals the lowest number wins, as if all
/// clusters had been looked at in turn.
template <class Candidates, class Allows> Choice best_candidate(const Candidates& candidates, Allows allows) {
    Choice least;
    for (const auto& [cluster, score] : candidates)
        if (allows(cluster) &&
            (score < least.best_score || (score == least.best_score && cluster < least.best)))
            least = {cluster, score};
    return least;
}

template <class Candidates> double score_at(const Candidates& candidates, std::uint32_t cluster) {
    return best_candidate(candidates, [&](std::uint32_t k) { return k == cluster; }).best_score;
}

/// As for all clusters; the best of the others is the best candidate, if there is another one in use.
template <CandidateState S> Decision decide(S& state, std::size_t i) {
    const auto own = state.cluster_of(i);
    const auto candidates = state.candidates(i);
    const auto other = best_candidate(candidates, [&](std::uint32_t k) { return k != own; });
    if (own == no_cluster)
        return {other.best};
    const auto stay = score_at(candidates, own);
    bool leaves = false;
    if (std::isfinite(other.best_score)) {
        const auto magnitude = std::max(std::abs(stay) + state.cancelled(i, own),
                                        std::abs(other.best_score) + state.cancelled(i, other.best));
        leaves = stay - other.best_score > state.precise_tolerance() * magnitude;
    }
    const auto target = leaves ? other.best : own;
    auto second =
        best_candidate(candidates, [&](std::uint32_t k) { return k != target && k < state.n_clusters(); });
    second.best_score -= leaves ? other.best_score : stay;
    return {target, second};
}

template <CandidateState S> double gain_of_move(S& state, std::size_t i, std::uint32_t target) {
    const auto candidates = state.candidates(i);
    return score_at(candidates, state.cluster_of(i)) - score_at(candidates, target);
}

template <CandidateState S>
void add_boundary_item(S& state, std::uint32_t i, std::vector<BoundaryItem>& found) {
    const auto own = state.cluster_of(i);
    const auto candidates = state.candidates(i);
    const auto other =
        best_candidate(candidates, [&](std::uint32_t k) { return k != own && k < state.n_clusters(); });
    if (!state.is_alone(i) && std::isfinite(other.best_score))
        found.push_back({i, own, other.best, other.best_score - score_at(candidates, own)});
}

/// Merges, cheapest first. Each cluster has its best partner in a heap; what has changed since it was looked
/// at is looked at again when its turn comes. Past the limits nothing is looked at.
template <CandidateState S> class MergeQueue {
public:
    MergeQueue(S& state, const Limits& limits)
        : state_(state), limits_(limits), versions_(state.n_clusters()) {
        for (std::uint32_t i = 0; i < state.labels().size(); ++i) // neighbours in memory one after the other
            if (const auto k = state.cluster_of(i); k != no_cluster && state.first_member(k) == i)
                look_at(k);
    }

    /// The cheapest merge of two clusters that share a row; its change is infinite if no two do.
    ClusterMerge best() {
        while (!heap_.empty()) {
            const auto top = heap_.top();
            if (is_current(top))
                return {std::min(top.cluster, top.partner), std::max(top.cluster, top.partner), top.change};
            heap_.pop();
            if (top.cluster < state_.n_clusters() && versions_[top.cluster] == top.version)
                look_at(top.cluster); // only its partner has changed
        }
        return {};
    }

    void merge(const ClusterMerge& merge) {
        const auto anchor = state_.first_member(merge.keep); // numbers may change
        state_.merge(merge.keep, merge.gone);
        ++versions_[merge.gone];
        if (merge.gone < state_.n_clusters())
            look_at(merge.gone); // another cluster has taken the number
        const auto kept = state_.cluster_of(anchor);
        ++versions_[kept];
        look_at(kept);
    }

private:
    struct Entry {
        double change;
        std::uint32_t cluster, partner, version, partner_version;

        /// The heap has its greatest on top: the cheapest, and the first among equals.
        bool operator<(const Entry& other) const {
            return std::pair(other.change, other.cluster) < std::pair(change, cluster);
        }
    };

    bool is_current(const Entry& entry) const {
        return entry.cluster < state_.n_clusters() && entry.partner < state_.n_clusters() &&
               versions_[entry.cluster] == entry.version && versions_[entry.partner] == entry.partner_version;
    }

    void look_at(std::uint32_t k) {
        if (limits_.reached())
            return;
        Entry best{std::numeric_limits<double>::infinity(), k, k, versions_[k], 0};
        for (const auto& [cluster, change] : state_.merges_of(k))
            if (change < best.change || (change == best.change && cluster < best.partner)) {
                best.change = change;
                best.partner = cluster;
            }
        if (best.partner == k)
            return;
        best.partner_version = versions_[best.partner];
        heap_.push(best);
    }

    S& state_;
    const Limits& limits_;
    std::vector<std::uint32_t> versions_; // of the cluster that has each number
    std::priority_queue<Entry> heap_;
};

/// Merges as long as that lowers the value. Returns an item of each cluster that was merged.
template <CandidateState S> std::vector<std::uint32_t> merge_and_list(S& state, const Limits& limits) {
    std::vector<std::uint32_t> merged;
    MergeQueue<S> queue(state, limits);
    while (state.n_clusters() > 1 && !limits.reached()) {
        const auto best = queue.best();
        if (!(best.change < -state.rounding()))
            break;
        merged.push_back(state.first_member(best.keep));
        queue.merge(best);
    }
    return merged;
}

/// The merge of the two smallest clusters: the cheapest of those that share no row.
template <CandidateState S> ClusterMerge smallest_merge(S& state) {
    const auto k = state.smallest_cluster(no_cluster), l = state.smallest_cluster(k);
    return {std::min(k, l), std::max(k, l), state.merge_change(k, l)};
}

template <CandidateState S> void merge_down_to(S& state, std::uint32_t clusters, const Limits& limits) {
    if (state.n_clusters() <= clusters)
        return;
    MergeQueue<S> queue(state, limits);
    while (state.n_clusters() > clusters) {
        const auto small = smallest_merge(state);
        const auto shared = limits.reached() ? ClusterMerge{} : queue.best();
        queue.merge(shared.change < small.change ? shared : small);
    }
}

/// Items in blocks of neighbours, blocks and the items of each in random order: what a block's scores read
/// stays in the cache.
template <CandidateState S> std::vector<std::uint32_t> cluster_order(const S& state, common::Rng& rng) {
    const auto items_per_block = policy::items_per_block;
    const auto n = state.labels().size();
    std::vector<std::uint32_t> order;
    order.reserve(n);
    for (const auto block : rng.permutation((n + items_per_block - 1) / items_per_block)) {
        const auto begin = order.size();
        for (auto i = block * items_per_block; i < std::min(n, (block + 1) * items_per_block); ++i)
            order.push_back(static_cast<std::uint32_t>(i));
        rng.shuffle(std::span(order).subspan(begin));
    }
    return order;
}

/// The items whose scores a change of a cluster changes: its members and their neighbours. Of a large
/// cluster, which one item hardly changes, none.
template <CandidateState S> void add_surroundings(S& state, std::uint32_t cluster, WorkQueue& queue) {
    if (cluster >= state.n_clusters() || state.size(cluster) > policy::large_cluster)
        return;
    for (const auto j : state.members(cluster)) {
        queue.push(j);
        state.for_each_neighbour(j, [&](std::uint32_t neighbour) { queue.push(neighbour); });
    }
}

/// Moves the items of the queue, and then those that have more to gain because of it, until nothing moves.
template <CandidateState S> void move_queued(S& state, WorkQueue& queue, Tally& tally, const Limits& limits) {
    const auto n = state.labels().size();
    MonotoneGuard value;
    const auto goes_on = [&](std::uint64_t sweeps) {
        return sweeps < unchecked_sweeps || value.falls(state.exact_value(), state.rounding());
    };
    const auto visited = drain(queue, n, limits, goes_on, [&](std::uint32_t i) {
        const auto old = state.cluster_of(i), target = best_cluster(state, i);
        if (target == old)
            return;
        state.move(i, target);
        ++tally.moves;
        state.for_each_neighbour(i, [&](std::uint32_t neighbour) { queue.push(neighbour); });
        add_surroundings(state, old, queue); // or the cluster that took the number: no harm
        add_surroundings(state, state.cluster_of(i), queue);
    });
    tally.sweeps += (visited + n - 1) / n;
    tally.trace.push_back(state.problem().loss_of(state.value()));
}

/// Single moves and merges until neither helps, looking again only where something has changed.
template <CandidateState S> void descend(S& state, WorkQueue& queue, Tally& tally, const Limits& limits) {
    MonotoneGuard value;
    do {
        move_queued(state, queue, tally, limits);
        for (const auto i : merge_and_list(state, limits))
            add_surroundings(state, state.cluster_of(i), queue);
    } while (!queue.empty() && !limits.reached() && value.falls(state.value(), state.rounding()));
}

template <CandidateState S> void descend(S& state, common::Rng& rng, Tally& tally, const Limits& limits) {
    WorkQueue queue(state.labels().size());
    for (const auto i : cluster_order(state, rng))
        queue.push(i);
    descend(state, queue, tally, limits);
}

/// A random cluster that shares a row with this one and is not much larger: to build a large cluster anew for
/// each small one beside it would cost more than all the rest. Nowhere if there is none.
template <CandidateState S> std::uint32_t random_partner(S& state, std::uint32_t cluster, common::Rng& rng) {
    const auto most = std::max(policy::large_cluster, policy::times_larger * state.size(cluster));
    std::vector<std::uint32_t> partners;
    for (const auto& candidate : state.merges_of(cluster))
        if (state.size(candidate.cluster) <= most)
            partners.push_back(candidate.cluster);
    return partners.empty() ? no_cluster : partners[rng.below(partners.size())];
}

/// Takes a cluster apart, alone or with one that shares a row, and allocates the items anew, one by one. Kept
/// if it helps; then `touched` gets the items. Of one or two items, moves and merges have tried everything.
template <CandidateState S>
void rebuild(S& state, std::uint32_t cluster, common::Rng& rng, Tally& tally, const Limits& limits,
             std::vector<std::uint32_t>& touched) {
    const auto value = state.value();
    std::vector<std::vector<std::uint32_t>> groups{state.members(cluster)};
    if (groups[0].size() < policy::min_rebuilt || rng.below(3) > 0)
        if (const auto partner = random_partner(state, cluster, rng); partner != no_cluster)
            groups.push_back(state.members(partner));
    std::vector<std::uint32_t> order;
    for (const auto& group : groups)
        order.insert(order.end(), group.begin(), group.end());
    if (order.size() < policy::min_rebuilt)
        return;
    reallocate(state, order, rng, tally, limits);
    if (state.value() < value - state.rounding())
        touched.insert(touched.end(), order.begin(), order.end());
    else
        restore(state, groups);
}

/// Rebuilds the clusters of the items once each, in this order. Returns the items that this has changed.
template <CandidateState S>
std::vector<std::uint32_t> rebuild_each(S& state, std::span<const std::uint32_t> items, common::Rng& rng,
                                        Tally& tally, const Limits& limits) {
    std::vector<std::uint32_t> touched;
    std::vector<bool> is_done(state.labels().size());
    for (std::size_t visited = 0; visited < items.size(); ++visited) {
        if (visited % poll_every == 0 && limits.reached())
            break;
        if (is_done[items[visited]])
            continue;
        const auto cluster = state.cluster_of(items[visited]);
        for (const auto j : state.members(cluster))
            is_done[j] = true;
        rebuild(state, cluster, rng, tally, limits, touched);
    }
    return touched;
}

/// Descends, then rebuilds every cluster once in random order; those that a rebuilding has changed again,
/// until none has.
template <CandidateState S>
void improve(S& state, Patience patience, std::uint32_t, common::Rng& rng, Tally& tally,
             const Limits& limits) {
    descend(state, rng, tally, limits);
    auto items = patience.attempts > 0 ? cluster_order(state, rng) : std::vector<std::uint32_t>{};
    WorkQueue queue(state.labels().size());
    for (MonotoneGuard value;
         !items.empty() && !limits.reached() && value.falls(state.exact_value(), state.rounding());) {
        items = rebuild_each(state, items, rng, tally, limits);
        for (const auto i : items)
            add_surroundings(state, state.cluster_of(i), queue);
        if (!items.empty())
            descend(state, queue, tally, limits);
    }
    state.refresh();
}

} // namespace partita::search
