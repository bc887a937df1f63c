// The concentration of a Dirichlet process or distribution: known, or drawn with the rest.
#pragma once

#include <algorithm>
#include <cstddef>

#include "common/random.hpp"
#include "common/variates.hpp"

namespace partita::common {

struct FixedConcentration {
    double value = 1.0;
};

/// Gamma(shape, rate) prior; a chain starts at `start`.
struct GammaConcentration {
    double shape, rate;
    double start = 1.0;
};

inline double first_value(const FixedConcentration& fixed) { return fixed.value; }
inline double first_value(const GammaConcentration& gamma) { return gamma.start; }

/// The concentration of a Pitman-Yor process given t clusters of n items, from the one before, with two
/// auxiliary variables (Escobar & West 1995; Teh 2006 with a discount).
inline double draw_concentration(const GammaConcentration& prior, double alpha, double discount,
                                 std::size_t n, std::size_t t, Rng& rng) {
    double heads = 0.0;
    for (std::size_t i = 1; i < t; ++i)
        if (discount == 0.0 || rng.uniform() * (alpha + discount * static_cast<double>(i)) < alpha)
            heads += 1.0;
    const double others = static_cast<double>(n) - 1.0;
    const double log_eta = others > 0.0 ? log_beta_variate(rng, alpha + 1.0, others) : 0.0;
    // the least positive number keeps ln(alpha) finite when a tiny shape makes the variate underflow
    return std::max(gamma(rng, prior.shape + heads, prior.rate - log_eta), 1e-300);
}

} // namespace partita::common
