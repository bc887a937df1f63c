// The rounding errors of the sums of a search of draws; what log densities and pair probabilities gain has
// one tolerance.
//
// Scores and values are sums of terms of both signs, which cancel. What rounding leaves is therefore small
// beside the terms and not beside the sum: the tolerances are relative to the sum of the terms' absolute
// values, the sum's *magnitude*.
#pragma once

#include <limits>

namespace partita {

/// A smaller gain of a log density or of pair probabilities is taken for rounding, so that sweeps end: their
/// terms are numbers around 1. Scores of free blocks and of mixtures are exact to less than this. Those of
/// the affiliation model may be less exact, but are differences of one function of whole numbers, which
/// cannot rise for ever.
inline constexpr double min_gain = 1e-9;

namespace search {

/// Of up to 64 terms in single precision, whose sums are added in double precision: 64 * 2^-24 at worst.
inline constexpr double single_rounding = 2e-6;

/// Of terms in double precision: about 2^-53 times the square root of their number, with room to spare.
inline constexpr double double_rounding = 1e-13;

/// Of the scores of losses that are not linear: sums in double precision of gains in single precision.
inline constexpr double nonlinear_rounding = 1e-10;

/// The measure that ends the loops of a search: a value that has to fall by more than rounding each time.
/// There are finitely many partitions, so that it cannot fall for ever, and what does not fall is not tried
/// again.
class MonotoneGuard {
public:
    explicit MonotoneGuard(double from = std::numeric_limits<double>::infinity()) : least_(from) {}

    /// Whether the value is below all earlier ones, beyond rounding.
    bool falls(double value, double rounding) {
        if (!(value < least_ - rounding))
            return false;
        least_ = value;
        return true;
    }

private:
    double least_;
};

} // namespace search

} // namespace partita
