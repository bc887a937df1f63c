// Triangle inequalities that a fractional solution violates: cuts of the linear program of exact Binder
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

} // namespace partita::proofs
