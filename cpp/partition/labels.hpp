// Labels of items in a partition.
#pragma once

#include <cstdint>
#include <limits>

namespace partita {

/// The label of an item that is in no cluster, and the number of a cluster that does not exist.
inline constexpr auto no_cluster = std::numeric_limits<std::uint32_t>::max();

} // namespace partita
