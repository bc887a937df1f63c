// What is minimised: Σ over clusters of `of_size`, less `of_attraction` of what each item's pairs in its
// cluster have in all.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace partita::pairs {

/// Σ over pairs in one cluster of (threshold - π_ij): Binder's loss and, for one value of its Lagrange
/// multiplier, the approximate adjusted Rand index. Pairs that are not listed have probability `unlisted`,
/// which is at most the threshold.
struct Threshold {
    double threshold, unlisted;

    /// What a pair that is not listed costs in one cluster.
    double repulsion() const { return threshold - unlisted; }
    /// Pairs of no more than this probability gain nothing by being together, or no more than rounding leaves
    /// of a tie: what joins items depends on the pairs, not on how the mean of their probabilities was
    /// summed.
    double neutral() const { return threshold + 1e-12; }
    /// What a listed pair gains over one that is not listed.
    double attraction(double probability) const { return probability - unlisted; }
    double of_size(double m) const { return repulsion() * m * (m - 1) / 2; }
    double of_attraction(double sum) const { return sum / 2; }
};

/// Σ_i [b log2 |C_i| - (a + b) log2 Σ_{j in C_i} π_ij]: Wade & Ghahramani's lower bound to the expected VI,
/// with weights. Pairs that are not listed have probability 0.
struct LogMass {
    double a, b;

    double neutral() const { return 0; }
    double attraction(double probability) const { return probability; }
    /// b m log2 m, what the sizes add for a cluster of m items.
    double of_size(double m) const { return m > 0 ? b * m * std::log2(m) : 0; }
    /// The gain from masses that grow, given the logarithm of the product of their ratios.
    double of_growth(double logarithm) const { return (a + b) * logarithm; }
    /// What an item gains by a mass, compared with its own of 1.
    double of_mass(double more) const { return of_growth(std::log2(1 + more)); }
    double of_attraction(double sum) const { return of_mass(sum); }
};

} // namespace partita::pairs
