// What a search for the largest exact ICL finds, and the cooling that its annealed runs share.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/parallel.hpp"

namespace partita::models {

/// Strict, so that sweeps end. Scores of free blocks and of mixtures are exact to less than this. Those of
/// the affiliation model may be less exact, but are differences of one function of whole numbers, which
/// cannot rise for ever.
inline constexpr double min_gain = 1e-9;

/// A partition of all items, labels 0-based on each side on its own (columns of a bipartite network start at
/// 0 again).
struct Solution {
    std::vector<std::uint32_t> labels;
    double icl = -std::numeric_limits<double>::infinity();
};

/// Geometric cooling: one sweep at each heat from `hot` towards `cold`.
template <class Sweep>
void cool(double hot, double cold, std::size_t sweeps, const common::StopFlag& stop, Sweep sweep) {
    for (std::size_t at = 0; at < sweeps && !stop; ++at)
        sweep(hot * std::pow(cold / hot, static_cast<double>(at) / static_cast<double>(sweeps)));
}

/// One merge: cluster `from` goes into cluster `into` and the ICL changes by `change`.
struct Merge {
    std::uint32_t into, from;
    double change;
};

} // namespace partita::models
