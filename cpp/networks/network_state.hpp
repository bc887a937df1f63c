// What the searches and samplers of block models need of a state.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "networks/merging_clusters.hpp"
#include "networks/node_partition.hpp"

namespace partita::models {

/// A partition of a network's nodes that knows the likelihood of its blocks.
///
/// look(node), then score() of all slots, of some or of one: log p(X | node in the slot), up to a constant
/// of the node; then perhaps move(slot). The prior of the partition belongs to the search and to the sampler.
/// Merges has change(a, b) of log p(X | z) for pairs of clusters, and merge(g, h).
template <class State>
concept NetworkState =
    std::derived_from<State, NodePartition> &&
    std::constructible_from<State, const Network&, const typename State::Emission&, bool, std::size_t,
                            std::size_t> &&
    std::constructible_from<typename State::Merges, const State&, const MergingClusters&> &&
    requires(State state, const State fixed, std::size_t slot, std::span<const std::uint32_t> labels,
             typename State::Merges merges) {
        state.assign(labels, slot, slot);
        state.set_used(slot, slot);
        state.swap_slots(slot, slot);
        state.compact(slot);
        { state.score() } -> std::same_as<std::span<const double>>;
        { state.score(labels) } -> std::same_as<std::span<const double>>;
        { fixed.score(slot) } -> std::same_as<double>;
        state.move(slot);
        { fixed.log_likelihood() } -> std::same_as<double>;
        state.rebuild_gains();
        { merges.change(slot, slot) } -> std::same_as<double>;
        merges.merge(slot, slot);
    };

} // namespace partita::models
