// Moves of many items at once, for partitions that single moves, merges and rebuilt clusters no longer
// improve: several clusters near an item are taken apart together, or a cluster of a draw is put in as one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "partition/improve.hpp"
#include "partition/labels.hpp"
#include "partition/moves.hpp"

namespace partita::search {

/// Clusters that are changed together: as they were, and all of their items.
struct Region {
    std::vector<std::vector<std::uint32_t>> groups;
    std::vector<std::uint32_t> items;

    template <SearchState S> void add(const S& state, std::uint32_t cluster) {
        groups.push_back(state.members(cluster));
        items.insert(items.end(), groups.back().begin(), groups.back().end());
    }
};

/// The cluster of item i, and the `others` where it would cost least besides; few items in all.
template <SearchState S> Region region_near(S& state, std::size_t i, std::size_t others) {
    const auto own = state.cluster_of(i);
    const auto all = state.score(i).first(state.n_clusters());
    const std::vector<double> scores(all.begin(), all.end());
    std::vector<std::uint32_t> order(scores.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto count = std::min(others + 1, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [&](auto k, auto l) { return scores[k] < scores[l]; });
    const auto most = std::max(policy::few_dissolved_items, state.labels().size() / policy::dissolved_part);
    Region region;
    region.add(state, own);
    for (std::size_t place = 0; place < count && region.groups.size() <= others; ++place)
        if (order[place] != own && (region.groups.size() == 1 || region.items.size() < most))
            region.add(state, order[place]);
    return region;
}

/// Takes clusters near a random item apart and allocates their items anew, one by one.
template <SearchState S>
Region reallocate_region(S& state, common::Rng& rng, Tally& tally, const Limits& limits) {
    auto region = region_near(state, rng.below(state.labels().size()), 1 + rng.below(policy::max_dissolved));
    reallocate(state, region.items, rng, tally, limits);
    return region;
}

/// The items of a cluster of the draw that is not nearly one of the estimate's: the first such one of a few
/// at random. None if there is none among them.
template <SearchState S>
std::vector<std::uint32_t> unlike_cluster(const S& state, std::span<const std::uint32_t> draw,
                                          common::Rng& rng) {
    for (int count = 0; count < policy::draw_cluster_tries; ++count) {
        const auto label = draw[rng.below(draw.size())];
        if (label == no_cluster) // the draw has a gap there
            continue;
        std::vector<std::uint32_t> items, shared(state.n_clusters()), sizes(state.n_clusters());
        for (std::uint32_t i = 0; i < draw.size(); ++i) {
            ++sizes[state.cluster_of(i)];
            if (draw[i] != label)
                continue;
            items.push_back(i);
            ++shared[state.cluster_of(i)];
        }
        const auto most = std::max_element(shared.begin(), shared.end()) - shared.begin();
        const auto both = static_cast<double>(shared[static_cast<std::size_t>(most)]);
        const auto all = static_cast<double>(items.size() + sizes[static_cast<std::size_t>(most)]) - both;
        if (items.size() > 1 && both < policy::alike_share * all)
            return items;
    }
    return {};
}

/// Puts the items of a cluster of the draw together: as a cluster of their own, if one more is allowed, or in
/// the cluster that has most of them. Then the items of all clusters that had some may move.
template <SearchState S>
Region gather(S& state, std::span<const std::uint32_t> draw, std::uint32_t max_clusters, common::Rng& rng,
              Tally& tally, const Limits& limits) {
    const auto gathered = unlike_cluster(state, draw, rng);
    std::vector<std::uint32_t> counts(state.n_clusters());
    Region region;
    for (const auto i : gathered)
        if (counts[state.cluster_of(i)]++ == 0)
            region.add(state, state.cluster_of(i));
    if (gathered.empty())
        return region;
    const auto most = std::max_element(counts.begin(), counts.end()) - counts.begin();
    const auto anchor =
        *std::find_if(gathered.begin(), gathered.end(), [&](auto i) { return state.cluster_of(i) == most; });
    if (state.n_clusters() < max_clusters && !state.is_alone(anchor) && rng.below(2) == 0)
        state.move(anchor, state.n_clusters());
    for (const auto i : gathered)
        if (const auto target = state.cluster_of(anchor); // numbers change
            target != state.cluster_of(i) && allows(state, i, target))
            state.move(i, target);
    rng.shuffle(std::span(region.items));
    for (int count = 0; count < 2; ++count)
        sweep(state, region.items, tally, limits);
    return region;
}

/// Reallocates regions and gathers clusters of draws, by chance, until `patience` attempts in a row have not
/// lowered the value, computed anew. Where the limit on clusters binds, what is to be gained are mostly
/// exchanges between clusters.
template <SearchState S, class RandomDraw>
void intensify(S& state, std::uint32_t patience, std::uint32_t max_clusters, RandomDraw random_draw,
               common::Rng& rng, Tally& tally, const Limits& limits) {
    MonotoneGuard exact(state.exact_value());
    for (std::uint32_t failures = 0; failures < patience && !limits.reached();) {
        const auto value = state.value();
        const bool reallocates = rng.below(4) < (state.n_clusters() < max_clusters ? 1u : 2u);
        const auto region = reallocates ? reallocate_region(state, rng, tally, limits)
                                        : gather(state, random_draw(rng), max_clusters, rng, tally, limits);
        if (state.value() < value - state.tolerance() * std::abs(value) &&
            exact.falls(state.exact_value(), state.rounding())) {
            descend(state, rng, tally, limits);
            exact.falls(state.exact_value(), state.rounding());
            failures = 0;
        } else {
            put_back(state, region.groups);
            ++failures;
        }
    }
    state.refresh();
}

} // namespace partita::search
