// Does the runs of a search, stage by stage: those of one stage do not depend on each other.
#pragma once

#include <functional>
#include <vector>

#include "partition/run.hpp"

namespace partita::search {

/// One run, to be done on any thread or machine.
using Task = std::function<Run()>;

/// Where the tasks of a search are done, and until when.
class Runner {
public:
    Runner(const SearchOptions& options, const Limits& limits, const Progress& progress)
        : options_(options), limits_(limits), progress_(progress) {}

    const SearchOptions& options() const { return options_; }
    const Limits& limits() const { return limits_; }
    const Progress& progress() const { return progress_; }

    /// The runs of several levels as one stage, so that no thread waits for the end of one level; level by
    /// level, without those for which there was no time.
    std::vector<std::vector<Run>> run(const std::vector<std::vector<Task>>& tasks) const;

    std::vector<Run> run(const std::vector<Task>& tasks) const {
        return run(std::vector<std::vector<Task>>{tasks}).front();
    }

private:
    const SearchOptions& options_;
    const Limits& limits_;
    const Progress& progress_;
};

/// Distinct partitions among the runs, best first.
std::vector<const Run*> distinct_best_first(const std::vector<Run>& runs);

/// How many of the runs have led to this loss.
std::size_t count_at(double loss, double rounding, const std::vector<Run>& runs);

/// Up to `most` distinct partitions, best first.
std::vector<Run> best_of(const std::vector<Run>& runs, std::size_t most);

/// Adds children to the runs; whether one of them is better than every run before, beyond rounding.
bool join(std::vector<Run>& runs, std::vector<Run> children);

/// The blocks on which two partitions agree, the largest ones, at most twice as many as the larger number of
/// clusters; the items of all other blocks are in no cluster.
std::vector<std::uint32_t> common_blocks(const Run& x, const Run& y);

} // namespace partita::search
