// The concentration of a Dirichlet process or distribution: known, or drawn with the rest.
#pragma once

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

} // namespace partita::common
