// The best partition of a few nodes, by dynamic programming over sets of nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "pairs/local.hpp"
#include "pairs/objective.hpp"

namespace partita::pairs {

/// Most nodes: 3^15 / 2 steps, and 2^15 sets.
inline constexpr std::uint32_t max_exact = 15;

/// Labels of the items of the best partition of the atoms that obeys the constraints.
std::vector<std::uint32_t> best_partition(const Local& local, const Threshold& objective);
std::vector<std::uint32_t> best_partition(const Local& local, const LogMass& objective);

} // namespace partita::pairs
