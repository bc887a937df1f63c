// Partitions for a climb to start from, random or made of two others. Items lie on one or two sides,
// whose clusters are numbered apart: the rows and columns of a bipartite network.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "common/random.hpp"
#include "partition/first_appearance.hpp"
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
    std::vector<std::size_t> size(*std::max_element(labels.begin(), labels.end()) + std::size_t{1}, 0);
    for (const auto label : labels)
        size[label] += 1;
    if (size.size() <= most)
        return labels;
    std::vector<std::uint32_t> order(size.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return size[a] > size[b]; });
    std::vector<std::uint32_t> name(size.size(), static_cast<std::uint32_t>(most));
    for (std::size_t at = 0; at < most; ++at)
        name[order[at]] = static_cast<std::uint32_t>(at);
    for (auto& label : labels)
        label = name[label];
    return labels;
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

/// The coarsest common refinement of two partitions x and y on each side: what both hold together stays
/// together. If it has more than `most` parts, the smallest join the largest part of their cluster of x.
template <Sided Sides> class Meet {
public:
    Meet(const Sides& sides, std::span<const std::uint32_t> x, std::span<const std::uint32_t> y)
        : sides_(sides), x_(x), labels_(x.size()) {
        const std::size_t width = *std::max_element(y.begin(), y.end()) + std::size_t{1};
        const std::size_t height = *std::max_element(x.begin(), x.end()) + std::size_t{1};
        common::FirstAppearance name(2 * width * height); // the sides apart, so that a part is of one side
        for (std::size_t i = 0; i < x.size(); ++i)
            labels_[i] = name(sides.side(i) * width * height + x[i] * width + y[i]);
        size_.assign(name.n_names(), 0);
        for (const auto label : labels_)
            size_[label] += 1;
    }

    std::vector<std::uint32_t> labels(std::size_t most) {
        if (size_.size() > most)
            join_smallest(most);
        common::FirstAppearance name[2] = {common::FirstAppearance(size_.size()),
                                           common::FirstAppearance(size_.size())};
        for (std::size_t i = 0; i < labels_.size(); ++i)
            labels_[i] = name[sides_.side(i)](labels_[i]);
        return std::move(labels_);
    }

private:
    void join_smallest(std::size_t most) {
        std::vector<std::uint32_t> order(size_.size());
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return size_[a] > size_[b]; });
        std::vector<std::size_t> place(order.size());
        for (std::size_t at = 0; at < order.size(); ++at)
            place[order[at]] = at;
        const auto largest = first_of_each_cluster(place);
        for (std::size_t i = 0; i < labels_.size(); ++i)
            if (place[labels_[i]] >= most)
                labels_[i] = largest[key(i)];
    }

    /// The first part of each cluster of x in the order of `place`.
    std::vector<std::uint32_t> first_of_each_cluster(const std::vector<std::size_t>& place) const {
        std::vector<std::uint32_t> best(2 * (*std::max_element(x_.begin(), x_.end()) + std::size_t{1}), none);
        for (std::size_t i = 0; i < labels_.size(); ++i)
            if (auto& part = best[key(i)]; part == none || place[labels_[i]] < place[part])
                part = labels_[i];
        return best;
    }

    std::size_t key(std::size_t node) const { return 2 * std::size_t{x_[node]} + sides_.side(node); }

    static constexpr std::uint32_t none = ~std::uint32_t{0};
    const Sides& sides_;
    std::span<const std::uint32_t> x_;
    std::vector<std::uint32_t> labels_;
    std::vector<std::size_t> size_;
};

} // namespace partita::models
