// Proof that no cluster has a negative reduced cost f(S) - u(S), by branch and bound.
//
// Clusters are distinguished by their size and by their home: the first group of items, such as a cluster of
// the estimate, of which they have at least about half. The families are independent of each other.
#pragma once

#include "common/parallel.hpp"
#include "proofs/family_rows.hpp"

namespace partita::proofs {

/// The sets of the family by the first home, largest first, of which they have about half of the items or of
/// the size, and those without one. Every set is in exactly one part.
std::vector<Family> by_home(const Family& family, std::span<const std::uint32_t> homes);

struct Pricing {
    bool proven = false;         // no cluster has a negative reduced cost
    std::vector<Items> negative; // clusters that have one; then nothing is proven
    std::size_t families = 0;    // that were bounded
};

/// Ends at the first cluster of negative reduced cost, and when stopped.
Pricing price(const ReducedCosts& problem, unsigned threads, const common::StopFlag& stop);

} // namespace partita::proofs
