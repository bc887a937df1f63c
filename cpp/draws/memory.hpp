// The memory that a search needs, predicted before it starts.
//
// A search stores the labels a second time, item by item, and for every thread a table with one row per
// cluster of each draw and one column per cluster of the estimate, with 8 bytes per cell:
//
//     items × distinct draws × bytes per label + threads × Σ_t K_t × 8 × columns + items × (192 + 32 ×
//     threads)
//
// The number of columns is the number of clusters of the estimate plus one, rounded up to a multiple of 8. A
// draw with missing labels has one more row. The last term does not depend on the draws: the partitions of
// the runs, the tables of the loss, and for each thread a partition with its orders of items. It matters if
// there are few draws. If draws share the rows of recurring clusters, a search needs less; this is not known
// before it starts.
//
// With lists of cells (docs/many_clusters.md) an item is listed for every draw in which it is together with
// others, and these beside it if they are few. Summed over the clusters of all draws, of s > 1 items each:
//
//     Σ s × (48 + 4 (s - 1) if s <= 32) + items × (192 + 128 × threads), at most
//
// It needs less if clusters occur in several draws. With missing labels each draw has one byte for each item
// and four for each cluster and thread.
//
// The similarity matrix is in single precision. Each thread has the summed similarity of every item with
// every cluster, in double precision, with room to grow; the labels are needed once:
//
//     items × distinct draws × bytes per label + items² × 4 + threads × items × columns × 16
//         + items × (192 + 32 × threads)
#pragma once

#include <algorithm>
#include <cstdint>

#include "draws/draws.hpp"
#include "draws/sparse_rows.hpp"
#include "partition/run.hpp"

namespace partita::search {

/// Bytes that a search which keeps its partitions in this way needs beyond the sample; its estimate has at
/// most this many clusters, and no more than the largest draw.
template <class Label>
double bytes_needed(const Draws<Label>& draws, StateKind state, std::uint32_t max_clusters,
                    unsigned threads) {
    constexpr double cell = 8, similarity = 4, sum = 16, entry = 48, other = 4, item = 192,
                     item_of_thread = 32, listed_item_of_thread = 128;
    constexpr std::uint32_t vector_width = 8;
    const auto n = static_cast<double>(draws.n_items), n_draws = static_cast<double>(draws.n_draws());
    double rows = 0, listed = 0;
    std::uint32_t widest = 0;
    for (std::size_t t = 0; t < draws.n_draws(); ++t) {
        const auto sizes = cluster_sizes(draws.draw(t));
        widest = std::max(widest, static_cast<std::uint32_t>(sizes.size()));
        rows += static_cast<double>(sizes.size()) + (draws.complete ? 0 : 1);
        for (const double size : sizes)
            if (size > 1)
                listed += size * (entry + (size <= SparseRows::max_short ? other * (size - 1) : 0));
    }
    if (state == StateKind::sparse)
        return listed + n * (item + threads * listed_item_of_thread) +
               (draws.complete ? 0 : n * n_draws * (1 + 4.0 * threads));
    const auto columns = std::min(max_clusters, widest) + 1;
    const double needed = n * n_draws * sizeof(Label) + n * (item + threads * item_of_thread);
    if (state == StateKind::matrix)
        return needed + n * n * similarity + threads * n * columns * sum;
    const auto padded = (columns + vector_width - 1) / vector_width * vector_width;
    return needed + threads * rows * padded * cell;
}

} // namespace partita::search
