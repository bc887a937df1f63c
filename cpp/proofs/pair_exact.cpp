#include "proofs/pair_exact.hpp"

#include <bit>
#include <limits>

#include "partition/small_exact.hpp"
#include "proofs/atom_costs.hpp"

namespace partita::pairs {

namespace {

using Set = std::uint32_t; // of atoms, as bits
using Costs = std::vector<double>;
constexpr double forbidden = std::numeric_limits<double>::infinity();

Set lowest(Set set) { return set & (0 - set); }
std::uint32_t index_of(Set one) { return static_cast<std::uint32_t>(std::countr_zero(one)); }

/// Marks the sets that hold two atoms that must be apart, or more items than a cluster may have.
void forbid(Costs& costs, const Local& local) {
    const auto n = local.atoms.size();
    std::vector<Set> apart(n);
    for (std::uint32_t v = 0; v < n; ++v)
        for (std::uint32_t w = 0; w < n; ++w)
            if (v != w && local.are_apart(v, w))
                apart[v] |= Set{1} << w;
    std::vector<std::size_t> sizes(costs.size());
    for (Set set = 1; set < costs.size(); ++set) {
        const auto first = index_of(lowest(set));
        const auto rest = set & (set - 1);
        sizes[set] = sizes[rest] + local.atoms[first].size();
        if ((apart[first] & rest) != 0 || sizes[set] > local.max_size || costs[rest] == forbidden)
            costs[set] = forbidden;
    }
}

/// The cost of each set of atoms as one cluster.
Costs costs_of(const Local& local, const Threshold& objective) {
    const AtomCosts of_atoms(local, objective);
    const std::size_t n = local.atoms.size();
    std::vector<double> between(n * n); // on the diagonal, of one alone
    for (std::uint32_t v = 0; v < n; ++v)
        for (std::uint32_t w = 0; w < n; ++w)
            between[v * n + w] = v == w ? of_atoms.within(v) : of_atoms.cost(v, w);
    Costs costs(std::size_t{1} << n);
    for (Set set = 1; set < costs.size(); ++set) {
        const auto first = index_of(lowest(set));
        const auto rest = set & (set - 1);
        costs[set] = costs[rest] + between[first * n + first];
        for (Set others = rest; others != 0; others &= others - 1)
            costs[set] += between[first * n + index_of(lowest(others))];
    }
    return costs;
}

Costs costs_of(const Local& local, const LogMass& objective) {
    const std::size_t n = local.atoms.size();
    const auto atom = local.atom_of();
    std::vector<double> masses(local.n_items() * n); // of each item with each atom
    for (std::uint32_t i = 0; i < local.n_items(); ++i)
        local.each_neighbour(i, [&](std::uint32_t j, double p) { masses[i * n + atom[j]] += p; });
    Costs costs(std::size_t{1} << n);
    for (Set set = 1; set < costs.size(); ++set) {
        double size = 0, gain = 0;
        for (Set own = set; own != 0; own &= own - 1)
            for (const auto i : local.atoms[index_of(lowest(own))]) {
                double mass = 0;
                for (Set others = set; others != 0; others &= others - 1)
                    mass += masses[i * n + index_of(lowest(others))];
                gain += objective.of_mass(mass);
                ++size;
            }
        costs[set] = objective.of_size(size) - gain;
    }
    return costs;
}

template <class Objective> std::vector<std::uint32_t> solve(const Local& local, const Objective& objective) {
    auto costs = costs_of(local, objective);
    if (local.is_constrained())
        forbid(costs, local);
    std::vector<std::uint32_t> labels(local.n_items());
    std::uint32_t number = 0;
    for (const auto cluster : SmallExact(costs, true).clusters()) {
        for (Set own = cluster; own != 0; own &= own - 1)
            for (const auto i : local.atoms[index_of(lowest(own))])
                labels[i] = number;
        ++number;
    }
    return labels;
}

} // namespace

std::vector<std::uint32_t> best_partition(const Local& local, const Threshold& objective) {
    return solve(local, objective);
}

std::vector<std::uint32_t> best_partition(const Local& local, const LogMass& objective) {
    return solve(local, objective);
}

} // namespace partita::pairs
