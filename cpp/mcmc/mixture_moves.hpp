// How much of a sweep goes to split-merge proposals.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/lanes.hpp"
#include "mixtures/policy.hpp"

namespace partita::models {

struct MixtureMoves {
    /// Split-merge proposals per sweep, on average. Without a number they are worth a certain share of a
    /// sweep: the number follows the clusters during the warm-up, and is fixed after it.
    std::optional<double> split_merges;
    std::uint32_t restricted_scans = 1; // Gibbs scans that prepare a proposal
    std::uint64_t warmup = 0;           // sweeps

    /// A proposal goes through the items of one or two clusters on one vector of slots, restricted_scans + 2
    /// times, and once through all labels, which costs about as much as scoring a slot.
    double automatic(std::size_t n_clusters) const {
        const auto k = static_cast<double>(n_clusters), width = static_cast<double>(common::lanes);
        const double cost = 2.0 * width * (restricted_scans + 2.0) / k + 1.0;
        return std::max(mixtures::policy::split_merge_share *
                            static_cast<double>(common::round_to_lanes(n_clusters + 1)) / cost,
                        mixtures::policy::min_split_merges);
    }
};

} // namespace partita::models
