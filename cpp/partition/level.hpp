// One level of the default search: a fixed set of draws, and the tasks that are done on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "partition/chains.hpp"
#include "partition/exchanges.hpp"
#include "partition/improve.hpp"
#include "partition/large_neighbourhoods.hpp"
#include "partition/runner.hpp"

namespace partita::search {

/// The best of this many draws becomes a start.
template <class S> inline const std::size_t draws_per_start = policy::draws_per_start;

/// The places of two runs that are crossed.
using Parents = std::pair<std::size_t, std::size_t>;

/// Every task has a random stream of its own: what it finds depends neither on threads nor on other tasks.
template <SearchState S> class Level {
public:
    Level(const typename S::Setting& setting, const Runner& runner, std::uint64_t stream = 0)
        : setting_(setting), options_(runner.options()), limits_(runner.limits()), stream_(stream) {}

    /// Starts of all kinds, each improved, by improvement(state, rng, tally, limits) in the end.
    template <class RandomDraw, class Improvement>
    std::vector<Task> starts(std::size_t n_runs, std::size_t first_kind, RandomDraw random_draw,
                             Improvement improvement) {
        return tasks(n_runs, [this, first_kind, random_draw, improvement](std::size_t index, Run& run,
                                                                          S& state, common::Rng& rng) {
            begin(first_kind + index, run, state, rng, random_draw);
            complete(state, options_.max_clusters, rng, limits_);
            improve(state, Patience{options_.zealous}, options_.max_clusters, rng, run.tally, limits_);
            improvement(state, rng, run.tally, limits_);
        });
    }
    template <class RandomDraw>
    std::vector<Task> starts(std::size_t n_runs, std::size_t first_kind, RandomDraw random_draw) {
        return starts(n_runs, first_kind, random_draw, [](S&, common::Rng&, Tally&, const Limits&) {});
    }

    /// Partitions that were given, each improved as a start is. They must stay as they are until the tasks
    /// are done.
    template <class Improvement>
    std::vector<Task> improvements(const std::vector<Run>& given, Improvement improvement) {
        return tasks(given.size(), [this, &given, improvement](std::size_t index, Run& run, S& state,
                                                               common::Rng& rng) {
            run = given[index];
            state.assign(run.labels);
            complete(state, options_.max_clusters, rng, limits_);
            improve(state, Patience{options_.zealous}, options_.max_clusters, rng, run.tally, limits_);
            improvement(state, rng, run.tally, limits_);
        });
    }

    /// Runs of a coarser level, refined: near an optimum already, so that single moves and merges suffice,
    /// and chains of moves if these are wanted at once. Items that have no cluster yet get one. The runs must
    /// stay as they are until the tasks are done.
    std::vector<Task> refinements(const std::vector<Run>& coarser, bool with_chains = false) {
        return tasks(coarser.size(),
                     [this, &coarser, with_chains](std::size_t index, Run& run, S& state, common::Rng& rng) {
                         run = coarser[index];
                         state.assign(run.labels);
                         complete(state, options_.max_clusters, rng, limits_);
                         // first where most moves are to be expected, so that few items are scored again
                         for (int count = 0; count < 2; ++count)
                             sweep(state, run.tally.boundary, run.tally, limits_);
                         descend(state, rng, run.tally, limits_);
                         if (with_chains)
                             follow_chains(run, state, rng);
                     });
    }

    /// Good runs, each with as many moves of many items at once as it takes. The runs must stay as they are
    /// until the tasks are done.
    template <class RandomDraw>
    std::vector<Task> intensifications(const std::vector<Run>& runs, std::size_t n_tasks,
                                       RandomDraw random_draw) {
        return tasks(n_tasks,
                     [this, &runs, random_draw](std::size_t index, Run& run, S& state, common::Rng& rng) {
                         run = runs[index % runs.size()];
                         state.assign(run.labels);
                         intensify(state, policy::intensifying_attempts, options_.max_clusters, random_draw,
                                   rng, run.tally, limits_);
                     });
    }

    /// The best runs, crossed two by two. The runs must stay as they are until the tasks are done.
    std::vector<Task> crossings(const std::vector<Run>& runs) {
        const auto distinct = distinct_best_first(runs);
        const auto pairs = best_pairs(distinct.size());
        return tasks(pairs.size(),
                     [this, distinct, pairs](std::size_t index, Run& run, S& state, common::Rng& rng) {
                         const auto [x, y] = pairs[index];
                         cross(*distinct[x], *distinct[y], run, state, rng);
                     });
    }

    /// Crossings of these pairs of runs, improved in the same way. Both must stay as they are until the tasks
    /// are done.
    template <class Improvement>
    std::vector<Task> children(const std::vector<Run>& runs, const std::vector<Parents>& parents,
                               Improvement improvement) {
        return tasks(parents.size(), [this, &runs, &parents, improvement](std::size_t index, Run& run,
                                                                          S& state, common::Rng& rng) {
            const auto [x, y] = parents[index];
            cross(runs[x], runs[y], run, state, rng);
            improvement(state, rng, run.tally, limits_);
        });
    }

    /// Chains of moves on a run for which single moves, merges and crossings are used up.
    std::vector<Task> chains(const Run& best) {
        return tasks(1, [this, &best](std::size_t, Run& run, S& state, common::Rng& rng) {
            run = best;
            state.assign(run.labels);
            follow_chains(run, state, rng);
        });
    }

    /// Exchanges of small clusters for single items on a run that has as many clusters as are allowed.
    std::vector<Task> exchanges(const Run& best) {
        return tasks(1, [this, &best](std::size_t, Run& run, S& state, common::Rng& rng) {
            run = best;
            state.assign(run.labels);
            for (MonotoneGuard value; value.falls(state.exact_value(), state.rounding()) &&
                                      state.n_clusters() >= options_.max_clusters &&
                                      try_exchanges(state, run.tally, limits_);)
                descend(state, rng, run.tally, limits_);
        });
    }

private:
    /// Tasks that call work(index, run, state, rng) on a state of their own.
    template <class Work> std::vector<Task> tasks(std::size_t n_runs, Work work) {
        std::vector<Task> tasks;
        for (std::size_t index = 0; index < n_runs; ++index)
            tasks.push_back([this, index, stream = stream_ + index, work] {
                Run run;
                common::Rng rng(options_.seed, stream);
                S state(setting_, options_.max_clusters);
                work(index, run, state, rng);
                run.finish(state);
                return run;
            });
        stream_ += n_runs;
        return tasks;
    }

    /// Merges the blocks on which two runs agree, and descends.
    void cross(const Run& x, const Run& y, Run& run, S& state, common::Rng& rng) {
        run.start = "crossing";
        state.assign(common_blocks(x, y));
        complete(state, std::numeric_limits<std::uint32_t>::max(), rng, limits_);
        merge_best_pairs(state, limits_);
        merge_down_to(state, options_.max_clusters, limits_);
        descend(state, rng, run.tally, limits_);
    }

    /// A chain's gain is summed step by step: the value, computed anew, has to fall as well.
    void follow_chains(Run& run, S& state, common::Rng& rng) {
        for (MonotoneGuard value;
             value.falls(state.exact_value(), state.rounding()) && try_chains(state, run.tally, limits_);) {
            descend(state, rng, run.tally, limits_);
            state.refresh();
        }
    }

    template <class RandomDraw>
    void begin(std::size_t kind, Run& run, S& state, common::Rng& rng, RandomDraw random_draw) {
        if (kind % 4 == 1) {
            run.start = "sequential";
        } else if (kind % 4 == 3) {
            run.start = "random";
            state.assign(random_labels(setting_.n_items(), options_.start_groups, rng));
        } else {
            run.start = "draw";
            std::vector<std::uint32_t> best;
            double least = std::numeric_limits<double>::infinity();
            for (std::size_t count = 0; count < draws_per_start<S> && !(count > 0 && limits_.reached());
                 ++count) {
                state.assign(random_draw(rng));
                if (best.empty() || state.value() < least) {
                    least = state.value();
                    best = state.labels();
                }
            }
            state.assign(best);
        }
    }

    static std::vector<Parents> best_pairs(std::size_t n_distinct) {
        std::vector<Parents> pairs;
        const auto most = policy::max_rank_sum;
        for (std::size_t y = 1; y < std::min(n_distinct, most); ++y)
            for (std::size_t x = 0; x < y && x + y <= most; ++x)
                pairs.emplace_back(x, y);
        return pairs;
    }

    const typename S::Setting& setting_;
    const SearchOptions& options_;
    const Limits& limits_;
    std::uint64_t stream_;
};

/// The runs of a coarser level on the draws of this one. Equal partitions are refined as one; a single one
/// gets its chains of moves at once.
template <SearchState S>
std::vector<Run> refine_runs(Level<S>& level, const std::vector<Run>& coarser, const Runner& runner,
                             bool with_chains = false) {
    std::vector<Run> distinct;
    std::vector<std::size_t> places;
    for (const auto& run : coarser) {
        const auto equal = std::find_if(distinct.begin(), distinct.end(),
                                        [&](const Run& other) { return other.labels == run.labels; });
        places.push_back(static_cast<std::size_t>(equal - distinct.begin()));
        if (equal == distinct.end())
            distinct.push_back(run);
    }
    auto done = runner.run(level.refinements(distinct, with_chains && distinct.size() == 1));
    if (done.size() < distinct.size()) // there was no time for some
        return done;
    std::vector<Run> runs;
    for (std::size_t index = 0; index < coarser.size(); ++index) {
        runs.push_back(done[places[index]]);
        runs.back().start = coarser[index].start;
    }
    return runs;
}

/// Crosses the best runs of each level as long as that gives a better one there; children join the runs.
template <SearchState S>
void cross(std::span<Level<S>> levels, std::span<std::vector<Run>> runs, const Runner& runner) {
    std::vector<bool> goes_on(levels.size(), true);
    for (int round = 0; round < policy::max_crossing_rounds && !runner.limits().reached(); ++round) {
        std::vector<std::vector<Task>> tasks(levels.size());
        bool any = false;
        for (std::size_t level = 0; level < levels.size(); ++level)
            if (goes_on[level]) {
                tasks[level] = levels[level].crossings(runs[level]);
                any |= !tasks[level].empty();
            }
        if (!any)
            return;
        auto children = runner.run(tasks);
        for (std::size_t level = 0; level < levels.size(); ++level)
            goes_on[level] = !children[level].empty() && join(runs[level], std::move(children[level]));
    }
}

} // namespace partita::search
