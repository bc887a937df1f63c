// Searches under constraints: items that move together, clusters that an item may not join.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "draws/state.hpp"
#include "partition/restrictions.hpp"
#include "partition/run.hpp"

namespace partita::search {

/// Runs that begin at the given partitions, which must obey, and then at atoms allocated in random order.
/// There is no limit on clusters: one may be impossible to keep.
std::vector<Run> search_constrained(const Problem& problem, const Restrictions& restrictions,
                                    const std::vector<std::vector<std::uint32_t>>& starts,
                                    const SearchOptions& options, const common::StopFlag& stop,
                                    const Progress& progress);

} // namespace partita::search
