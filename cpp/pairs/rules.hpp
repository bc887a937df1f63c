// Which clusters a node may join: the constraints of one component, kept up to date as nodes move.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pairs/local.hpp"

namespace partita::pairs {

class Rules {
public:
    Rules(const Local& local, std::size_t n_clusters)
        : local_(&local), forbidden_(local.apart.size() > 0 ? n_clusters : 0),
          sources_(local.source.empty() ? 0 : n_clusters), sizes_(local.is_limited() ? n_clusters : 0) {}

    void joined(std::span<const std::uint32_t> items, std::uint32_t cluster) {
        if (!sizes_.empty())
            sizes_[cluster] += items.size();
        each_source(items, cluster, [](auto& there, auto at, auto source) { there.insert(at, source); });
    }

    void left(std::span<const std::uint32_t> items, std::uint32_t cluster) {
        if (!sizes_.empty())
            sizes_[cluster] -= items.size();
        each_source(items, cluster, [](auto& there, auto at, auto) { there.erase(at); });
    }

    /// Looks at the items of a node that is in no cluster; `allows` then answers for them.
    void ask(std::span<const std::uint32_t> items, std::span<const std::uint32_t> labels) {
        asking_ = items;
        if (forbidden_.empty())
            return;
        ++question_;
        for (const auto i : items)
            for (const auto other : local_->apart[i])
                if (labels[other] != nothing)
                    forbidden_[labels[other]] = question_;
    }

    bool allows(std::uint32_t cluster) const {
        if (!forbidden_.empty() && forbidden_[cluster] == question_)
            return false;
        if (!sizes_.empty() && sizes_[cluster] + asking_.size() > local_->max_size)
            return false;
        if (sources_.empty())
            return true;
        const auto& there = sources_[cluster];
        return std::none_of(asking_.begin(), asking_.end(), [&](std::uint32_t i) {
            const auto source = local_->source[i];
            return source != nothing && std::binary_search(there.begin(), there.end(), source);
        });
    }

private:
    /// The sources of items, each with the sorted sources of the cluster and its place among them.
    template <class Change>
    void each_source(std::span<const std::uint32_t> items, std::uint32_t cluster, Change change) {
        if (sources_.empty())
            return;
        auto& there = sources_[cluster];
        for (const auto i : items)
            if (const auto source = local_->source[i]; source != nothing)
                change(there, std::lower_bound(there.begin(), there.end(), source), source);
    }

    const Local* local_;
    std::vector<std::uint64_t> forbidden_; // the last question that the cluster was ruled out for
    std::uint64_t question_ = 0;
    std::vector<std::vector<std::uint32_t>> sources_; // of each cluster, sorted
    std::vector<std::size_t> sizes_;                  // of each cluster, in items; empty without a limit
    std::span<const std::uint32_t> asking_;
};

} // namespace partita::pairs
