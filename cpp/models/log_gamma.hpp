// ln of the Gamma function for x > 0. The C library's writes a global sign, so it is not for threads.
#pragma once

#include <cmath>

namespace partita {

/// Stirling's series from 10 up, the recurrence below; within 1e-14 of the value or of 1.
inline double log_gamma(double x) {
    double product = 1.0;
    for (; x < 10.0; x += 1.0)
        product *= x;
    const double y = 1.0 / x, z = y * y;
    const double series =
        y * (1.0 / 12 -
             z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188 - z * (691.0 / 360360))))));
    constexpr double half_log_two_pi = 0.91893853320467274178;
    return (x - 0.5) * std::log(x) - x + half_log_two_pi + series - std::log(product);
}

} // namespace partita
