// Partitions of least expected loss from pair probabilities: each component alone, proven where that is
// cheap.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "pairs/graph.hpp"
#include "pairs/objective.hpp"

namespace partita::pairs {

struct Options {
    std::uint32_t runs = 16;
    std::uint32_t zealous = 10; // rounds of taking clusters apart
    double seconds = 0;         // may be infinite
    unsigned threads = 1;
    std::uint64_t seed = 0;
};

/// Everything about a component but its items; `value` is the objective of the partition found.
struct ComponentResult {
    std::uint32_t n_items = 0;
    double value = 0;
    double bound = -std::numeric_limits<double>::infinity(); // no partition has a lower value
    bool proven = false;
};

struct Result {
    std::vector<std::uint32_t> labels;    // of each item, 0..K-1 by first appearance
    std::vector<std::uint32_t> component; // of each item, by first appearance
    std::vector<ComponentResult> components;
};

/// `starts` are partitions of all items that obey the constraints, one after the other; there may be none.
Result search(const Graph& graph, const Threshold& objective, const Constraints& constraints,
              std::span<const std::uint32_t> starts, const Options& options, const common::StopFlag& stop);
Result search(const Graph& graph, const LogMass& objective, const Constraints& constraints,
              std::span<const std::uint32_t> starts, const Options& options, const common::StopFlag& stop);

} // namespace partita::pairs
