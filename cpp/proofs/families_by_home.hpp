// Families of clusters, distinguished by the group of items in which a cluster is at home.
#pragma once

#include "proofs/cluster_descent.hpp"

namespace partita::proofs {

/// The sets of the family by the first home, largest first, of which they have about half of the items or of
/// the size, and those without one. Every set is in exactly one part.
std::vector<Family> by_home(const Family& family, std::span<const std::uint32_t> homes);

} // namespace partita::proofs
