// Random variates beyond the uniform, written out so that every platform draws the same numbers.
#pragma once

#include <cmath>
#include <span>

#include "random.hpp"

namespace partita {

/// Uniform on (0, 1): safe under a logarithm.
inline double open_uniform(Rng& rng) { return (static_cast<double>(rng() >> 12) + 0.5) * 0x1.0p-52; }

/// Standard normal by the polar method. The second normal of each pair is dropped: the stream is the whole
/// state.
inline double normal(Rng& rng) {
    for (;;) {
        const double u = 2.0 * rng.uniform() - 1.0, v = 2.0 * rng.uniform() - 1.0;
        const double s = u * u + v * v;
        if (s > 0.0 && s < 1.0)
            return u * std::sqrt(-2.0 * std::log(s) / s);
    }
}

/// ln of a Gamma(shape, 1) variate, by Marsaglia & Tsang (2000). A logarithm, so that tiny shapes do not
/// underflow.
inline double log_gamma_variate(Rng& rng, double shape) {
    if (shape < 1.0)
        return log_gamma_variate(rng, shape + 1.0) + std::log(open_uniform(rng)) / shape;
    const double d = shape - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
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
    const double top = x > y ? x : y;
    return x - top - std::log(std::exp(x - top) + std::exp(y - top));
}

/// An index with probability proportional to exp(log_weights); the weights are overwritten.
inline std::size_t categorical(Rng& rng, std::span<double> log_weights) {
    double top = log_weights[0], total = 0.0;
    for (const double w : log_weights)
        top = w > top ? w : top;
    for (double& w : log_weights)
        total += w = std::exp(w - top);
    double left = rng.uniform() * total;
    std::size_t last = 0;
    for (std::size_t k = 0; k < log_weights.size(); ++k) {
        if (log_weights[k] <= 0.0)
            continue;
        last = k;
        if ((left -= log_weights[k]) < 0.0)
            return k;
    }
    return last; // rounding only
}

} // namespace partita
