// Moves of whole clusters that raise a log density: one cut in two, a few taken apart and arranged anew.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/parallel.hpp"
#include "common/random.hpp"
#include "partition/policy.hpp"
#include "partition/sweep.hpp"

namespace partita::models {

/// A partition of which some clusters can be taken apart: items are scored among some clusters only.
template <class S>
concept RegionState = SweptState<S> && requires(S& state, const S& seen, std::size_t i, std::uint32_t cluster,
                                                common::Rng& rng, const std::vector<std::uint32_t>& clusters,
                                                std::span<const std::uint32_t> labels) {
    { seen.log_density() } -> std::same_as<double>;
    { seen.labels() } -> std::same_as<std::span<const std::uint32_t>>;
    state.set_labels(labels);
    { seen.members_of(clusters) } -> std::same_as<std::vector<std::uint32_t>>;
    { seen.cluster_of(i) } -> std::same_as<std::uint32_t>;
    { seen.is_alone(i) } -> std::same_as<bool>;
    state.move(i, cluster);
    { state.score_among(i, labels) } -> std::same_as<PlaceScores>; // places are those of the list
    state.move_scored(i, cluster);                                 // the item that was scored last
    { state.score_near(i) } -> std::same_as<PlaceScores>;
    // a copy to go back to: cheaper than moving the items back
    state.restore(seen.snapshot());
    state.make_room(); // for more clusters
    state.find_near_clusters();
    { state.random_side(rng) } -> std::same_as<std::size_t>;
    { seen.clusters(/*side=*/i) } -> std::same_as<std::vector<std::uint32_t>>;
    // clusters that would have the item, the best first, its own before them
    { state.competitors(i, /*wanted=*/i) } -> std::same_as<std::vector<std::uint32_t>>;
    { seen.may_open(/*side=*/i) } -> std::same_as<bool>;
    { seen.empty_cluster(/*side=*/i) } -> std::same_as<std::uint32_t>;
};

/// Sweeps of some items with some clusters to choose from, until none moves; no cluster is emptied.
template <RegionState S>
void sweep_region(S& state, std::span<const std::uint32_t> items, std::span<const std::uint32_t> clusters) {
    for (std::size_t round = 0, moves = 1; round < policy::region_sweeps && moves > 0; ++round) {
        moves = 0;
        for (const auto i : items)
            if (!state.is_alone(i)) {
                const auto scored = state.score_among(i, clusters);
                const auto to = best_place(scored);
                if (to != scored.own)
                    state.move_scored(i, clusters[to]), ++moves;
            }
    }
}

/// Cuts a cluster in two by chance, then sweeps between the halves; undone unless the density rises. Of a
/// large cluster only some items are cut off: later sweeps take the others along.
template <RegionState S>
bool split_by_sweeps(S& state, std::uint32_t cluster, std::uint32_t empty, common::Rng& rng) {
    auto members = state.members_of({cluster});
    const double before = state.log_density();
    rng.shuffle(std::span(members));
    members.resize(std::min(members.size(), policy::max_region));
    for (std::size_t at = 0; at < members.size() / 2; ++at)
        state.move(members[at], empty);
    const std::uint32_t both[2] = {cluster, empty};
    sweep_region(state, members, both);
    if (state.log_density() > before + min_gain)
        return true;
    for (const auto i : members)
        if (state.cluster_of(i) != cluster)
            state.move(i, cluster);
    return false;
}

/// Where the items of these clusters may go: to as many clusters, one more or one less, but never to a single
/// one as it is. None if there is no room.
template <RegionState S>
std::vector<std::uint32_t> new_places(const S& state, std::size_t side,
                                      const std::vector<std::uint32_t>& clusters, common::Rng& rng) {
    auto places = clusters;
    const auto choice = rng.below(3);
    if (clusters.size() == 1 || choice == 2) {
        if (!state.may_open(side))
            return {};
        places.push_back(state.empty_cluster(side));
    } else if (choice == 1) {
        places.pop_back();
    }
    return places;
}

/// Takes up to `most` clusters apart that compete for the same items and allocates these anew; false if
/// nothing was tried.
template <RegionState S>
bool rearrange_once(S& state, std::size_t most, common::Rng& rng, const common::StopFlag& stop) {
    const auto side = state.random_side(rng);
    const auto all = state.clusters(side);
    const auto first = state.members_of({all[rng.below(all.size())]});
    const auto item = first[rng.below(first.size())];
    const auto clusters = state.competitors(item, 1 + rng.below(most));
    const auto places = new_places(state, side, clusters, rng);
    auto members = state.members_of(clusters);
    if (members.size() > policy::max_region || places.empty())
        return false;
    rng.shuffle(std::span(members));
    for (const auto i : members)
        if (const auto to = places[rng.below(places.size())]; to != state.cluster_of(i))
            state.move(i, to);
    sweep_region(state, members, places);
    for (std::size_t round = 0; round < policy::boundary_sweeps; ++round)
        if (sweep(
                state, members, stop, [&](std::size_t i) { return state.score_near(i); },
                [](std::uint32_t) {}) == 0)
            break;
    return true;
}

/// Arranges clusters anew until `patience` attempts in a row find nothing better than the best, which is the
/// partition that stays. With heat, an attempt that lowers the density by d is kept with probability
/// exp(-d / heat).
template <RegionState S>
void rearrange_clusters(S& state, std::size_t patience, double heat, std::size_t most, common::Rng& rng,
                        const common::StopFlag& stop) {
    state.make_room();
    state.find_near_clusters();
    auto kept = state.snapshot();
    double now = state.log_density(), greatest = now;
    std::vector<std::uint32_t> best(state.labels().begin(), state.labels().end());
    for (std::size_t idle = 0; idle < patience && !stop; ++idle) {
        if (!rearrange_once(state, most, rng, stop))
            continue;
        const double density = state.log_density();
        if (!(density > now + (heat > 0.0 ? heat * std::log(rng.uniform()) : min_gain))) {
            state.restore(kept);
            continue;
        }
        kept = state.snapshot();
        now = density;
        if (now > greatest + min_gain) {
            greatest = now;
            best.assign(state.labels().begin(), state.labels().end());
            idle = 0;
        }
    }
    state.set_labels(best);
}

} // namespace partita::models
