// Where chains begin: near the mass of the posterior, and far from each other. Seeds are chosen as k-means++
// chooses them (Arthur & Vassilvitskii 2007), items join the nearest one, and clusters are merged while the
// density grows. Only the first state comes from here: the stationary distribution is unaffected.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/random.hpp"
#include "mixtures/mixture_family.hpp"
#include "mixtures/policy.hpp"

namespace partita::models {

/// The number of seeds of a chain; below 2 it has none.
inline std::size_t seeds_of_chain(std::uint64_t stream, std::size_t n_items) {
    using namespace mixtures::policy;
    const auto wanted = seeds_of_chains[stream % std::size(seeds_of_chains)];
    return std::min(wanted, std::min(n_items, max_seeded_items) / items_per_chain_seed);
}

/// The nearest seed of each item: each next seed is an item, with probability proportional to its distance
/// from the seeds so far. Fewer labels than seeds are used if the items are equal.
template <ItemTable Table>
std::vector<std::uint32_t> nearest_seeds(const Table& table, std::span<const std::uint32_t> items,
                                         std::size_t n_seeds, common::Rng& rng) {
    std::vector<std::uint32_t> labels(items.size(), 0);
    std::vector<double> nearest(items.size(), std::numeric_limits<double>::infinity());
    std::size_t seed = rng.below(items.size());
    for (std::uint32_t label = 0; label < n_seeds; ++label) {
        double total = 0.0;
        for (std::size_t p = 0; p < items.size(); ++p) {
            if (const double distance = table.distance(items[p], items[seed]); distance < nearest[p])
                nearest[p] = distance, labels[p] = label;
            total += nearest[p];
        }
        if (!(total > 0.0))
            break;
        double left = rng.uniform() * total;
        for (seed = 0; seed + 1 < items.size() && left >= nearest[seed]; ++seed)
            left -= nearest[seed];
    }
    return labels;
}

} // namespace partita::models
