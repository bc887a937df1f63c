// Where chains begin: near the mass of the posterior, and far from each other. Seeds are chosen as k-means++
// chooses them (Arthur & Vassilvitskii 2007), items join the nearest one, and clusters are merged while the
// density grows. Only the first state comes from here, so that the stationary distribution does not know.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/random.hpp"
#include "models/mixture_family.hpp"
#include "models/partition_prior.hpp"
#include "models/split_merge.hpp"

namespace partita::models {

/// Seeds of chains 0, 1, 2, ...; the last of four begins with items that join one by one in random order.
inline constexpr std::size_t seeds_of_chains[] = {32, 8, 128, 0};
/// Items that are seeded, at most; the others join one by one.
inline constexpr std::size_t max_seeded_items = 10'000;
/// Fewer items per seed than this say little about a cluster.
inline constexpr std::size_t min_items_per_seed = 8;

/// The number of seeds of a chain; below 2 it has none.
inline std::size_t seeds_of_chain(std::uint64_t stream, std::size_t n_items) {
    const auto wanted = seeds_of_chains[stream % std::size(seeds_of_chains)];
    return std::min(wanted, std::min(n_items, max_seeded_items) / min_items_per_seed);
}

/// The nearest seed of each item: each next seed is an item, with a chance in proportion to its distance from
/// the seeds so far. Fewer labels than seeds are used if the items are equal.
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

/// Merges the two clusters whose merger raises the log density most, until none does.
template <MixtureFamily Family> class GreedyMerges {
public:
    GreedyMerges(Family& family, SplitMerge<Family>& split_merge, const PartitionPrior& prior,
                 std::vector<std::uint32_t>& labels, std::span<const std::uint32_t> items, std::size_t slots)
        : family_(family), split_merge_(split_merge), prior_(prior), labels_(labels), members_(slots),
          gains_(slots * slots, never) {
        for (const auto item : items)
            members_[labels[item]].push_back(item);
        for (std::size_t slot = 0; slot < slots; ++slot)
            n_clusters_ += !members_[slot].empty();
        for (std::size_t slot = 0; slot < slots; ++slot)
            for (std::size_t other = slot + 1; other < slots; ++other)
                score(slot, other);
    }

    /// Returns the number of clusters that are left.
    std::size_t run() {
        while (n_clusters_ > 1) {
            const auto best =
                static_cast<std::size_t>(std::max_element(gains_.begin(), gains_.end()) - gains_.begin());
            if (!(gains_[best] > prior_.log_open(n_clusters_ - 1) - prior_.log_w(1)))
                break;
            merge(best / members_.size(), best % members_.size());
        }
        return n_clusters_;
    }

private:
    static constexpr double never = -std::numeric_limits<double>::infinity();

    void score(std::size_t slot, std::size_t other) {
        const bool both = !members_[slot].empty() && !members_[other].empty();
        gains_[std::min(slot, other) * members_.size() + std::max(slot, other)] =
            both ? split_merge_.merge_gain(family_, prior_, members_, slot, other) : never;
    }

    void merge(std::size_t kept, std::size_t gone) {
        split_merge_.merge_gain(family_, prior_, members_, kept, gone);
        split_merge_.apply_merge(family_, labels_, static_cast<std::uint32_t>(gone),
                                 static_cast<std::uint32_t>(kept));
        members_[kept].insert(members_[kept].end(), members_[gone].begin(), members_[gone].end());
        members_[gone].clear();
        --n_clusters_;
        for (std::size_t other = 0; other < members_.size(); ++other) {
            if (other != gone)
                score(gone, other);
            if (other != kept)
                score(kept, other);
        }
    }

    Family& family_;
    SplitMerge<Family>& split_merge_;
    const PartitionPrior& prior_;
    std::vector<std::uint32_t>& labels_;
    std::vector<std::vector<std::uint32_t>> members_; // of each slot
    std::vector<double> gains_;                       // [smaller slot][larger slot], without the prior's V
    std::size_t n_clusters_ = 0;
};

} // namespace partita::models
