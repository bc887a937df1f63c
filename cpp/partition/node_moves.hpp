// Downhill by moves of nodes to clusters near them: single nodes, whole clusters as nodes, and clusters taken
// apart and built anew. A node is a set of items that move together.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/random.hpp"
#include "partition/journal.hpp"
#include "partition/lists.hpp"
#include "partition/meet.hpp"
#include "partition/moves.hpp"
#include "partition/queue.hpp"
#include "partition/rounding.hpp"

namespace partita::search {

/// A partition of nodes, each of which knows the clusters near it.
template <class S>
concept NodeState = requires(S& state, const S& seen, std::uint32_t node) {
    { seen.n_nodes() } -> std::same_as<std::uint32_t>;
    { seen.cluster_of(node) } -> std::same_as<std::uint32_t>;
    // to its best cluster if that is a strict gain, so that searches end: the change, or 0
    { state.improve(node) } -> std::same_as<double>;
    // after a move: nodes that may want to follow this one, or to leave where it was
    seen.each_follower(node, [](std::uint32_t) {});
};

/// One whose clusters can be taken apart. They keep their numbers while nodes move.
template <class S>
concept RebuiltState = NodeState<S> && requires(S& state, const S& seen, std::uint32_t at, common::Rng& rng) {
    { seen.members(/*cluster=*/at) } -> std::same_as<const std::vector<std::uint32_t>&>;
    { seen.near_cluster(/*cluster=*/at, rng) } -> std::same_as<std::uint32_t>; // perhaps itself
    { state.take_out(/*node=*/at) } -> std::same_as<double>; // alone in a cluster then: the change
    state.move(/*node=*/at, /*cluster=*/at);
};

/// A problem whose states have the nodes that are asked for.
template <class P>
concept NodeProblem =
    requires(const P& problem, const Lists& nodes, const std::vector<std::uint32_t>& labels) {
        { problem.nodes() } -> std::same_as<const Lists&>; // the smallest: items that are always together
        { problem.state(nodes, labels).labels() } -> std::same_as<const std::vector<std::uint32_t>&>;
        requires RebuiltState<decltype(problem.state(nodes, labels))>;
    };

/// Nodes of the queue go to their best clusters, and then those that may gain by that, until none does or
/// `rounds` times as many have been looked at as there are nodes.
template <NodeState S>
void move_queued(S& state, WorkQueue& queue, Journal& journal, const Limits& limits,
                 std::uint64_t rounds = std::numeric_limits<std::uint64_t>::max()) {
    drain(
        queue, state.n_nodes(), limits, [&](std::uint64_t done) { return done < rounds; },
        [&](std::uint32_t node) {
            const auto own = state.cluster_of(node);
            const auto change = state.improve(node);
            if (!(change < 0))
                return;
            journal.add(node, own, change);
            state.each_follower(node, [&](std::uint32_t other) { queue.push(other); });
        });
}

/// The same of all nodes, in random order; returns whether any moved.
template <NodeState S>
bool move_all(S& state, common::Rng& rng, const Limits& limits,
              std::uint64_t rounds = std::numeric_limits<std::uint64_t>::max()) {
    WorkQueue queue(state.n_nodes());
    for (const auto node : rng.permutation(state.n_nodes()))
        queue.push(node);
    Journal journal;
    move_queued(state, queue, journal, limits, rounds);
    return journal.change() < 0;
}

template <NodeProblem P>
bool move_all(const P& problem, const Lists& nodes, std::vector<std::uint32_t>& labels, common::Rng& rng,
              const Limits& limits) {
    auto state = problem.state(nodes, labels);
    const bool moved = move_all(state, rng, limits);
    labels = state.labels();
    return moved;
}

/// Single nodes and whole clusters move in turn until neither gains.
template <NodeProblem P>
void descend(const P& problem, std::vector<std::uint32_t>& labels, common::Rng& rng, const Limits& limits) {
    bool gained = true;
    while (gained && !limits.reached()) {
        move_all(problem, problem.nodes(), labels, rng, limits);
        gained = move_all(problem, grouped(labels), labels, rng, limits);
    }
}

/// Takes a cluster, or it and one near it, apart and allocates its nodes anew; kept if that gains, else
/// undone.
template <RebuiltState S>
bool rebuild(S& state, std::uint32_t cluster, WorkQueue& queue, common::Rng& rng, const Limits& limits) {
    auto nodes = state.members(cluster);
    if (const auto other = state.near_cluster(cluster, rng); other != cluster && rng.below(3) > 0)
        nodes.insert(nodes.end(), state.members(other).begin(), state.members(other).end());
    rng.shuffle(std::span(nodes));
    Journal journal;
    for (const auto node : nodes) { // in this order, so that the way back is the way they came
        const auto own = state.cluster_of(node);
        journal.add(node, own, state.take_out(node));
    }
    for (const auto node : nodes)
        queue.push(node);
    move_queued(state, queue, journal, limits);
    queue.take_all();
    if (journal.change() < -min_gain)
        return true;
    journal.undo(state);
    return false;
}

/// Rebuilds every cluster once, in random order; returns whether that gained.
template <NodeProblem P>
bool rebuild_all(const P& problem, std::vector<std::uint32_t>& labels, common::Rng& rng,
                 const Limits& limits) {
    auto state = problem.state(problem.nodes(), labels);
    WorkQueue queue(state.n_nodes());
    bool any = false;
    for (const auto cluster : rng.permutation(state.n_nodes())) {
        if (limits.reached())
            break;
        if (!state.members(cluster).empty())
            any |= rebuild(state, cluster, queue, rng, limits);
    }
    labels = state.labels();
    return any;
}

/// Descends and rebuilds until neither gains, or `rounds` times.
template <NodeProblem P>
void improve(const P& problem, std::vector<std::uint32_t>& labels, std::size_t rounds, common::Rng& rng,
             const Limits& limits) {
    descend(problem, labels, rng, limits);
    for (std::size_t round = 0; round < rounds && !limits.reached(); ++round) {
        if (!rebuild_all(problem, labels, rng, limits))
            return;
        descend(problem, labels, rng, limits);
    }
}

/// Where two partitions agree, items stay together; what they do not agree on is decided anew, from the
/// first.
template <NodeProblem P>
void cross(const P& problem, std::vector<std::uint32_t>& labels, std::span<const std::uint32_t> other,
           common::Rng& rng, const Limits& limits) {
    move_all(problem, grouped(meet(labels, other)), labels, rng, limits);
    improve(problem, labels, 1, rng, limits);
}

} // namespace partita::search
