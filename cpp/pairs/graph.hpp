// Items and the pairs of them that are listed, with what must stay together or apart.
#pragma once

#include <cstdint>
#include <span>

namespace partita::pairs {

inline constexpr std::uint32_t nothing = 0xffffffffu; // no cluster, no source

/// A symmetric graph in rows: the neighbours of item i, none of them i itself, and their probabilities.
struct Graph {
    std::span<const std::int64_t> offsets; // one more than there are items
    std::span<const std::uint32_t> neighbours;
    std::span<const double> probabilities;

    std::size_t n_items() const { return offsets.size() - 1; }
};

/// What every partition must obey. Spans may be empty: then there is nothing of that kind to obey.
struct Constraints {
    std::span<const std::uint32_t> atom;   // items of the same atom are always together
    std::span<const std::int64_t> offsets; // rows of the items that each item must be apart from
    std::span<const std::uint32_t> apart;  // symmetric, as a graph's
    std::span<const std::uint32_t> source; // at most one item of each source in a cluster; or `nothing`
    std::uint32_t max_size = nothing;      // items of a cluster at most; at least those of every atom
};

} // namespace partita::pairs
