// The bound at the current multipliers, in double precision over all draws.
#pragma once

#include <algorithm>
#include <numbers>
#include <numeric>
#include <vector>

#include "common/parallel.hpp"
#include "draws/draws.hpp"
#include "proofs/multipliers.hpp"
#include "proofs/rows.hpp"

namespace partita::proofs {

inline constexpr double float_error = 1e-3; // more than the single-precision error of a row
inline constexpr double round_off = 1e-9;   // subtracted from each row

/// The least value of one row, with one tangent per group of draws: any tangent is valid, and the references
/// are optimal for these tangents.
template <class Label>
double certified_row(const Draws<Label>& draws, const Rows& rows, const Kind& kind, std::size_t item,
                     const double* cost, double constant) {
    const auto& weights = rows.weights;
    const auto& groups = rows.members[item].draws;
    const auto* overlap = &rows.overlap[kind.cell(item) * rows.n_groups];
    double fixed = kind.size.intercept + weights.a * rows.own[item] + constant;
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
        q[s] = kind.size.slope + cost[s] - weights.both() * together[kind.items[s]];
    const auto places = fixed_places(kind, item);
    const Row<double> row{q, fixed, places, static_cast<std::size_t>(kind.size.lower),
                          static_cast<std::size_t>(kind.size.upper)};
    std::vector<std::uint32_t> order;
    std::size_t taken = 0;
    return least(row, order, taken);
}

/// The sum over the items of their least values. Every kind's last value is a bound too, up to single
/// precision, if it was found at the current multipliers. So kinds may be skipped, but only those whose last
/// value is above the least certified value: the references have moved since, which may have raised the kinds
/// that looked least. If it is stopped, the sum is of no use.
template <class Label>
double certificate(const Draws<Label>& draws, const Rows& rows, const Multipliers& multipliers,
                   unsigned threads, const common::StopFlag& stop) {
    std::vector<double> min_value(rows.n, never);
    const auto certify = [&](auto&& needs) {
        std::vector<double> cost, constant;
        for (std::size_t k = 0; k < rows.kinds.list.size(); ++k) {
            const auto& kind = rows.kinds.list[k];
            const auto needed = [&](std::uint32_t item) {
                return kind.admits(item) && needs(item, rows.value[kind.cell(item)]);
            };
            if (std::none_of(kind.items.begin(), kind.items.end(), needed))
                continue;
            multipliers.costs(kind, k, cost, constant);
            common::parallel_for(kind.count(), threads, [&](std::size_t s, unsigned) {
                const auto item = kind.items[s];
                if (stop || !needed(item))
                    return;
                const double value =
                    certified_row(draws, rows, kind, item, cost.data() + s * kind.count(), constant[s]);
                min_value[item] = std::min(min_value[item], value - round_off);
            });
        }
    };
    std::vector<double> near(rows.n);
    for (std::size_t i = 0; i < rows.n; ++i)
        near[i] = rows.min_of(i) + 2 * float_error;
    certify([&](std::uint32_t item, double value) { return value <= near[item]; });
    certify([&](std::uint32_t item, double value) {
        return value > near[item] && value - float_error < min_value[item];
    });
    return std::accumulate(min_value.begin(), min_value.end(), 0.0);
}

} // namespace partita::proofs
