// Some of the items of a problem as a problem of their own: those on which runs differ, or those that are
// left when small parts are solved.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "draws/sparse_problem.hpp"
#include "partition/run.hpp"

namespace partita::search {

/// The items of the blocks in which runs differ, in order.
std::vector<std::uint32_t> differing_items(const std::vector<Run>& runs);

/// Labels of some items, numbered anew 0..K-1; items in no cluster stay in none.
std::vector<std::uint32_t> restricted_labels(std::span<const std::uint32_t> labels,
                                             std::span<const std::uint32_t> items);

/// The problem of a linear loss that is left if the clusters of all other items are fixed: a sum over
/// clusters.
class PartialProblem {
public:
    /// `labels`, below the number of items, are those of the other items; `constant` is what these add.
    PartialProblem(const SparseProblem& whole, std::vector<std::uint32_t> items,
                   std::vector<std::uint32_t> labels, double constant)
        : items_(std::move(items)), labels_(std::move(labels)), problem_(whole.restricted(items_, constant)) {
    }

    const SparseProblem& problem() const { return problem_; }
    std::vector<std::uint32_t> restrict(const std::vector<std::uint32_t>& labels) const {
        return restricted_labels(labels, items_);
    }
    /// Adds the fixed clusters to a run on this problem.
    void complete(Run& run) const;

protected:
    std::vector<std::uint32_t> items_, labels_;
    SparseProblem problem_;
};

/// The items on which runs differ, at least one, as `differing_items` gives them: nothing is to be gained
/// from what the runs have found in any other place. One of the runs has the other clusters.
class DifferingItems : public PartialProblem {
public:
    DifferingItems(const SparseProblem& whole, std::vector<std::uint32_t> items, const Run& agreed);
};

} // namespace partita::search
