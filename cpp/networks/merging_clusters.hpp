// The filled clusters of a state, numbered 0, 1, ... in the order of their slots, as merges leave them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace partita::models {

struct MergingClusters {
    std::vector<std::uint32_t> slot;
    std::vector<std::size_t> side;
    std::vector<std::int64_t> nodes;
    std::vector<bool> alive;

    bool may_merge(std::size_t a, std::size_t b) const { return alive[a] && alive[b] && side[a] == side[b]; }
};

} // namespace partita::models
