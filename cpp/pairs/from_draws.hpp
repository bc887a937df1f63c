// Pair probabilities of draws, without a matrix: only pairs that some draw has together are met.
#pragma once

#include <cstdint>
#include <vector>

#include "common/parallel.hpp"
#include "draws/draws.hpp"

namespace partita::pairs {

/// Pairs (left, right) with left < right, sorted, and the weight of the draws in which they share a cluster,
/// among the draws that label both.
struct PairList {
    std::vector<std::uint32_t> left, right;
    std::vector<double> probability;
};

/// The pairs whose probability is above `above`. Costs Σ over the clusters of all draws of their size
/// squared.
template <class Label>
PairList pairs_of(const Draws<Label>& draws, double above, unsigned threads, const common::StopFlag& stop);

} // namespace partita::pairs
