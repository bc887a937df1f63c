#include "pairs/local.hpp"

namespace partita::pairs {

namespace {

Lists atoms_of(const Constraints& constraints, std::span<const std::uint32_t> items) {
    std::vector<std::uint32_t> own;
    own.reserve(items.size());
    for (const auto item : items)
        own.push_back(constraints.atom.empty() ? item : constraints.atom[item]);
    return grouped(ranked(own));
}

} // namespace

bool Local::are_apart(std::uint32_t v, std::uint32_t w) const {
    for (const auto i : atoms[v]) {
        if (apart.size() > 0)
            for (const auto j : apart[i])
                if (std::ranges::binary_search(atoms[w], j))
                    return true;
        if (!source.empty() && source[i] != nothing)
            for (const auto j : atoms[w])
                if (source[j] == source[i])
                    return true;
    }
    return false;
}

Local localise(const Graph& graph, const Constraints& constraints, std::span<const std::uint32_t> items,
               std::vector<std::uint32_t>& place) {
    Local local;
    local.items.assign(items.begin(), items.end());
    for (std::uint32_t i = 0; i < items.size(); ++i)
        place[items[i]] = i;
    for (const auto item : items) {
        for (auto e = graph.offsets[item]; e < graph.offsets[item + 1]; ++e)
            if (const auto other = place[graph.neighbours[e]]; other != nothing) {
                local.neighbours.values.push_back(other);
                local.probabilities.push_back(graph.probabilities[e]);
            }
        local.neighbours.close();
    }
    if (!constraints.offsets.empty())
        for (const auto item : items) {
            for (auto e = constraints.offsets[item]; e < constraints.offsets[item + 1]; ++e)
                if (const auto other = place[constraints.apart[e]]; other != nothing)
                    local.apart.values.push_back(other);
            local.apart.close();
        }
    if (!constraints.source.empty())
        for (const auto item : items)
            local.source.push_back(constraints.source[item]);
    local.atoms = atoms_of(constraints, items);
    local.max_size = items.size() > constraints.max_size ? constraints.max_size : nothing;
    for (const auto item : items)
        place[item] = nothing;
    return local;
}

} // namespace partita::pairs
