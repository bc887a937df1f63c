#include "pairs/components.hpp"

#include <algorithm>
#include <numeric>

#include "common/union_find.hpp"

namespace partita::pairs {

namespace {

bool must_be_apart(const Constraints& constraints, std::uint32_t i, std::uint32_t j) {
    if (!constraints.source.empty() && constraints.source[i] != nothing &&
        constraints.source[i] == constraints.source[j])
        return true;
    if (constraints.offsets.empty())
        return false;
    const auto* begin = constraints.apart.data() + constraints.offsets[i];
    const auto* end = constraints.apart.data() + constraints.offsets[i + 1];
    return std::find(begin, end, j) != end;
}

Components numbered(search::UnionFind& sets, std::size_t n) {
    Components found;
    found.of_item.resize(n);
    found.offsets.push_back(0);
    for (std::uint32_t i = 0; i < n; ++i) {
        const auto leader = sets.find(i);
        if (leader == i) {
            found.of_item[i] = found.size();
            found.offsets.push_back(0);
        } else {
            found.of_item[i] = found.of_item[leader];
        }
        ++found.offsets[found.of_item[i] + 1];
    }
    std::partial_sum(found.offsets.begin(), found.offsets.end(), found.offsets.begin());
    found.items.resize(n);
    auto next = found.offsets;
    for (std::uint32_t i = 0; i < n; ++i)
        found.items[next[found.of_item[i]]++] = i;
    return found;
}

Components components_above(const Graph& graph, double threshold, const Constraints& constraints) {
    search::UnionFind sets(graph.n_items());
    for (std::uint32_t i = 0; i < graph.n_items(); ++i)
        for (auto e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
            const auto j = graph.neighbours[e];
            if (j > i && graph.probabilities[e] > threshold && !must_be_apart(constraints, i, j))
                sets.join(i, j);
        }
    std::vector<std::uint32_t> first(constraints.atom.size(), nothing);
    for (std::uint32_t i = 0; i < constraints.atom.size(); ++i) {
        auto& leader = first[constraints.atom[i]];
        leader = leader == nothing ? i : leader;
        sets.join(leader, i);
    }
    return numbered(sets, graph.n_items());
}

} // namespace

Components find_components(const Graph& graph, const Threshold& objective, const Constraints& constraints) {
    return components_above(graph, objective.threshold, constraints);
}

Components find_components(const Graph& graph, const LogMass&, const Constraints& constraints) {
    return components_above(graph, 0.0, constraints);
}

} // namespace partita::pairs
