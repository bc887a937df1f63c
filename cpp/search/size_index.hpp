// Which clusters are the smallest, kept up to date in constant time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace partita::search {

/// Clusters of few items by their size. Where there is none, a look at all sizes costs little: then clusters
/// are few.
class SizeIndex {
public:
    static constexpr std::uint32_t nowhere = 0xffffffffu;

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
        if (size >= buckets_.size())
            return;
        places_[cluster] = static_cast<std::uint32_t>(buckets_[size].size());
        buckets_[size].push_back(cluster);
    }

    void erase(std::uint32_t cluster, std::uint32_t size) {
        if (size >= buckets_.size())
            return;
        auto& bucket = buckets_[size];
        bucket[places_[cluster]] = bucket.back();
        places_[bucket.back()] = places_[cluster];
        bucket.pop_back();
    }

    /// A smallest cluster other than `besides`; nowhere if there is no other.
    std::uint32_t smallest(std::span<const std::uint32_t> sizes, std::uint32_t besides) const {
        for (const auto& bucket : buckets_)
            for (const auto cluster : bucket)
                if (cluster != besides)
                    return cluster;
        auto best = nowhere;
        for (std::uint32_t cluster = 0; cluster < sizes.size(); ++cluster)
            if (cluster != besides && (best == nowhere || sizes[cluster] < sizes[best]))
                best = cluster;
        return best;
    }

private:
    std::array<std::vector<std::uint32_t>, 9> buckets_; // by size
    std::vector<std::uint32_t> places_;
};

} // namespace partita::search
