// Ascent of a log density from one partition, whatever the model: sweeps over items, merges and splits of
// clusters in turns, and simulated annealing.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/parallel.hpp"
#include "common/random.hpp"
#include "partition/large_moves.hpp"
#include "partition/merges.hpp"
#include "partition/policy.hpp"
#include "partition/queue.hpp"
#include "partition/solution.hpp"
#include "partition/sweep.hpp"

namespace partita::models {

/// A partition that a climb can improve: it scores moves of items, merges and splits.
template <class S>
concept ClimbState = SweptState<S> && requires(S& state, const S& seen, std::size_t cluster, common::Rng& rng,
                                               const decltype(std::declval<const S&>().merges())& merges) {
    { seen.n_items() } -> std::same_as<std::size_t>;
    state.tidy(); // after a sweep: empty places vanish, what was summed step by step is computed anew
    { seen.max_clusters() } -> std::same_as<const std::size_t*>; // of each side
    requires MergeState<std::remove_cvref_t<decltype(merges)>>;
    state.apply(merges);
    // clusters that may be cut in two, some of them perhaps empty; then split(cluster), if one more is
    // allowed
    { state.clusters_to_split() } -> std::same_as<std::vector<std::uint32_t>>;
    { seen.may_split(cluster) } -> std::same_as<bool>;
    { state.split(cluster, rng) } -> std::same_as<bool>;
    { state.solution() } -> std::same_as<Solution>;
};

/// A state that knows the items beside an item, whose best places a move of it may change; among many
/// clusters it may score only those near an item.
template <class S>
concept NeighbourState = ClimbState<S> && requires(S& state, std::size_t i) {
    state.find_near_clusters(); // before a sweep
    { state.score_near(i) } -> std::same_as<PlaceScores>;
    state.each_neighbour_elsewhere(i, [](std::uint32_t) {});
};

template <ClimbState S> class Climber {
public:
    Climber(S state, common::Rng& rng, const common::StopFlag& stop)
        : state_(std::move(state)), rng_(rng), stop_(stop) {}

    /// Complete sweeps, merges and splits in turns, until none of them helps.
    Solution climb_by_complete_sweeps() {
        return in_turns([&] { sweep_until_stable(few()); });
    }

    /// The same with sweeps that follow the moves and score only near clusters, if the state has neighbours.
    /// `merge_first`: the start has too many clusters on purpose.
    Solution climb(bool merge_first) {
        if (merge_first)
            merge();
        return in_turns([&] {
            if constexpr (NeighbourState<S>)
                follow_until_stable(few());
            else
                sweep_until_stable(few());
        });
    }

    /// The solution that a search returns: no partition on its path of merges is higher, and unless it has
    /// very many items, no move of one item to any place helps.
    Solution finish(bool completely) {
        for (;;) {
            if (completely)
                sweep_until_stable(0);
            if (!merge_along_path())
                return state_.solution();
            climb(false);
        }
    }

    /// Algorithm 1 of Côme & Latouche as printed: sweeps in random order, each item to the cluster of the
    /// largest gain, never to a new one, until a sweep moves none; then the merges of their Section 3.3.
    Solution as_printed()
        requires requires(S& state) { state.forbid_new_clusters(); }
    {
        for (std::size_t moves = 1; moves > 0 && !stop_;) {
            state_.forbid_new_clusters();
            const auto order = rng_.permutation(state_.n_items());
            moves = sweep(
                state_, order, stop_, [&](std::size_t i) { return state_.score(i); },
                [&](std::uint32_t) { state_.forbid_new_clusters(); });
            state_.tidy();
        }
        merge();
        return state_.solution();
    }

    /// Simulated annealing with geometric cooling, one sweep at each heat from `hot` towards `cold`; then a
    /// climb.
    Solution anneal(double hot, double cold, std::size_t sweeps) {
        for (std::size_t at = 0; at < sweeps && !stop_; ++at) {
            const auto progress = static_cast<double>(at) / static_cast<double>(sweeps);
            gibbs_sweep(state_, state_.n_items(), rng_, hot * std::pow(cold / hot, progress));
            state_.tidy();
        }
        return climb(false);
    }

    /// New arrangements of up to `most` clusters at a time, until `patience` attempts per cluster in a row
    /// find nothing better; then a climb.
    Solution rearrange(std::size_t patience, double heat, std::size_t most)
        requires RegionState<S>
    {
        rearrange_clusters(state_, patience * state_.n_clusters(), heat, most, rng_, stop_);
        return climb(false);
    }

private:
    /// So few moves end the sweeps of a round: of very many items the last ones are left to the next round.
    std::size_t few() const { return state_.n_items() / policy::items_per_last_move; }

    template <class Stabilise> Solution in_turns(Stabilise stabilise) {
        for (std::size_t round = 0; round < policy::max_rounds && !stop_; ++round) {
            stabilise();
            const bool merged = merge(), split = split_clusters();
            if (!merged && !split)
                break;
        }
        return state_.solution();
    }

    void sweep_until_stable(std::size_t few_moves) {
        for (std::size_t round = 0; round < policy::max_sweeps && !stop_; ++round) {
            const auto moves = sweep(state_, rng_.permutation(state_.n_items()), stop_);
            state_.tidy();
            if (moves <= few_moves)
                break;
        }
    }

    /// After each sweep, the items beside those that moved are visited again, and those beside them, so that
    /// few sweeps are complete ones.
    void follow_until_stable(std::size_t few_moves)
        requires NeighbourState<S>
    {
        for (std::size_t round = 0; round < policy::max_sweeps && !stop_; ++round) {
            state_.find_near_clusters();
            const auto moves = sweep_and_follow(rng_.permutation(state_.n_items()));
            state_.tidy();
            if (moves <= few_moves)
                break;
        }
    }

    /// The moves of a complete sweep; those that follow from it are not counted.
    std::size_t sweep_and_follow(std::vector<std::uint32_t> items) {
        WorkQueue queue(state_.n_items());
        std::size_t moves = 0;
        for (std::size_t round = 0; round < policy::max_follows && !items.empty() && !stop_; ++round) {
            const auto moved = sweep(
                state_, items, stop_, [&](std::size_t i) { return state_.score_near(i); },
                [&](std::uint32_t i) {
                    state_.each_neighbour_elsewhere(i, [&](std::uint32_t other) { queue.push(other); });
                });
            moves += round == 0 ? moved : 0;
            items = queue.take_all();
        }
        return moves;
    }

    bool merge() {
        auto merges = state_.merges();
        const bool merged = merge_clusters(merges, state_.max_clusters(), stop_);
        if (merged)
            state_.apply(merges);
        return merged;
    }

    /// The first merges of the path down to one cluster, as many as lead to its highest point; whether that
    /// is above where the path begins.
    bool merge_along_path() {
        const auto path = merge_path(state_.merges(), stop_);
        double sum = 0, highest = min_gain;
        std::size_t steps = 0;
        for (std::size_t at = 0; at < path.size(); ++at)
            if ((sum += path[at].change) > highest) {
                highest = sum;
                steps = at + 1;
            }
        if (steps == 0 || stop_)
            return false;
        auto merges = state_.merges();
        for (std::size_t at = 0; at < steps; ++at)
            merges.merge(path[at]);
        state_.apply(merges);
        return true;
    }

    /// Tries to cut each cluster in two; keeps what raises the density.
    bool split_clusters() {
        bool improved = false;
        for (const auto cluster : state_.clusters_to_split())
            if (!stop_ && state_.may_split(cluster))
                improved |= state_.split(cluster, rng_);
        return improved;
    }

    S state_;
    common::Rng& rng_;
    const common::StopFlag& stop_;
};

} // namespace partita::models
