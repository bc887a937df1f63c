// The distinct clusters of draws, distinguished by the sums of their items' random keys.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/random.hpp"
#include "draws/draws.hpp"
#include "partition/labels.hpp"

namespace partita::search {

/// The sum of random keys of a set's items. Two different sets have equal sums with probability 2^-128, since
/// some item is in one of them only and its key is uniform. The draws do not depend on the keys, so that even
/// among 2^32 clusters, which are 2^63 pairs, any two are mistaken for one with probability 2^-65: less than
/// that of a bit that flips in memory, and no reason to compare the sets.
struct ItemSum {
    std::uint64_t low = 0, high = 0;

    bool operator==(const ItemSum&) const = default;
    void operator+=(const ItemSum& key) {
        low += key.low;
        high += key.high;
    }
};

inline std::vector<ItemSum> random_keys(std::size_t n_items) {
    common::Rng rng(0);
    std::vector<ItemSum> keys(n_items);
    for (auto& key : keys)
        key = {rng(), rng()};
    return keys;
}

/// A cluster where it was seen first, and its smallest item.
struct DistinctCluster {
    ItemSum sum;
    std::uint32_t draw, label, size, first_item;
};

/// The clusters of a draw, by label. Item i is called rank(i).
template <class Label, class Rank = std::identity>
std::vector<DistinctCluster> clusters_of(std::span<const Label> labels, std::uint32_t draw,
                                         std::span<const ItemSum> keys, Rank rank = {}) {
    std::vector<DistinctCluster> clusters(count_clusters(labels),
                                          DistinctCluster{{}, draw, 0, 0, no_cluster});
    for (std::uint32_t i = 0; i < labels.size(); ++i) {
        if (labels[i] == gap<Label>)
            continue;
        auto& own = clusters[labels[i]];
        own.first_item = std::min<std::uint32_t>(own.first_item, rank(i));
        own.sum += keys[i];
        own.label = labels[i];
        ++own.size;
    }
    return clusters;
}

/// Distinct clusters in the order in which they came, each with the sum of its coefficients. A hash table
/// whose slots hold numbers of clusters: the sums are random already.
class ClusterTable {
public:
    std::vector<DistinctCluster> clusters;
    std::vector<double> coefficients;

    /// Returns the cluster's number.
    std::uint32_t add(const DistinctCluster& cluster, double coefficient) {
        if (2 * clusters.size() >= slots_.size())
            grow();
        auto& slot = find(cluster.sum);
        if (slot == no_cluster) {
            slot = static_cast<std::uint32_t>(clusters.size());
            clusters.push_back(cluster);
            coefficients.push_back(0);
        }
        coefficients[slot] += coefficient;
        return slot;
    }

private:
    std::uint32_t& find(const ItemSum& sum) {
        const auto last = slots_.size() - 1;
        auto place = sum.high & last;
        while (slots_[place] != no_cluster && clusters[slots_[place]].sum != sum)
            place = (place + 1) & last;
        return slots_[place];
    }

    void grow() {
        slots_.assign(std::max<std::size_t>(1024, 4 * std::bit_ceil(clusters.size() + 1)), no_cluster);
        for (std::uint32_t number = 0; number < clusters.size(); ++number)
            find(clusters[number].sum) = number;
    }

    std::vector<std::uint32_t> slots_;
};

} // namespace partita::search
