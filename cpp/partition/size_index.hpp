// Which clusters are the smallest, kept up to date in constant time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "common/work.hpp"
#include "partition/labels.hpp"

namespace partita::search {

/// Clusters by their size. Larger ones than a thousand items are few, and a look at all of their sizes costs
/// little.
class SizeIndex {
public:
    void reset(std::span<const std::uint32_t> sizes) {
        for (auto& bucket : buckets_)
            bucket.clear();
        places_.assign(sizes.size(), 0);
        for (std::uint32_t cluster = 0; cluster < sizes.size(); ++cluster)
            add(cluster, sizes[cluster]);
    }

    void add(std::uint32_t cluster, std::uint32_t size) {
        if (cluster >= places_.size())
            places_.resize(cluster + std::size_t{1});
        if (size > max_size)
            return;
        if (size >= buckets_.size())
            buckets_.resize(size + std::size_t{1});
        lowest_ = std::min<std::size_t>(lowest_, size);
        places_[cluster] = static_cast<std::uint32_t>(buckets_[size].size());
        buckets_[size].push_back(cluster);
    }

    void erase(std::uint32_t cluster, std::uint32_t size) {
        if (size > max_size)
            return;
        auto& bucket = buckets_[size];
        bucket[places_[cluster]] = bucket.back();
        places_[bucket.back()] = places_[cluster];
        bucket.pop_back();
    }

    /// A smallest cluster other than `besides`; no_cluster if there is no other.
    std::uint32_t smallest(std::span<const std::uint32_t> sizes, std::uint32_t besides) {
        while (lowest_ < buckets_.size() && buckets_[lowest_].empty())
            ++lowest_;
        for (auto size = lowest_; size < buckets_.size(); ++size)
            for (const auto cluster : buckets_[size])
                if (cluster != besides)
                    return cluster;
        common::count_steps(sizes.size());
        auto best = no_cluster;
        for (std::uint32_t cluster = 0; cluster < sizes.size(); ++cluster)
            if (cluster != besides && (best == no_cluster || sizes[cluster] < sizes[best]))
                best = cluster;
        return best;
    }

private:
    static constexpr std::uint32_t max_size = 1024;

    std::vector<std::vector<std::uint32_t>> buckets_; // by size
    std::size_t lowest_ = 0;                          // no bucket before this one has a cluster
    std::vector<std::uint32_t> places_;
};

} // namespace partita::search
