// Pair probabilities and constraints as Python gives them, held while the core works on them.
#pragma once

#include <optional>
#include <span>

#include "bindings/common/arrays.hpp"
#include "pairs/graph.hpp"

namespace pairs = partita::pairs;

/// (offsets, neighbours, probabilities)
struct GraphArrays {
    Array1<std::int64_t> offsets;
    Array1<std::uint32_t> neighbours;
    Array1<double> probabilities;

    pairs::Graph view() const { return {as_span(offsets), as_span(neighbours), as_span(probabilities)}; }
};

struct ConstraintArrays {
    std::optional<Array1<std::uint32_t>> atom;
    std::optional<Array1<std::int64_t>> offsets;
    std::optional<Array1<std::uint32_t>> apart, source;
    std::uint32_t max_size;

    template <class T> static std::span<const T> view_of(const std::optional<Array1<T>>& array) {
        return array ? as_span(*array) : std::span<const T>{};
    }
    pairs::Constraints view() const {
        return {view_of(atom), view_of(offsets), view_of(apart), view_of(source), max_size};
    }
};
