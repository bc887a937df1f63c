// The clusters that a node may go to when there are too many to try each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "networks/node_partition.hpp"
#include "networks/policy.hpp"

namespace partita::models {

/// Near a node are the clusters of its neighbours, and the clusters that link most to those: without the
/// latter, nodes that are alike because they link to the same others would never meet.
class NearClusters {
public:
    /// Notes which clusters link most to each cluster, if the state counts blocks.
    template <class State> void learn(const State& state) {
        linked_.clear();
        if constexpr (requires { state.edges(0, 0); })
            if (!state.network().bipartite() && state.side(0).used >= networks::policy::min_near)
                for (std::size_t l = 0; l < state.side(0).used; ++l)
                    linked_.push_back(most_linked(state, l));
    }

    /// Lists the clusters near the node that was looked at; false if they are too many to be worth it, or if
    /// there is a table beside the networks.
    template <class State> bool find(const State& state, std::size_t node) {
        if constexpr (requires { state.has_table(); })
            if (state.has_table())
                return false;
        const auto& side = state.side(0);
        if (state.network().bipartite() || side.used < networks::policy::min_near ||
            state.n_touched() * networks::policy::near_part > side.used)
            return false;
        slots_.clear();
        marked_.resize(std::max(marked_.size(), state.slots()));
        add(state.label(node));
        state.each_touched([&](std::uint32_t slot) {
            add(slot);
            if (slot < linked_.size())
                for (const auto other : linked_[slot])
                    add(other);
        });
        for (auto h = side.first; h < side.end(); ++h)
            if (state.size(h) == 0) {
                add(static_cast<std::uint32_t>(h));
                break;
            }
        for (const auto slot : slots_)
            marked_[slot] = 0;
        return true;
    }

    std::span<const std::uint32_t> slots() const { return slots_; }

private:
    template <class State> static std::vector<std::uint32_t> most_linked(const State& state, std::size_t l) {
        std::vector<std::pair<double, std::uint32_t>> rates;
        for (std::size_t h = 0; h < state.side(0).used; ++h)
            if (const auto edges = state.edges(h, l) + state.edges(l, h); h != l && edges > 0)
                rates.emplace_back(-static_cast<double>(edges) / static_cast<double>(state.exposure(h, l)),
                                   static_cast<std::uint32_t>(h));
        const auto count = std::min(rates.size(), networks::policy::max_links);
        std::partial_sort(rates.begin(), rates.begin() + static_cast<std::ptrdiff_t>(count), rates.end());
        std::vector<std::uint32_t> linked;
        for (std::size_t at = 0; at < count; ++at)
            linked.push_back(rates[at].second);
        return linked;
    }

    void add(std::uint32_t slot) {
        if (marked_[slot])
            return;
        marked_[slot] = 1;
        slots_.push_back(slot);
    }

    std::vector<std::vector<std::uint32_t>> linked_;
    std::vector<std::uint32_t> slots_;
    std::vector<std::uint8_t> marked_;
};

} // namespace partita::models
