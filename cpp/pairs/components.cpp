#include "pairs/components.hpp"

#include <algorithm>
#include <utility>

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

} // namespace

Components find_components(const Graph& graph, double above, const Constraints& constraints) {
    search::UnionFind sets(graph.n_items());
    for (std::uint32_t i = 0; i < graph.n_items(); ++i)
        for (auto e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
            const auto j = graph.neighbours[e];
            if (j > i && graph.probabilities[e] > above && !must_be_apart(constraints, i, j))
                sets.join(i, j);
        }
    sets.join_alike(constraints.atom, constraints.atom.size());
    auto of_item = sets.numbers();
    auto items = grouped(of_item);
    return {std::move(of_item), std::move(items)};
}

} // namespace partita::pairs
