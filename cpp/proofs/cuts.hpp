// Inequalities that a fractional solution violates, of triangles and of stars (two-partition inequalities of
// a center and its leaves, Groetschel & Wakabayashi 1990): cuts of the linear program of exact Binder
// estimates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace partita::proofs {

/// x_ij + x_ik - x_jk exceeds 1 by `excess`.
struct Triangle {
    std::uint32_t i, j, k;
    double excess;
};

/// The triangles violated by more than `tolerance`, the most violated first, ties in the order of i, j, k; at
/// most `count` of them. `x` is a symmetric n x n matrix of numbers in [0, 1].
std::vector<Triangle> violated_triangles(std::span<const double> x, std::size_t n, std::size_t count,
                                         double tolerance);

/// sum_j x_ij - sum_{j<k} x_jk over the leaves j, k of the center i exceeds 1 by `excess`. No partition does
/// that: with m leaves in the cluster of i, the first sum is m and the second at least m (m - 1) / 2.
struct Star {
    std::uint32_t center;
    std::vector<std::uint32_t> leaves; // ascending
    double excess;
};

/// Violated stars, the most violated first; at most `count` of them. `x` is a symmetric n x n matrix of
/// numbers in [0, 1]. Leaves are chosen greedily, so that a violated star may be missed.
std::vector<Star> violated_stars(std::span<const double> x, std::size_t n, std::size_t count,
                                 double tolerance);

} // namespace partita::proofs
