// Components: sets of items that no best partition joins, because no pair across gains by being together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pairs/local.hpp"

namespace partita::pairs {

struct Components {
    std::vector<std::uint32_t> of_item; // by first appearance
    Lists items;                        // of each component

    std::uint32_t size() const { return items.size(); }
    std::span<const std::uint32_t> operator[](std::size_t c) const { return items[c]; }
};

/// Joined by pairs of more than this probability that may be together, and by what must be.
Components find_components(const Graph& graph, double above, const Constraints& constraints);

} // namespace partita::pairs
