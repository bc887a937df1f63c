// Communities of a network by modularity, as partitions for the searches to start from.
#pragma once

#include <cstdint>
#include <vector>

#include "common/parallel.hpp"
#include "common/random.hpp"
#include "networks/network.hpp"

namespace partita::models {

/// Local moves and aggregation in turns (Blondel et al. 2008): the modularity of the network without
/// directions, the expected edges multiplied by `resolution`. A larger resolution gives smaller
/// communities. Labels 0, 1, ... in order of first appearance; O(edges) for each round of moves.
std::vector<std::uint32_t> communities(const Network& network, double resolution, common::Rng& rng,
                                       const common::StopFlag& stop);

} // namespace partita::models
