// Which two items a split-merge proposal is about.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "common/random.hpp"
#include "mixtures/mixture_family.hpp"

namespace partita::models {

/// How often a pair of items is chosen. A split takes any cluster of two items or more and two of its items,
/// a merge takes any two clusters and an item of each: the probability of repairing a cluster falls with the
/// number of clusters only, not with that of the items.
struct PairChoice {
    std::size_t clusters, splittable; // all of them, and those of two items or more

    double split_share() const { return splittable == 0 ? 0.0 : clusters < 2 ? 1.0 : 0.5; }

    /// ln of the probability of a pair whose clusters are merged again, over that of the pair when its
    /// cluster is split. `this` is the partition with the two together.
    double log_return(double size_one, double size_other) const {
        const auto large = [](double size) { return size >= 2.0 ? 1u : 0u; };
        const PairChoice apart{clusters + 1, splittable - 1 + large(size_one) + large(size_other)};
        const double t = static_cast<double>(clusters), m = size_one + size_other;
        return std::log((1.0 - apart.split_share()) / split_share()) + std::log(m * (m - 1.0)) +
               std::log(static_cast<double>(splittable)) - std::log(t * (t + 1.0) * size_one * size_other);
    }
};

/// The choice in the partition of a family, whose clusters are in its first slots.
template <MixtureFamily Family> PairChoice pair_choice(const Family& family, std::size_t slots) {
    PairChoice now{0, 0};
    for (std::size_t slot = 0; slot < slots; ++slot) {
        now.clusters += family.size(slot) >= 1;
        now.splittable += family.size(slot) >= 2;
    }
    return now;
}

/// The slot of this rank among those with at least this many items.
template <MixtureFamily Family>
std::uint32_t slot_of_rank(const Family& family, std::uint64_t rank, std::uint32_t min_size) {
    for (std::uint32_t slot = 0;; ++slot)
        if (family.size(slot) >= min_size && rank-- == 0)
            return slot;
}

inline std::uint32_t member_of_rank(std::span<const std::uint32_t> labels, std::uint32_t slot,
                                    std::uint64_t rank) {
    for (std::uint32_t item = 0;; ++item)
        if (labels[item] == slot && rank-- == 0)
            return item;
}

/// Two items of a cluster, or one of each of two clusters.
template <MixtureFamily Family>
std::pair<std::uint32_t, std::uint32_t> choose_pair(const Family& family, PairChoice now,
                                                    std::span<const std::uint32_t> labels, common::Rng& rng) {
    if (rng.uniform() < now.split_share()) {
        const auto slot = slot_of_rank(family, rng.below(now.splittable), 2);
        const auto [one, other] = rng.two_below(family.size(slot));
        return {member_of_rank(labels, slot, one), member_of_rank(labels, slot, other)};
    }
    const auto [one, other] = rng.two_below(now.clusters);
    const auto from = slot_of_rank(family, one, 1), to = slot_of_rank(family, other, 1);
    const auto rank = rng.below(family.size(from));
    return {member_of_rank(labels, from, rank), member_of_rank(labels, to, rng.below(family.size(to)))};
}

} // namespace partita::models
