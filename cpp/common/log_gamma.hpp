// ln of the Gamma function for x > 0. The C library's lgamma writes a global sign and is not thread-safe.
#pragma once

#include <cmath>

namespace partita::common {

/// Above this, Stirling's series needs one term, and the difference of two values of ln G, each near x ln x,
/// loses too many digits.
inline constexpr double large_argument = 1e6;

/// Stirling's series for x >= 10: the error is within 1e-14, relative or absolute.
inline double stirling(double x) {
    constexpr double half_log_two_pi = 0.91893853320467274178;
    const double y = 1.0 / x, z = y * y;
    const double series =
        x >= large_argument
            ? y * (1.0 / 12)
            : y * (1.0 / 12 -
                   z * (1.0 / 360 -
                        z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188 - z * (691.0 / 360360))))));
    return (x - 0.5) * std::log(x) - x + half_log_two_pi + series;
}

/// Stirling's series, below x = 10 through the recurrence.
inline double log_gamma(double x) {
    if (x >= 10.0)
        return stirling(x);
    double product = 1.0;
    for (; x < 10.0; x += 1.0)
        product *= x;
    return stirling(x) - std::log(product);
}

/// ln G(x + n) - ln G(x) for n >= 0; for a large x by Stirling's series, subtracted term by term.
inline double log_rising(double x, double n) {
    if (x <= large_argument)
        return log_gamma(x + n) - log_gamma(x);
    const double series = (1.0 / (x + n) - 1.0 / x) / 12.0;
    return n * std::log(x) + ((x + n - 0.5) * std::log1p(n / x) - n) + series;
}

} // namespace partita::common
