// Partitions in which many items are alone, as noise is: a few large clusters, each with a column of cells,
// and no column for an item that is alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "draws/draws.hpp"
#include "draws/losses.hpp"
#include "partition/run.hpp"

namespace partita::search {

/// In a start: an item that is alone, and one that first goes where it suits best.
inline constexpr std::uint32_t is_alone = 0xfffffffeu, is_unplaced = 0xffffffffu;

/// Carries partitions on by moves of single items, into another cluster or out of all clusters, and by
/// merges. Labels of a start are 0..K-1, `is_alone` or `is_unplaced`. Only for linear losses; nothing if the
/// cells do not fit in memory, or a draw has more than 65,534 clusters of two or more items.
template <class Label>
std::optional<std::vector<Run>> refine_with_noise(const Draws<Label>& draws, const LossTables& tables,
                                                  const SearchOptions& options, std::vector<Run> starts,
                                                  const common::StopFlag& stop, const Progress& progress);

} // namespace partita::search
