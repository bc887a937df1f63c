// Proof that no cluster has a negative reduced cost f(S) - u(S), by branch and bound.
//
// Items are taken in a given order. Every cluster belongs to the family of its first item, its anchor: this
// item is in, the earlier ones are out. The families are independent of each other.
#pragma once

#include "bounds/cluster_descent.hpp"
#include "common/parallel.hpp"

namespace partita::bounds {

struct Pricing {
    bool proven = false;         // no cluster has a negative reduced cost
    std::vector<Items> negative; // clusters that have one; then nothing is proven
    std::size_t families = 0;    // that were bounded
};

/// Ends at the first cluster of negative reduced cost, and when stopped.
Pricing price(const ClusterCosts& costs, std::span<const double> duals, std::span<const std::uint32_t> order,
              unsigned threads, const common::StopFlag& stop);

} // namespace partita::bounds
