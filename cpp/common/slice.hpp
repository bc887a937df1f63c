// Slice sampling of one positive number (Neal 2003): no step size to choose, no rejection rate to monitor.
#pragma once

#include <cmath>

#include "common/random.hpp"

namespace partita::common {

/// One step that leaves exp(log_density) on x > 0 invariant: a slice on log x, stepping out, then shrinking.
template <class LogDensity> double slice_draw(double x, LogDensity log_density, Rng& rng) {
    const auto height = [&](double t) { return log_density(std::exp(t)) + t; };
    constexpr double width = 1.0, reach = 30.0; // keeps |log x| where exp is far from overflow and underflow
    const double start = std::log(x);
    const double level = height(start) + std::log1p(-rng.uniform());
    double low = start - width * rng.uniform(), high = low + width;
    while (low > -reach && height(low) > level)
        low -= width;
    while (high < reach && height(high) > level)
        high += width;
    for (;;) {
        const double t = low + (high - low) * rng.uniform();
        if (height(t) > level)
            return std::exp(t);
        (t < start ? low : high) = t;
        if (high - low < 1e-12)
            return x;
    }
}

} // namespace partita::common
