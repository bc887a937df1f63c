// The best of all partitions, by enumerating them item by item; for small numbers of items.
#pragma once

#include <cstdint>
#include <vector>

#include "common/parallel.hpp"
#include "draws/draws.hpp"
#include "draws/losses.hpp"
#include "partition/restrictions.hpp"

namespace partita {

struct Enumerated {
    std::vector<std::uint32_t> labels; // the first in lexicographic order if several are best
    double loss;
};

/// Enumerates partitions with at most max_clusters clusters that obey the restrictions; a stop ends it with
/// the best so far. The labels are empty and the loss infinite if no partition was found.
template <class Label>
Enumerated enumerate_best(const Draws<Label>& draws, const LossTables& tables, std::size_t max_clusters,
                          const Restrictions& restrictions, unsigned threads, const common::StopFlag& stop);

} // namespace partita
