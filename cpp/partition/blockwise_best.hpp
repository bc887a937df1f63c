// The best of many partitions, place by place. Where partitions differ, they differ in blocks: the smallest
// sets of items that are unions of clusters of each. A block can be taken from any of them, and is taken from
// the one that is best there.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "common/union_find.hpp"
#include "partition/improve.hpp"
#include "partition/labels.hpp"
#include "partition/runner.hpp"

namespace partita::search {

using Labels = std::vector<std::uint32_t>;

/// The blocks in which partitions of the same items differ, each as its items.
inline std::vector<std::vector<std::uint32_t>>
differing_blocks(const std::vector<const Labels*>& partitions) {
    const auto n = static_cast<std::uint32_t>(partitions.front()->size());
    UnionFind sets(n);
    for (const auto* labels : partitions)
        sets.join_alike(std::span<const std::uint32_t>(*labels), n);
    // Within a block the partitions are equal if all of them have all its items in one cluster.
    std::vector<bool> differs(n);
    for (const auto* labels : partitions)
        for (std::uint32_t i = 0; i < n; ++i)
            if (const auto root = sets.find(i); (*labels)[i] != (*labels)[root])
                differs[root] = true;
    std::vector<std::uint32_t> place(n);
    std::vector<std::vector<std::uint32_t>> blocks;
    for (std::uint32_t i = 0; i < n; ++i) {
        const auto root = sets.find(i);
        if (!differs[root])
            continue;
        if (root == i) {
            place[root] = static_cast<std::uint32_t>(blocks.size());
            blocks.emplace_back();
        }
        blocks[place[root]].push_back(i);
    }
    return blocks;
}

/// The items of a block by their labels.
inline std::vector<std::vector<std::uint32_t>> groups_of(const std::vector<std::uint32_t>& block,
                                                         const std::vector<std::uint32_t>& labels) {
    std::map<std::uint32_t, std::size_t> places;
    std::vector<std::vector<std::uint32_t>> groups;
    for (const auto i : block) {
        const auto [place, is_new] = places.try_emplace(labels[i], groups.size());
        if (is_new)
            groups.emplace_back();
        groups[place->second].push_back(i);
    }
    return groups;
}

/// Takes from the labels every block that lowers the value.
template <SearchState S>
void take_better_blocks(S& state, const std::vector<std::uint32_t>& labels, const Limits& limits) {
    for (const auto& block : differing_blocks({&state.labels(), &labels})) {
        if (limits.reached())
            return;
        const auto before = groups_of(block, state.labels());
        const auto value = state.value();
        restore(state, groups_of(block, labels));
        if (!(state.value() < value - state.rounding()))
            restore(state, before);
    }
}

/// The task of improving the best of all runs by the better blocks of the others. They must stay as they are
/// until it is done.
template <SearchState S>
Task blockwise_best(const typename S::Setting& setting, const SearchOptions& options, const Limits& limits,
                    const std::vector<Run>& runs) {
    return [&] {
        const auto order = distinct_best_first(runs);
        Run run;
        run.start = "crossing";
        common::Rng rng(options.seed, std::uint64_t{1} << 61);
        S state(setting, options.max_clusters);
        state.assign(order.front()->labels);
        for (std::size_t other = 1; other < order.size(); ++other)
            take_better_blocks(state, order[other]->labels, limits);
        descend(state, rng, run.tally, limits);
        run.finish(state);
        return run;
    };
}

} // namespace partita::search
