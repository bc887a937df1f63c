// Multipliers that make the rows consistent: symmetry and transitivity of sharing a cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "proofs/rows.hpp"

namespace partita::proofs {

/// x_ij + x_il - x_jl <= y_i in one kind, items by place, with its multiplier and the state of its steps.
struct TriangleMultiplier {
    std::uint32_t i, j, l;
    float tau = 0, mean = 0, square = 0;
    std::uint32_t idle = 0;
};

/// For each kind, one multiplier of x_ij - x_ji per pair of items, and one per violated triangle.
class Multipliers {
public:
    explicit Multipliers(const Kinds& kinds);

    /// Adam steps along the violations at the rows' references; the rows' costs follow.
    void step(Rows& rows, double rate, unsigned threads);

    /// Adds the triangles that the references violate most.
    void separate(const Rows& rows, unsigned threads);

    /// Recomputes the costs of all rows.
    void spread(Rows& rows, unsigned threads) const;

    /// The costs of the rows of one kind, and the constants, in double precision.
    void costs(const Kind& kind, std::size_t k, std::vector<double>& cost,
               std::vector<double>& constant) const;

    std::size_t n_triangles() const;

private:
    struct Pairs { // one entry per pair of places s < r
        std::vector<float> mu, mean, square;
    };

    void step_pairs(Rows& rows, std::size_t k, float rate);
    void step_triangles(Rows& rows, std::size_t k, float rate);
    std::vector<TriangleMultiplier> violated(const Rows& rows, std::size_t k) const;

    std::vector<Pairs> pairs_;
    std::vector<std::vector<TriangleMultiplier>> triangles_;
    std::size_t steps_ = 0;
};

} // namespace partita::proofs
