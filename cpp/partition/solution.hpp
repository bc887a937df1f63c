// What a search for the partition of largest log density finds.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace partita::models {

/// A partition of all items, labels 0-based on each side on its own (columns of a bipartite network start at
/// 0 again).
struct Solution {
    std::vector<std::uint32_t> labels;
    double icl = -std::numeric_limits<double>::infinity();
};

} // namespace partita::models
