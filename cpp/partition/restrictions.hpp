// What every partition of a constrained problem must obey.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace partita {

/// Atoms are sets of items that are always together, and every item is in one; `apart` has, for each item,
/// the items that it must not be with, in rows. Both are empty where nothing is restricted. A cluster has at
/// most `max_size` items; every atom has.
struct Restrictions {
    std::vector<std::vector<std::uint32_t>> atoms = {};
    std::vector<std::vector<std::uint32_t>> apart = {};
    std::size_t max_size = std::numeric_limits<std::size_t>::max();
};

} // namespace partita
