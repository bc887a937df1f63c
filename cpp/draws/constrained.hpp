// The search of draws under constraints: items that stay together, items that stay apart, limits on sizes.
#pragma once

#include <vector>

#include "draws/draws.hpp"
#include "draws/losses.hpp"
#include "partition/restrictions.hpp"
#include "partition/run.hpp"

namespace partita::search {

/// As many runs as the options ask for, the first from the given partitions; what breaks a constraint there
/// is allocated anew. All moves of the default search, on all draws. There is no limit on clusters: one may
/// be impossible to keep.
template <class Label>
SearchResult search_constrained(const Draws<Label>& draws, const LossTables& tables,
                                const Restrictions& restrictions, std::vector<Run> given,
                                const SearchOptions& options, const common::StopFlag& stop,
                                const Progress& progress);

} // namespace partita::search
