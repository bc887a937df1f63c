// The meet of two partitions, which every crossing begins with, and the largest clusters of a partition.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <unordered_map>
#include <vector>

namespace partita {

/// The coarsest common refinement: items that both partitions hold together have the same label, 0, 1, ... in
/// order of first appearance.
inline std::vector<std::uint32_t> meet(std::span<const std::uint32_t> x, std::span<const std::uint32_t> y) {
    std::vector<std::uint32_t> labels(x.size());
    std::unordered_map<std::uint64_t, std::uint32_t> parts; // by their clusters in x and in y
    for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i] =
            parts.try_emplace(std::uint64_t{x[i]} << 32 | y[i], static_cast<std::uint32_t>(parts.size()))
                .first->second;
    return labels;
}

/// The rank of each cluster by its size, the largest first.
inline std::vector<std::uint32_t> size_ranks(std::span<const std::uint32_t> labels) {
    std::vector<std::uint32_t> sizes(*std::max_element(labels.begin(), labels.end()) + std::size_t{1});
    for (const auto label : labels)
        ++sizes[label];
    std::vector<std::uint32_t> order(sizes.size()), ranks(sizes.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](auto k, auto l) { return sizes[k] > sizes[l]; });
    for (std::uint32_t rank = 0; rank < order.size(); ++rank)
        ranks[order[rank]] = rank;
    return ranks;
}

/// Labels of which the `most` largest are kept, named by their ranks; the items of all others have the label
/// `other`.
inline std::vector<std::uint32_t> keep_largest(std::vector<std::uint32_t> labels, std::size_t most,
                                               std::uint32_t other) {
    const auto ranks = size_ranks(labels);
    for (auto& label : labels)
        label = ranks[label] < most ? ranks[label] : other;
    return labels;
}

} // namespace partita
