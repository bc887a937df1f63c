// Draws as starts of a search.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "common/random.hpp"
#include "draws/draws.hpp"
#include "draws/state.hpp"
#include "partition/labels.hpp"

namespace partita::search {

/// The labels of a random draw, items in no cluster where the draw has a gap.
using RandomDraw = std::function<std::vector<std::uint32_t>(common::Rng&)>;

template <class Label> std::vector<std::uint32_t> draw_labels(const Draws<Label>& draws, std::size_t t) {
    const auto row = draws.draw(t);
    std::vector<std::uint32_t> labels(row.size());
    std::transform(row.begin(), row.end(), labels.begin(), [](Label label) {
        return label == gap<Label> ? no_cluster : static_cast<std::uint32_t>(label);
    });
    return labels;
}

} // namespace partita::search
