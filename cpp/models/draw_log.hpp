// A draw from probabilities that are known by their logarithms.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "random.hpp"

namespace partita {

/// Index k with probability ∝ exp(logs[k] / heat); the logarithms are used up.
inline std::size_t draw_log(std::vector<double>& logs, double heat, Rng& rng) {
    const double top = *std::max_element(logs.begin(), logs.end());
    double sum = 0.0;
    for (auto& value : logs) {
        const double below = (value - top) / heat;
        sum += below > -40 ? std::exp(below) : 0.0; // below, less than rounding
        value = sum;
    }
    const double at = rng.uniform() * sum;
    std::size_t k = 0;
    while (k + 1 < logs.size() && logs[k] <= at)
        ++k;
    return k;
}

} // namespace partita
