// Four doubles at a time, with the logarithm and the exponential. The compiler's vector types (GCC, Clang)
// become AVX2 in a function with PARTITA_CLONES and pairs of SSE2 elsewhere. Everything works in place and is
// always inlined: a call would leave the instruction set of the caller's clone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace partita::common {

inline constexpr std::size_t lanes = 4;
using Lanes [[gnu::vector_size(lanes * sizeof(double))]] = double;
using LaneBits [[gnu::vector_size(lanes * sizeof(double))]] = std::uint64_t;

inline std::size_t round_to_lanes(std::size_t count) { return (count + lanes - 1) / lanes * lanes; }

[[gnu::always_inline]] inline void load(Lanes& x, const double* from) { std::memcpy(&x, from, sizeof x); }
[[gnu::always_inline]] inline void store(const Lanes& x, double* to) { std::memcpy(to, &x, sizeof x); }

[[gnu::always_inline]] inline double sum_of_lanes(const Lanes& x) {
    double sum = 0.0;
    for (std::size_t lane = 0; lane < lanes; ++lane)
        sum += x[lane];
    return sum;
}

/// x = ln x for normal x > 0, within 2 units in the last place.
[[gnu::always_inline]] inline void lane_log(Lanes& x) {
    constexpr std::uint64_t sqrt_half = 0x3fe6a09e667f3bcdu;
    constexpr std::uint64_t two_to_52 = 0x4330000000000000u;
    // x = 2^e m with m in [sqrt(1/2), sqrt(2)); e is stored with an offset of 1024, so that it is not
    // negative
    const LaneBits offset = (LaneBits)x - sqrt_half + (std::uint64_t{1024} << 52);
    const Lanes e = (Lanes)((offset >> 52) | two_to_52) - (0x1.0p52 + 1024.0);
    const Lanes m = (Lanes)((offset & 0x000fffffffffffffu) + sqrt_half);
    // ln m = 2 atanh(s) = 2 s (1 + z p(z)): p interpolates the sum of z^k / (2 k + 3) at the Chebyshev points
    // of [0, 0.02944], where z p(z) is within 5e-18
    const Lanes s = (m - 1.0) / (m + 1.0);
    const Lanes z = s * s;
    Lanes series = z * 0.0730822552121701 + 0.07665860745369327;
    series = series * z + 0.09091444564282754;
    series = series * z + 0.11111105567374867;
    series = series * z + 0.14285714312987882;
    series = series * z + 0.19999999999949752;
    series = series * z + 0.3333333333333335;
    constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
    x = e * ln2_high + (2.0 * s + (e * ln2_low + 2.0 * s * z * series));
}

/// x = a number of at most ln x, for x >= 1: the chord of ln between powers of 2. The bits of a number above
/// its exponent's bias, read as a fixed-point number, are that of the binary logarithm.
[[gnu::always_inline]] inline void lane_log_chord(Lanes& x) {
    constexpr std::uint64_t one = 0x3ff0000000000000u, two_to_52 = 0x4330000000000000u;
    constexpr double ln2_by_unit = 0.6931471805599452 * 0x1.0p-41;
    const LaneBits above = ((LaneBits)x - one) >> 11;
    x = ((Lanes)(above | two_to_52) - 0x1.0p52) * ln2_by_unit;
}

/// Whether one of them is at least the bound.
[[gnu::always_inline]] inline bool any_reaches(const Lanes& x, double bound) {
    const auto reaches = (LaneBits)(x >= bound);
    std::uint64_t any = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane)
        any |= reaches[lane]; // no branch
    return any != 0;
}

/// x = a number of at least e^x, at most 6.2% above it: the chord of 2^y between whole numbers y, which
/// undoes `lane_log_below`. Arguments are taken to [-40, 40].
[[gnu::always_inline]] inline void lane_exp_chord(Lanes& x) {
    constexpr std::uint64_t two_to_52 = 0x4330000000000000u;
    constexpr double log2e = 1.4426950408889634;
    x = x > -40.0 ? x : Lanes{} - 40.0;
    x = x < 40.0 ? x : Lanes{} + 40.0;
    const Lanes above = (x * log2e + 1023.0) * 0x1.0p41 + 0x1.0p52;
    x = (Lanes)(((LaneBits)above - two_to_52) << 11);
}

/// x = e^x for x <= 0, within 2 units in the last place; zero below -708, including -infinity.
[[gnu::always_inline]] inline void lane_exp(Lanes& x) {
    const auto too_small = x < -708.0;
    const Lanes argument = too_small ? Lanes{} - 708.0 : x;
    constexpr double shift =
        0x1.8p52; // adding it rounds to the nearest integer, which is then in the low bits
    const Lanes shifted = argument * 1.44269504088896338700 + shift;
    const Lanes n = shifted - shift;
    const Lanes r = (argument - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    Lanes series = r * (1.0 / 479001600.0) + 1.0 / 39916800.0;
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
    const LaneBits scale = ((LaneBits)shifted + 1023) << 52;
    x = too_small ? Lanes{} : series * (Lanes)scale;
}

} // namespace partita::common
