#include "pairs/local.hpp"

#include <algorithm>

#include "partition/first_appearance.hpp"

namespace partita::pairs {

Lists grouped(std::span<const std::uint32_t> labels) {
    common::FirstAppearance number(labels.empty() ? 0 : *std::max_element(labels.begin(), labels.end()) + 1);
    std::vector<std::uint32_t> count;
    for (const auto label : labels) {
        const auto group = number(label);
        if (group == count.size())
            count.push_back(0);
        ++count[group];
    }
    Lists groups;
    for (const auto size : count)
        groups.offsets.push_back(groups.offsets.back() + size);
    groups.values.resize(labels.size());
    auto next = groups.offsets;
    for (std::uint32_t i = 0; i < labels.size(); ++i)
        groups.values[next[number(labels[i])]++] = i;
    return groups;
}

namespace {

Lists atoms_of(const Constraints& constraints, std::span<const std::uint32_t> items) {
    std::vector<std::uint32_t> own;
    own.reserve(items.size());
    for (const auto item : items)
        own.push_back(constraints.atom.empty() ? item : constraints.atom[item]);
    return grouped(ranked(own));
}

} // namespace

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
