// Items that no optimum of a linear loss joins, and the optimum of those parts that are small.
//
// Binder's loss and the variation of information are a constant plus a sum over the clusters of the estimate.
// If no draw has items of two sets in one cluster, joining the sets gains nothing and costs the estimate's
// own sum: docs/many_clusters.md has the proof. Each connected component of the items that are ever together
// is a problem of its own.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "draws/draws.hpp"
#include "draws/sparse_problem.hpp"
#include "partition/labels.hpp"
#include "partition/restrictions.hpp"

namespace partita::search {

/// Up to this many items, the best partition of a component is found by enumeration.
inline constexpr std::size_t max_enumerated = 12;

/// The component of each item among those that draws of positive weight connect, numbered by first item.
template <class Label> std::vector<std::uint32_t> find_components(const Draws<Label>& draws);

/// The parts of a problem. Those with up to max_enumerated items are solved.
struct Parts {
    std::vector<std::uint32_t> component;          // of each item, numbered by first item
    std::vector<std::vector<std::uint32_t>> items; // of each component, in order
    std::vector<std::uint32_t> labels; // best cluster of each item within its component; or no_cluster
    std::vector<double> least;         // the component's part of the value; NaN if not solved
    std::vector<double> given;         // the same of the labels that were given

    bool is_solved(std::size_t c) const { return !std::isnan(least[c]); }
};

/// Solves the small parts of a linear loss; for Binder's loss without gaps, by the finer graph of pairs whose
/// similarity is above b / (a + b). Where labels are given, `given` has the value of the same parts for
/// them; infinity where one of their clusters reaches beyond the component. Under restrictions the best
/// partition is among those that obey: a part has the whole of every atom, and dividing a cluster along parts
/// puts nothing together that must be apart.
Parts solve_parts(const SparseProblem& problem, std::span<const std::uint32_t> labels,
                  const Restrictions& restrictions, unsigned threads, const common::StopFlag& stop);

} // namespace partita::search
