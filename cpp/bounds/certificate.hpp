// The bound at the present multipliers, in double precision over all draws.
#pragma once

#include <numbers>
#include <numeric>
#include <vector>

#include "bounds/multipliers.hpp"
#include "bounds/rows.hpp"
#include "draws.hpp"
#include "parallel.hpp"

namespace partita::bounds {

inline constexpr double float_error = 1e-3; // more than single precision can spoil in a row
inline constexpr double round_off = 1e-9;   // taken off each row

/// The least value of one row. A tangent for each group of draws: any tangent is valid, and the references
/// are the best ones for these.
template <class Label>
double certified_row(const Draws<Label>& draws, const Rows& rows, const Kind& kind, std::size_t item,
                     const double* cost, double constant) {
    const auto& weights = rows.weights;
    const auto& groups = rows.members[item].draws;
    const auto* overlap = &rows.overlap[kind.cell(item) * rows.n_groups];
    double fixed = weights.b * kind.size.intercept + weights.a * rows.own[item] + constant;
    std::vector<double> together(rows.n, 0.0), q(kind.count());
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const double v = std::max(1.0, static_cast<double>(overlap[g])), p = std::numbers::log2e / v;
        const double top = conjugate(v, p, rows.log2_table);
        for (const auto h : groups[g]) {
            const auto row = draws.draw(h);
            fixed -= weights.both() * draws.weights[h] * top;
            add_where(row.data(), row[item], p * draws.weights[h], rows.n, together.data());
        }
    }
    for (std::size_t s = 0; s < kind.count(); ++s)
        q[s] = weights.b * kind.size.slope + cost[s] - weights.both() * together[kind.items[s]];
    const auto places = fixed_places(kind, item);
    const Row<double> row{q, fixed, places, static_cast<std::size_t>(kind.size.lower),
                          static_cast<std::size_t>(kind.size.upper)};
    std::vector<std::uint32_t> order;
    std::size_t taken = 0;
    return least(row, order, taken);
}

/// The sum over the items of their least values. Kinds whose last value is far above an item's least are left
/// out: that value is a bound too, up to single precision.
template <class Label>
double certificate(const Draws<Label>& draws, const Rows& rows, const Multipliers& multipliers,
                   unsigned threads) {
    std::vector<double> least_value(rows.n, never);
    std::vector<double> cost, constant;
    for (std::size_t k = 0; k < rows.kinds.list.size(); ++k) {
        const auto& kind = rows.kinds.list[k];
        multipliers.costs(kind, k, cost, constant);
        parallel_for(kind.count(), threads, [&](std::size_t s, unsigned) {
            const auto item = kind.items[s];
            if (!kind.admits(item) || rows.value[kind.cell(item)] > rows.least_of(item) + 2 * float_error)
                return;
            const double value =
                certified_row(draws, rows, kind, item, cost.data() + s * kind.count(), constant[s]);
            least_value[item] = std::min(least_value[item], value - round_off);
        });
    }
    return std::accumulate(least_value.begin(), least_value.end(), 0.0);
}

} // namespace partita::bounds
