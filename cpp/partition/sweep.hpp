// One sweep over the items of a partition whose log density is known: each item is scored at every place, and
// goes to the best one (search) or to one drawn by its probability (sampling, annealing).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/parallel.hpp"
#include "common/random.hpp"
#include "common/variates.hpp"
#include "common/watched_stop.hpp"
#include "partition/rounding.hpp"

namespace partita::models {

/// The log density with an item at each place, up to a constant of the item; places are clusters or stand for
/// a new one. What the caller does not need any more it may overwrite.
struct PlaceScores {
    std::span<double> scores;
    std::size_t own; // the place where the item is
};

/// A partition that scores one item at a time. After `score(i)` comes `put(i, place)`, and nothing between
/// them: a state may have taken the item out.
template <class S>
concept SweptState = requires(S& state, std::size_t i) {
    { state.score(i) } -> std::same_as<PlaceScores>;
    state.put(i, /*place=*/i);
};

/// The best place; the item's own unless another is better by more than rounding.
inline std::size_t best_place(const PlaceScores& item) {
    const auto& scores = item.scores;
    const auto best =
        static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    return scores[best] > scores[item.own] + min_gain ? best : item.own;
}

/// Moves each of the items to its best place, in their order, as `score(i)` has it; `moved(i)` is called
/// after each move. Returns how many moved.
template <SweptState S, class Score, class Moved>
std::size_t sweep(S& state, std::span<const std::uint32_t> items, const common::StopFlag& stop, Score score,
                  Moved moved) {
    std::size_t moves = 0;
    for (const auto i : items) {
        if (stop)
            break;
        const PlaceScores scored = score(i);
        const auto to = best_place(scored);
        state.put(i, to);
        if (to == scored.own)
            continue;
        moved(i);
        ++moves;
    }
    return moves;
}

template <SweptState S>
std::size_t sweep(S& state, std::span<const std::uint32_t> items, const common::StopFlag& stop) {
    return sweep(state, items, stop, [&](std::size_t i) { return state.score(i); }, [](std::uint32_t) {});
}

/// A Gibbs sweep of the density to the power 1 / heat over items 0, 1, ...; a watched stop ends it in the
/// middle.
template <SweptState S> void gibbs_sweep(S& state, std::size_t n_items, common::Rng& rng, double heat = 1.0) {
    const auto& stop = common::WatchedStop::flag();
    for (std::size_t i = 0; i < n_items; ++i) {
        common::end_if_stopped(stop);
        const auto scores = state.score(i).scores;
        state.put(i, common::draw_from_logs(rng, scores, heat));
    }
}

} // namespace partita::models
