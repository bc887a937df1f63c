// One row of the bound: the least value of a linear function over the sets that contain an item, by size
// class.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace partita::proofs {

/// What the row of an item pays for the size of its cluster: all items of a cluster together pay for the
/// cluster itself.
struct SizeCost {
    double b, per_cluster;
    double operator()(double size) const { return b * std::log2(size) + per_cluster / size; }
};

/// Cluster sizes lower..upper, on which the line intercept + slope * size is nowhere above their cost.
struct SizeClass {
    double lower, upper, slope, intercept;
};

/// The line has the slope of the chord, which it is if the cost is concave.
inline SizeClass size_class(std::size_t lower, std::size_t upper, const SizeCost& cost) {
    const double lo = static_cast<double>(lower), up = static_cast<double>(upper);
    const double slope = upper > lower ? (cost(up) - cost(lo)) / (up - lo) : 0.0;
    double intercept = cost(lo) - slope * lo;
    for (double size = lo + 1; size <= up; ++size)
        intercept = std::min(intercept, cost(size) - slope * size);
    return {lo, up, slope, intercept};
}

inline std::vector<SizeClass> size_classes(std::size_t n, double ratio, const SizeCost& cost) {
    std::vector<SizeClass> classes;
    for (std::size_t lower = 1; lower <= n;) {
        const auto wide = static_cast<std::size_t>(static_cast<double>(lower) * ratio);
        const auto upper = std::min(n, std::max(lower, wide));
        classes.push_back(size_class(lower, upper, cost));
        lower = upper + 1;
    }
    return classes;
}

/// A row of one kind of clusters, linear in x: value = constant + sum_s coefficient[s] x_s, with lower..upper
/// items in total. The items of `fixed` are always included: the row's own item, and the anchor if it is
/// another item.
template <class Real> struct Row {
    std::span<const Real> coefficients;
    double constant;
    std::span<const std::uint32_t> fixed;
    std::size_t lower, upper;
};

/// Its least value; the chosen items, without the fixed ones, go to the front of `order`, their number to
/// `taken`.
template <class Real>
double least(const Row<Real>& row, std::vector<std::uint32_t>& order, std::size_t& taken) {
    const auto& q = row.coefficients;
    const auto is_free = [&](std::uint32_t s) { return s != row.fixed.front() && s != row.fixed.back(); };
    const auto room = [&](std::size_t size) { return size - std::min(size, row.fixed.size()); };
    order.clear();
    for (std::uint32_t s = 0; s < q.size(); ++s)
        if (q[s] < 0 && is_free(s))
            order.push_back(s);
    const auto negative = order.size();
    const auto low = room(row.lower), high = room(row.upper);
    taken = std::clamp(negative, low, high);
    auto by_value = [&](std::uint32_t x, std::uint32_t y) { return q[x] < q[y]; };
    if (negative > high) {
        std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(high), order.end(),
                         by_value);
    } else if (negative < low) {
        for (std::uint32_t s = 0; s < q.size(); ++s)
            if (!(q[s] < 0) && is_free(s))
                order.push_back(s);
        taken = std::min(taken, order.size());
        if (low < order.size())
            std::nth_element(order.begin() + static_cast<std::ptrdiff_t>(negative),
                             order.begin() + static_cast<std::ptrdiff_t>(low), order.end(), by_value);
    }
    double value = row.constant;
    for (const auto s : row.fixed)
        value += static_cast<double>(q[s]);
    for (std::size_t s = 0; s < taken; ++s)
        value += static_cast<double>(q[order[s]]);
    return value;
}

/// max over integers m >= 1 of log2 m - p m, at p = log2(e) / v; attained next to v.
inline double conjugate(double v, double p, std::span<const double> log2_table) {
    const auto below = std::max<std::size_t>(1, static_cast<std::size_t>(v));
    const auto above = std::min(below + 1, log2_table.size() - 1);
    const auto at = [&](std::size_t m) { return log2_table[m] - p * static_cast<double>(m); };
    return std::max(at(below), at(above));
}

} // namespace partita::proofs
