// Greedy merges of clusters: while the log density grows, down to a limit, or down to one cluster.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "partition/sweep.hpp"

namespace partita::models {

/// One merge: cluster `from` goes into cluster `into` and the log density changes by `change`.
struct Merge {
    std::uint32_t into, from;
    double change;

    /// The best of no merges: where no two clusters are left.
    static constexpr Merge none() { return {0, 0, -std::numeric_limits<double>::infinity()}; }
    bool exists() const { return from != into; }
};

/// The clusters of a partition, which are merged by their sufficient statistics: items are not looked at.
/// Clusters of different sides, the rows and columns of a table, never merge.
template <class M>
concept MergeState = requires(M& merges, const M& seen, std::size_t at, const Merge& merge) {
    { seen.n_sides() } -> std::same_as<std::size_t>;
    { seen.n_clusters(/*side=*/at) } -> std::same_as<std::size_t>;
    { seen.best(/*side=*/at) } -> std::same_as<Merge>; // n_sides(): of any side
    { seen.can_merge(at, at) } -> std::same_as<bool>;
    { seen.change(at, at) } -> std::same_as<double>;
    merges.merge(merge);
    { seen.into(/*slot=*/std::uint32_t{}) } -> std::same_as<std::uint32_t>; // where its items are now
};

/// Merges while the log density grows, and as long as a side has more clusters than allowed; returns whether
/// any were merged.
template <MergeState M>
bool merge_clusters(M& merges, const std::size_t* max_clusters, const common::StopFlag& stop) {
    for (bool merged = false;; merged = true) {
        std::size_t over_limit = 0;
        while (over_limit < merges.n_sides() && merges.n_clusters(over_limit) <= max_clusters[over_limit])
            ++over_limit;
        const auto best = stop ? Merge::none() : merges.best(over_limit);
        const bool forced = over_limit < merges.n_sides();
        if (!best.exists() || !(forced || best.change > min_gain))
            return merged;
        merges.merge(best);
    }
}

/// The best merges one after the other, down to one cluster of each side; fewer if it is stopped.
template <MergeState M>
std::vector<Merge> merge_path(M merges, const common::StopFlag& stop = common::StopFlag()) {
    std::vector<Merge> path;
    for (auto best = merges.best(merges.n_sides()); best.exists() && !stop;
         best = merges.best(merges.n_sides())) {
        path.push_back(best);
        merges.merge(best);
    }
    return path;
}

/// The change of the log density for every pair of clusters 0, 1, ..., n - 1; 0 where two cannot merge.
template <MergeState M> std::vector<double> merge_changes(const M& merges, std::size_t n) {
    std::vector<double> changes(n * n, 0.0);
    for (std::size_t one = 0; one < n; ++one)
        for (std::size_t other = 0; other < n; ++other)
            if (one != other && merges.can_merge(one, other))
                changes[one * n + other] = merges.change(one, other);
    return changes;
}

} // namespace partita::models
