// One component as a problem of its own: its items numbered from 0, with the pairs among them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pairs/graph.hpp"
#include "partition/lists.hpp"

namespace partita::pairs {

/// Replaces keys of any size by labels 0, 1, ...: equal keys get equal labels.
template <class Key> std::vector<std::uint32_t> ranked(const std::vector<Key>& keys) {
    auto sorted = keys;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::uint32_t> ranks;
    ranks.reserve(keys.size());
    for (const auto key : keys)
        ranks.push_back(
            static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), key) - sorted.begin()));
    return ranks;
}

struct Local {
    std::vector<std::uint32_t> items; // as the whole graph numbers them
    Lists neighbours;
    std::vector<double> probabilities; // in the order of neighbours.values
    Lists atoms;                       // items that must stay together
    Lists apart;                       // for each item; empty where nothing must be apart
    std::vector<std::uint32_t> source; // for each item; empty where sources do not matter
    std::uint32_t max_size = nothing;  // items of a cluster at most; `nothing` where all fit into one

    std::uint32_t n_items() const { return static_cast<std::uint32_t>(items.size()); }
    bool is_limited() const { return max_size != nothing; }
    /// Calls visit(neighbour, probability) for each neighbour of an item.
    template <class Visit> void each_neighbour(std::uint32_t i, Visit visit) const {
        const auto near = neighbours[i];
        const auto* probability = probabilities.data() + neighbours.offsets[i];
        for (std::size_t e = 0; e < near.size(); ++e)
            visit(near[e], probability[e]);
    }
    /// The atom of each item.
    std::vector<std::uint32_t> atom_of() const {
        std::vector<std::uint32_t> atom(n_items());
        for (std::uint32_t v = 0; v < atoms.size(); ++v)
            for (const auto i : atoms[v])
                atom[i] = v;
        return atom;
    }
    bool is_constrained() const { return apart.size() > 0 || !source.empty() || is_limited(); }
    /// Whether two atoms must be in different clusters.
    bool are_apart(std::uint32_t v, std::uint32_t w) const;
};

/// The problem of some items. `place` is scratch over all items, and is left as it was found: all `nothing`.
Local localise(const Graph& graph, const Constraints& constraints, std::span<const std::uint32_t> items,
               std::vector<std::uint32_t>& place);

} // namespace partita::pairs
