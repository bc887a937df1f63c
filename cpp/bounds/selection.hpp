// The least sum of a number of values, of which at least some and at most some must be taken.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace partita::bounds {

/// The value of what is impossible.
constexpr double never = 1e300;

/// Number of the least values to sum up, of which at least `low` and at most `high` must be taken.
inline std::size_t taken(std::size_t negative, std::size_t low, std::size_t high) {
    return std::clamp(negative, low, std::max(low, high));
}

/// The least sum of `low` to `high` of the values, whose order changes; never if there are too few.
inline double least_sum(std::vector<double>& values, std::size_t low, std::size_t high) {
    if (low > values.size())
        return never;
    const auto is_negative = [](double value) { return value < 0; };
    const auto negative = static_cast<std::size_t>(std::count_if(values.begin(), values.end(), is_negative));
    const auto end =
        values.begin() + static_cast<std::ptrdiff_t>(taken(negative, low, std::min(high, values.size())));
    std::nth_element(values.begin(), end, values.end());
    return std::accumulate(values.begin(), end, 0.0);
}

} // namespace partita::bounds
