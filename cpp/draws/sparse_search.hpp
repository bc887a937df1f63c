// The searches of many small clusters: on lists of the cells that are not empty, with small components solved
// beforehand.
#pragma once

#include "draws/draws.hpp"
#include "draws/losses.hpp"
#include "partition/run.hpp"

namespace partita::search {

/// Whether a search is faster, or only possible, on lists of cells; decided by what both would cost.
template <class Label> bool prefers_sparse(const Draws<Label>& draws, const Loss& loss);

/// As `search`, on lists of cells.
template <class Label>
SearchResult search_sparse(const Draws<Label>& draws, const LossTables& tables, const SearchOptions& options,
                           const Limits& limits, const Progress& progress);

/// As `refine`, on lists of cells, without crossings.
template <class Label>
std::vector<Run> refine_sparse(const Draws<Label>& draws, const LossTables& tables,
                               const SearchOptions& options, std::vector<Run> starts, const Limits& limits,
                               const Progress& progress);

} // namespace partita::search
