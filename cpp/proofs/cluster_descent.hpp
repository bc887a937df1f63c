// Clusters of small reduced cost f(S) - u(S), found by changing one or two items at a time.
#pragma once

#include <span>

#include "proofs/cluster_costs.hpp"
#include "proofs/selection.hpp"

namespace partita::proofs {

/// How many items of a home, a group of items, a set may have.
struct HomeLimits {
    std::uint32_t home;
    Limits count;
};

/// Sets that contain `in`, and otherwise only items of `open`, with lower..upper items in total.
struct Family {
    Items in, open;
    std::size_t lower, upper;
    std::vector<HomeLimits> homes = {}; // that have limits
};

struct FoundCluster {
    Items items;
    double reduced = 0; // f(S) - u(S)
};

/// The nearest local minimum from a start, of which what is not in the family is left out. Limits of homes do
/// not count.
FoundCluster descend(const ClusterCosts& costs, std::span<const double> duals, const Family& family,
                     const Items& start);

} // namespace partita::proofs
