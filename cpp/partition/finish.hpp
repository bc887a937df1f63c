// What a search does with the runs of its last level: crossings, large neighbourhoods where runs disagree,
// chains of moves, exchanges.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "partition/level.hpp"
#include "partition/policy.hpp"

namespace partita::search {

/// Crosses the runs of one level; children join them.
template <SearchState S> void cross(Level<S>& level, std::vector<Run>& runs, const Runner& runner) {
    cross(std::span(&level, 1), std::span(&runs, 1), runner);
}

/// Runs tasks on the best run; what is better joins the runs.
template <class Tasks> void improve_best(std::vector<Run>& runs, const Runner& runner, Tasks tasks) {
    const auto& best = *distinct_best_first(runs).front();
    auto improved = runner.run(tasks(best));
    if (!improved.empty() && improved.front().loss < best.loss)
        runs.push_back(std::move(improved.front()));
}

inline bool is_among(const Run& run, const std::vector<Run>& others) {
    return std::any_of(others.begin(), others.end(), [&](const Run& x) { return x.labels == run.labels; });
}

/// `most` distinct partitions from the given rank on, best first, and from the best on after the last.
inline std::vector<Run> next_best(const std::vector<Run>& runs, std::size_t rank, std::size_t most) {
    const auto distinct = distinct_best_first(runs);
    std::vector<Run> next;
    for (; next.size() < std::min(most, distinct.size()); ++rank)
        next.push_back(*distinct[rank % distinct.size()]);
    return next;
}

/// Whether so few of the runs have led to the best loss that more is tried: this many, or this part of all.
inline bool runs_disagree(const std::vector<Run>& runs, double part) {
    const auto& best = *distinct_best_first(runs).front();
    const auto at_best = count_at(best.loss, best.rounding, runs);
    return at_best < runs.size() && (at_best <= policy::few_at_best ||
                                     static_cast<double>(at_best) <= part * static_cast<double>(runs.size()));
}

/// Moves of many items on the best partitions, and crossings of what they lead to. A round that has lowered
/// the best loss begins with the best partitions again, another goes on with those that follow, until so many
/// were in vain or one of the other partitions has led to the best loss as well.
template <SearchState S, class RandomDraw>
void intensify(Level<S>& level, std::vector<Run>& runs, const Runner& runner, RandomDraw random_draw) {
    const auto n_tasks = policy::intensified, fruitless_rounds = policy::fruitless_rounds;
    auto best = *distinct_best_first(runs).front();
    for (std::size_t fruitless = 0; fruitless < fruitless_rounds && !runner.limits().reached();) {
        const auto from = next_best(runs, fruitless * n_tasks, n_tasks);
        auto found = runner.run(level.intensifications(from, n_tasks, random_draw));
        std::erase_if(found, [&](const Run& run) { return is_among(run, from); });
        const bool agrees = count_at(best.loss, best.rounding, found) > 0;
        std::move(found.begin(), found.end(), std::back_inserter(runs));
        cross(level, runs, runner);
        const auto& least = *distinct_best_first(runs).front();
        const bool falls = least.loss < best.loss - best.rounding;
        if (!falls && agrees)
            return;
        fruitless = falls ? 0 : fruitless + 1;
        best = least;
    }
}

/// What is done with the runs on all draws: crossings, more where the runs disagree and the problem is small
/// enough to intensify, and chains of moves. `is_chained`: a single partition has had these.
template <SearchState S, class Intensify>
void finish(Level<S>& level, std::vector<Run>& runs, const Runner& runner, bool may_intensify,
            Intensify intensify, bool is_chained = false, double part = policy::part_at_best) {
    const bool intensifies = may_intensify && runs_disagree(runs, part);
    cross(level, runs, runner);
    if (intensifies)
        intensify(level, runs);
    if (!is_chained)
        improve_best(runs, runner, [&](const Run& best) { return level.chains(best); });
    if (intensifies)
        improve_best(runs, runner, [&](const Run& best) { return level.exchanges(best); });
}

} // namespace partita::search
