// Sets of items, distinguished by the sums of their items' random keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/random.hpp"

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

struct LowWord {
    std::size_t operator()(const ItemSum& sum) const { return sum.low; } // random already
};

inline std::vector<ItemSum> random_keys(std::size_t n_items) {
    common::Rng rng(0);
    std::vector<ItemSum> keys(n_items);
    for (auto& key : keys)
        key = {rng(), rng()};
    return keys;
}

} // namespace partita::search
