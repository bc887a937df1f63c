// A small table from the clusters that were met to their places in a list: it stays in the cache, which an
// array over all clusters would not.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "partition/labels.hpp"

namespace partita::search {

/// Forgotten all at once. A cluster that was not met has the place `no_cluster`.
class ClusterSlots {
public:
    void clear() {
        n_met_ = 0;
        if (++round_ == 0) { // stamps of long ago would count again
            entries_.assign(entries_.size(), {});
            round_ = 1;
        }
    }

    std::uint32_t operator[](std::uint32_t cluster) const {
        const auto& entry = entries_[place_of(cluster)];
        return entry.round == round_ ? entry.slot : no_cluster;
    }

    /// The place of a cluster, `next` if it is met for the first time.
    std::uint32_t meet(std::uint32_t cluster, std::uint32_t next) {
        if (2 * n_met_ >= entries_.size())
            grow();
        auto& entry = entries_[place_of(cluster)];
        if (entry.round != round_) {
            entry = {cluster, next, round_};
            ++n_met_;
        }
        return entry.slot;
    }

private:
    struct Entry {
        std::uint32_t cluster = 0, slot = 0, round = 0;
    };

    std::size_t place_of(std::uint32_t cluster) const {
        const auto last = entries_.size() - 1;
        auto place = (cluster * 0x9e3779b9u) >> (32 - std::countr_zero(entries_.size()));
        while (entries_[place].round == round_ && entries_[place].cluster != cluster)
            place = (place + 1) & last;
        return place;
    }

    void grow() {
        std::vector<Entry> old(2 * entries_.size());
        old.swap(entries_);
        for (const auto& entry : old)
            if (entry.round == round_)
                entries_[place_of(entry.cluster)] = entry;
    }

    std::vector<Entry> entries_ = std::vector<Entry>(64); // always a power of two
    std::size_t n_met_ = 0;
    std::uint32_t round_ = 1;
};

} // namespace partita::search
