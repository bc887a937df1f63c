// Random variates beyond the uniform, written out so that every platform draws the same numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "common/random.hpp"

namespace partita::common {

/// Uniform on (0, 1): its logarithm is finite.
inline double open_uniform(Rng& rng) { return (static_cast<double>(rng() >> 12) + 0.5) * 0x1.0p-52; }

/// Standard normal by the polar method. The second normal of each pair is dropped, so that the stream is the
/// only state.
inline double normal(Rng& rng) {
    for (;;) {
        const double u = 2.0 * rng.uniform() - 1.0, v = 2.0 * rng.uniform() - 1.0;
        const double s = u * u + v * v;
        if (s > 0.0 && s < 1.0)
            return u * std::sqrt(-2.0 * std::log(s) / s);
    }
}

/// ln of a Gamma(shape, 1) variate, by Marsaglia & Tsang (2000). The logarithm does not underflow for tiny
/// shapes.
inline double log_gamma_variate(Rng& rng, double shape) {
    if (shape < 1.0)
        return log_gamma_variate(rng, shape + 1.0) + std::log(open_uniform(rng)) / shape;
    const double d = shape - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
    // Above this shape the test below rejects one proposal in 10^11, which is below its rounding error.
    constexpr double large = 1e10;
    if (d > large)
        return std::log(d) + 3.0 * std::log1p(c * normal(rng));
    for (;;) {
        const double x = normal(rng), root = 1.0 + c * x;
        if (root <= 0.0)
            continue;
        const double v = root * root * root;
        if (std::log(open_uniform(rng)) < 0.5 * x * x + d - d * v + d * std::log(v))
            return std::log(d) + std::log(v);
    }
}

/// Gamma with this shape and rate; mean shape / rate.
inline double gamma(Rng& rng, double shape, double rate) {
    return std::exp(log_gamma_variate(rng, shape)) / rate;
}

/// ln of a Beta(a, b) variate.
inline double log_beta_variate(Rng& rng, double a, double b) {
    const double x = log_gamma_variate(rng, a), y = log_gamma_variate(rng, b);
    if (y - x < -30.0)
        return -std::exp(y - x); // 1 + e^(y - x) would round to 1
    const double top = x > y ? x : y;
    return x - top - std::log(std::exp(x - top) + std::exp(y - top));
}

/// Index k with probability ∝ exp(logs[k] / heat); the logarithms are overwritten.
inline std::size_t draw_from_logs(Rng& rng, std::span<double> logs, double heat = 1.0) {
    constexpr double lost = -40.0; // e^-40 beside 1 is less than rounding
    const double top = *std::max_element(logs.begin(), logs.end());
    double sum = 0.0;
    std::size_t last = 0;
    for (std::size_t k = 0; k < logs.size(); ++k) {
        const double below = (logs[k] - top) / heat;
        if (below > lost)
            sum += std::exp(below), last = k;
        logs[k] = sum;
    }
    const double at = rng.uniform() * sum;
    for (std::size_t k = 0; k < last; ++k)
        if (at < logs[k])
            return k;
    return last;
}

} // namespace partita::common
