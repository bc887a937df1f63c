// One run of a search, and many of them on threads.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "partition/first_appearance.hpp"
#include "partition/moves.hpp"

namespace partita::search {

struct Run;

/// One stage of a search: runs that do not depend on each other. `one` does the run of that number here.
struct Stage {
    std::size_t n_runs;
    std::function<Run(std::size_t)> one;
    std::function<bool()> stopped;
};

/// How a stage is done where not on threads: its runs in order, those that were not done with no labels.
using StageExecutor = std::function<std::vector<Run>(const Stage&)>;

/// How the partitions of a search are kept: cells for every cluster of every draw, lists of those that are
/// not empty, or the similarity matrix; whichever is the fastest.
enum class StateKind { where_it_pays, dense, sparse, matrix };

struct SearchOptions {
    std::uint32_t runs = 16;
    bool adapts = false; // fewer runs where the first ones agree
    double seconds = std::numeric_limits<double>::infinity();
    std::uint32_t max_clusters = 1; // and this many groups in a random start:
    std::uint32_t start_groups = 1;
    std::uint32_t zealous = 10;
    double p_sequential = 0.5;
    unsigned threads = 1;
    std::uint64_t seed = 0;
    StateKind state = StateKind::where_it_pays;
    std::vector<std::vector<std::uint32_t>> starts = {}; // for "salso" and "greedy", in place of their own
    StageExecutor executor = {};
};

using common::renumber;

/// A finished run: its partition (labels 0..K-1) and how it got there; `loss` is its expected loss.
struct Run {
    std::vector<std::uint32_t> labels;
    std::string start;
    Tally tally;
    double loss = std::numeric_limits<double>::infinity();
    std::uint32_t clusters = 0;
    double seconds = 0;
    double clusters_per_row = 1; // of the problem it ended on
    double rounding = 0;         // error of the loss in double precision, at most

    /// Takes over the partition of a state that is done.
    template <SearchState S> void finish(S& state) {
        state.refresh();
        labels = state.labels();
        renumber(labels);
        loss = state.problem().loss_of(state.value());
        rounding = state.problem().unit() * state.rounding();
        clusters = state.n_clusters();
        clusters_per_row = state.problem().clusters_per_row();
    }
};

/// The runs of a search, starts and crossings, and how many starts were made.
struct SearchResult {
    std::vector<Run> runs;
    std::size_t n_started = 0;
};

/// Runs each of which is a start.
inline SearchResult each_started(std::vector<Run> runs) {
    const auto n_started = runs.size();
    return {std::move(runs), n_started};
}

/// Called after every finished run, on the thread that ran it.
using Progress = std::function<void(const Run&)>;

/// The runs of a stage, on threads or as the options say. Those for which there was no time have no labels;
/// the first is always done.
std::vector<Run> run_stage(std::size_t n_runs, const SearchOptions& options, const Limits& limits,
                           const Progress& progress, const std::function<Run(std::size_t)>& one);

/// Calls one(options, rng, limits) for each run, each with a random stream of its own.
using OneRun = std::function<Run(const SearchOptions&, common::Rng&, const Limits&)>;
std::vector<Run> run_all(const OneRun& one, const SearchOptions& options, const common::StopFlag& stop,
                         const Progress& progress);

/// Algorithm 1 of Dahl, Johnson & Müller (2022).
template <SearchState S>
Run salso_run(const typename S::Setting& problem, const SearchOptions& options, common::Rng& rng,
              const Limits& limits);

/// Algorithm 1 of Rastelli & Friel (2018), from a random partition of up to max_clusters groups.
template <SearchState S>
Run greedy_run(const typename S::Setting& problem, const SearchOptions& options, common::Rng& rng,
               const Limits& limits);

/// Labels drawn uniformly from 0..groups-1, renumbered so that each is in use.
std::vector<std::uint32_t> random_labels(std::size_t n_items, std::uint32_t groups, common::Rng& rng);

} // namespace partita::search
