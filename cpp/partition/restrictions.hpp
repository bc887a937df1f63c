// What every partition of a constrained problem must obey.
#pragma once

#include <cstdint>
#include <vector>

namespace partita {

/// Atoms are sets of items that are always together, and every item is in one; `apart` has, for each item,
/// the items that it must not be with, in rows. Both are empty where nothing is restricted.
struct Restrictions {
    std::vector<std::vector<std::uint32_t>> atoms = {};
    std::vector<std::vector<std::uint32_t>> apart = {};
};

} // namespace partita
