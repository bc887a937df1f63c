// A sample of partitions, as used by the core.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

namespace partita {

/// The label of an item that a draw does not label: all bits set, so that it equals a signed -1.
template <class Label> inline constexpr Label gap = std::numeric_limits<Label>::max();

/// Says MACRO(Label) for every type that labels are stored in, to instantiate what is compiled once.
#define PARTITA_FOR_EACH_LABEL(MACRO) MACRO(std::uint8_t) MACRO(std::uint16_t) MACRO(std::uint32_t)

/// Whether draws with a common cluster share its row in a search (draws/distinct_clusters.hpp); possible
/// only for linear losses on draws without missing labels.
enum class Sharing { never, where_it_pays, always };

/// Distinct draws, canonical labels in the smallest unsigned type, draw after draw; weights sum to 1.
template <class Label> struct Draws {
    std::span<const Label> labels;
    std::span<const double> weights;
    std::size_t n_items;
    std::span<const std::uint32_t> copies = {}; // number of equal items that each item represents; empty: one
    Sharing sharing = Sharing::where_it_pays;
    bool complete = false; // known to label every item

    std::size_t n_draws() const { return weights.size(); }
    /// Number of items, including copies.
    std::size_t n_total() const {
        return copies.empty() ? n_items : std::accumulate(copies.begin(), copies.end(), std::size_t{0});
    }
    std::span<const Label> draw(std::size_t t) const { return labels.subspan(t * n_items, n_items); }
};

/// One more than the largest label of a canonical partition; missing labels do not count, because one more
/// than their value is zero.
template <class Label> std::uint32_t count_clusters(std::span<const Label> labels) {
    std::remove_const_t<Label> clusters = 0;
    for (const auto label : labels)
        clusters = std::max(clusters, static_cast<std::remove_const_t<Label>>(label + 1));
    return static_cast<std::uint32_t>(clusters);
}

/// The number of items in each cluster; missing labels do not count.
template <class Label> std::vector<std::uint32_t> cluster_sizes(std::span<const Label> labels) {
    std::vector<std::uint32_t> sizes(count_clusters(labels));
    for (const auto label : labels)
        if (label != gap<std::remove_const_t<Label>>)
            ++sizes[label];
    return sizes;
}

} // namespace partita
