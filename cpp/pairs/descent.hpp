// Downhill on one component: single nodes, whole clusters, and clusters taken apart and built anew.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/random.hpp"
#include "pairs/state.hpp"
#include "partition/moves.hpp"
#include "partition/queue.hpp"

namespace partita::pairs {

using Labels = std::vector<std::uint32_t>;

/// Moves, in the order they were made, and what they changed in all.
struct Journal {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> moves; // node and the cluster that it left
    double change = 0;
};

/// The nodes around a node that are elsewhere may want to follow it, or to leave where it was.
template <class S> void push_neighbours(const S& state, std::uint32_t node, WorkQueue& queue) {
    for (const auto i : state.items(node))
        for (const auto j : state.neighbours(i))
            if (state.labels()[j] != state.labels()[i])
                queue.push(state.node_of(j));
}

/// Nodes of the queue go to their best clusters until none of them gains. Every move is a strict gain.
template <class S>
void move_queued(S& state, WorkQueue& queue, Journal& journal, const search::Limits& limits) {
    for (std::uint32_t looked = 0; !queue.empty(); ++looked) {
        if (looked % search::poll_every == 0 && limits.reached())
            return;
        const auto node = queue.pop();
        const auto own = state.cluster_of(node);
        if (const auto change = state.improve(node); change < 0) {
            journal.moves.emplace_back(node, own);
            journal.change += change;
            push_neighbours(state, node, queue);
        }
    }
}

/// Nodes of a level all move until none gains; returns whether any did. Labels are those of the items.
template <class Objective>
bool move_level(const Local& local, const Objective& objective, const Lists& nodes, Labels& labels,
                common::Rng& rng, const search::Limits& limits) {
    State<Objective> state(local, objective, nodes, labels);
    WorkQueue queue(nodes.size());
    for (const auto node : rng.permutation(nodes.size()))
        queue.push(node);
    Journal journal;
    move_queued(state, queue, journal, limits);
    labels = state.labels();
    return journal.change < 0;
}

/// Single nodes and whole clusters move in turn until neither gains.
template <class Objective>
void descend(const Local& local, const Objective& objective, Labels& labels, common::Rng& rng,
             const search::Limits& limits) {
    bool gained = true;
    while (gained && !limits.reached()) {
        move_level(local, objective, local.atoms, labels, rng, limits);
        gained = move_level(local, objective, grouped(labels), labels, rng, limits);
    }
}

/// A cluster that has a pair with the given one, or the given one itself.
template <class S> std::uint32_t near_cluster(const S& state, std::uint32_t cluster, common::Rng& rng) {
    const auto& nodes = state.members(cluster);
    const auto items = state.items(nodes[rng.below(nodes.size())]);
    const auto near = state.neighbours(items[rng.below(items.size())]);
    return near.empty() ? cluster : state.labels()[near[rng.below(near.size())]];
}

/// Takes a cluster, or it and one near it, apart and allocates its nodes anew; kept if that gains, else
/// undone.
template <class S>
bool rebuild(S& state, std::uint32_t cluster, WorkQueue& queue, common::Rng& rng,
             const search::Limits& limits) {
    auto nodes = state.members(cluster);
    if (const auto other = near_cluster(state, cluster, rng); other != cluster && rng.below(3) > 0)
        nodes.insert(nodes.end(), state.members(other).begin(), state.members(other).end());
    rng.shuffle(std::span(nodes));
    Journal journal;
    for (const auto node : nodes) { // alone, last first, so that the way back is the way they came
        const auto own = state.cluster_of(node);
        state.detach(node);
        state.look(node);
        journal.change -= state.change(own);
        journal.moves.emplace_back(node, own);
        state.attach(node, state.empty_cluster());
    }
    for (const auto node : nodes)
        queue.push(node);
    move_queued(state, queue, journal, limits);
    queue.take_all();
    if (journal.change < -min_gain)
        return true;
    for (; !journal.moves.empty(); journal.moves.pop_back()) {
        state.detach(journal.moves.back().first);
        state.attach(journal.moves.back().first, journal.moves.back().second);
    }
    return false;
}

/// Rebuilds every cluster once, in random order; returns whether that gained.
template <class Objective>
bool rebuild_all(const Local& local, const Objective& objective, Labels& labels, common::Rng& rng,
                 const search::Limits& limits) {
    State<Objective> state(local, objective, local.atoms, labels);
    WorkQueue queue(local.atoms.size());
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
template <class Objective>
void improve(const Local& local, const Objective& objective, Labels& labels, std::size_t rounds,
             common::Rng& rng, const search::Limits& limits) {
    descend(local, objective, labels, rng, limits);
    for (std::size_t round = 0; round < rounds && !limits.reached(); ++round) {
        if (!rebuild_all(local, objective, labels, rng, limits))
            return;
        descend(local, objective, labels, rng, limits);
    }
}

} // namespace partita::pairs
