// The items on which runs differ, as a problem of their own: the clusters that all runs have in common stay.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "draws/sparse_problem.hpp"
#include "partition/run.hpp"

namespace partita::search {

/// The items of those blocks on which runs differ, in order. A block is a smallest set of items that is a
/// union of clusters of every run.
std::vector<std::uint32_t> differing_items(const std::vector<Run>& runs);

/// Labels of some items, numbered anew 0..K-1; items in no cluster stay in none.
std::vector<std::uint32_t> restricted_labels(std::span<const std::uint32_t> labels,
                                             std::span<const std::uint32_t> items);

/// The problem of a linear loss that is left if the clusters on which all runs agree are fixed: a sum over
/// clusters has no other place where anything can be gained from what the runs have found.
class DifferingItems {
public:
    /// At least one of the items, as `differing_items` gives them; one of the runs has the other clusters.
    DifferingItems(const SparseProblem& whole, std::vector<std::uint32_t> items, const Run& agreed);

    const SparseProblem& problem() const { return problem_; }
    std::vector<std::uint32_t> restrict(const std::vector<std::uint32_t>& labels) const {
        return restricted_labels(labels, items_);
    }
    /// Adds the agreed clusters to a run on this problem.
    void complete(Run& run) const;

private:
    std::vector<std::uint32_t> items_, agreed_;
    SparseProblem problem_;
};

} // namespace partita::search
