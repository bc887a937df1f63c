// Partitions for a climb to start from, random or made of two others. Items lie on one or two sides,
// whose clusters are numbered apart: the rows and columns of a bipartite network.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/random.hpp"
#include "partition/first_appearance.hpp"
#include "partition/labels.hpp"
#include "partition/meet.hpp"
#include "partition/policy.hpp"

namespace partita::models {

/// Items that are `n_rows` rows and then columns, such as the nodes of a network.
template <class S>
concept Sided = requires(const S& sides, std::size_t i) {
    { sides.side(i) } -> std::convertible_to<std::size_t>;
    { sides.n_rows } -> std::convertible_to<std::size_t>;
    { sides.n_nodes } -> std::convertible_to<std::size_t>;
};

/// Items that are all alike.
struct OneSide {
    std::size_t n_nodes, n_rows = n_nodes;

    std::size_t side(std::size_t) const { return 0; }
};

/// A random partition, labels apart on each side.
template <Sided Sides>
std::vector<std::uint32_t> random_labels(const Sides& sides, std::size_t clusters,
                                         const std::size_t (&max_clusters)[2], common::Rng& rng) {
    std::vector<std::uint32_t> labels(sides.n_nodes);
    for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i] = static_cast<std::uint32_t>(rng.below(std::min(clusters, max_clusters[sides.side(i)])));
    return labels;
}

/// Labels of which the `most` largest are kept, from 0 on; the items of all others are together.
inline std::vector<std::uint32_t> largest_clusters(std::vector<std::uint32_t> labels, std::size_t most) {
    return *std::max_element(labels.begin(), labels.end()) < most
               ? labels
               : keep_largest(std::move(labels), most, static_cast<std::uint32_t>(most));
}

/// Some of the items go to the cluster of some other item of their side.
template <Sided Sides>
std::vector<std::uint32_t> shaken(const Sides& sides, std::span<const std::uint32_t> labels,
                                  common::Rng& rng) {
    std::vector<std::uint32_t> result(labels.begin(), labels.end());
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (rng.below(policy::shake_one_in) == 0) {
            const std::size_t first = sides.side(i) == 0 ? 0 : sides.n_rows;
            const std::size_t count = sides.side(i) == 0 ? sides.n_rows : sides.n_nodes - sides.n_rows;
            result[i] = labels[first + rng.below(count)];
        }
    return result;
}

/// The meet of two partitions x and y on each side. If it has more than `most` parts, the smallest join the
/// largest part of their cluster of x.
template <Sided Sides>
std::vector<std::uint32_t> meet_of_sides(const Sides& sides, std::span<const std::uint32_t> x,
                                         std::span<const std::uint32_t> y, std::size_t most) {
    const auto height = *std::max_element(x.begin(), x.end()) + 1;
    std::vector<std::uint32_t> own(x.begin(), x.end()); // clusters of x, the sides apart
    for (std::size_t i = 0; i < own.size(); ++i)
        own[i] += sides.side(i) == 0 ? 0 : height;
    auto labels = meet(own, y);
    const auto ranks = size_ranks(labels);
    if (ranks.size() > most) {
        std::vector<std::uint32_t> largest(std::size_t{2} * height, no_cluster);
        for (std::size_t i = 0; i < labels.size(); ++i)
            if (auto& part = largest[own[i]]; part == no_cluster || ranks[labels[i]] < ranks[part])
                part = labels[i];
        for (std::size_t i = 0; i < labels.size(); ++i)
            if (ranks[labels[i]] >= most)
                labels[i] = largest[own[i]];
    }
    common::FirstAppearance name[2] = {common::FirstAppearance(ranks.size()),
                                       common::FirstAppearance(ranks.size())};
    for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i] = name[sides.side(i)](labels[i]);
    return labels;
}

} // namespace partita::models
