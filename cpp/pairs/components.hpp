// Components: sets of items that no best partition joins, because no pair across gains by being together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pairs/graph.hpp"
#include "pairs/objective.hpp"

namespace partita::pairs {

struct Components {
    std::vector<std::uint32_t> of_item; // by first appearance
    std::vector<std::uint32_t> items;   // component after component
    std::vector<std::uint32_t> offsets; // of each in `items`

    std::uint32_t size() const { return static_cast<std::uint32_t>(offsets.size() - 1); }
    std::span<const std::uint32_t> operator[](std::size_t c) const {
        return {items.data() + offsets[c], items.data() + offsets[c + 1]};
    }
};

/// Joined by pairs above the threshold that may be together, and by what must be.
Components find_components(const Graph& graph, const Threshold& objective, const Constraints& constraints);
/// Joined by pairs of any probability above 0.
Components find_components(const Graph& graph, const LogMass& objective, const Constraints& constraints);

} // namespace partita::pairs
