// The best of all partitions, by walking through them item after item; for small numbers of items.
#pragma once

#include <cstdint>
#include <vector>

#include "draws.hpp"
#include "losses.hpp"
#include "parallel.hpp"

namespace partita {

struct Enumerated {
    std::vector<std::uint32_t> labels; // the first in lexicographic order where several are best
    double loss;
};

/// Partitions with at most max_clusters clusters; a stop ends the walk with the best so far.
template <class Label>
Enumerated enumerate_best(const Draws<Label>& draws, const LossTables& tables, std::size_t max_clusters,
                          unsigned threads, const StopFlag& stop);

} // namespace partita
