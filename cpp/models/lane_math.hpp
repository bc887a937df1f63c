// Logarithm and exponential without branches, so that the compiler turns a loop over them into vector code.
// Only + - * / are used: the same bits on every instruction set, as long as products are not contracted.
#pragma once

#include <bit>
#include <cstdint>

namespace partita {

/// ln x for a normal x > 0, within 2 units in the last place.
inline double lane_log(double x) {
    constexpr std::uint64_t sqrt_half = 0x3fe6a09e667f3bcdu;
    constexpr std::uint64_t two_to_52 = 0x4330000000000000u;
    // x = 2^e m with m in [sqrt(1/2), sqrt(2)); e is kept 1024 too large, so that no shift sees a sign
    const auto offset = std::bit_cast<std::uint64_t>(x) - sqrt_half + (std::uint64_t{1024} << 52);
    const double e = std::bit_cast<double>((offset >> 52) | two_to_52) - (0x1.0p52 + 1024.0);
    const double m = std::bit_cast<double>((offset & 0x000fffffffffffffu) + sqrt_half);
    // ln m = 2 atanh(s)
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s;
    double series = 1.0 / 21.0;
    series = series * z + 1.0 / 19.0;
    series = series * z + 1.0 / 17.0;
    series = series * z + 1.0 / 15.0;
    series = series * z + 1.0 / 13.0;
    series = series * z + 1.0 / 11.0;
    series = series * z + 1.0 / 9.0;
    series = series * z + 1.0 / 7.0;
    series = series * z + 1.0 / 5.0;
    series = series * z + 1.0 / 3.0;
    constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
    return e * ln2_high + (2.0 * s + (e * ln2_low + 2.0 * s * z * series));
}

/// e^x for x <= 0, within 2 units in the last place; zero below -708, so also for -infinity.
inline double lane_exp(double argument) {
    const double x = argument < -708.0 ? -708.0 : argument;
    constexpr double shift = 0x1.8p52; // adding it rounds to the nearest integer and leaves that in the low bits
    const double shifted = x * 1.44269504088896338700 + shift;
    const double n = shifted - shift;
    const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    double series = 1.0 / 479001600.0;
    series = series * r + 1.0 / 39916800.0;
    series = series * r + 1.0 / 3628800.0;
    series = series * r + 1.0 / 362880.0;
    series = series * r + 1.0 / 40320.0;
    series = series * r + 1.0 / 5040.0;
    series = series * r + 1.0 / 720.0;
    series = series * r + 1.0 / 120.0;
    series = series * r + 1.0 / 24.0;
    series = series * r + 1.0 / 6.0;
    series = series * r + 0.5;
    series = series * r + 1.0;
    series = series * r + 1.0;
    const auto scale = (std::bit_cast<std::uint64_t>(shifted) + 1023) << 52;
    return argument < -708.0 ? 0.0 : series * std::bit_cast<double>(scale);
}

} // namespace partita
