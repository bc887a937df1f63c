// What putting one item into each cluster changes under NVI, ID, NID and 1 - ARI, in single precision.
//
// A loss is nearly the same for all candidates, and single precision would round their differences away. So
// the change from the partition without the item is summed, not the loss. With A, B, C the joint sum, the
// estimate's and the draw's without the item (C with it), D = phi(n), g the gain of the cell that the item
// would join and d the gain of the cluster, the changes are, each exact:
//
//   NVI   [d - (2 - L) g] / (e - g),                   e = D - A,  L = (B + C - 2A) / e
//   ID    [max(d + min(B - C, 0), 0) - g] / n
//   NID   (m - A) s + (max(d + min(B - C, 0), 0) - g) (r + s),   m = max(B, C),  r = 1 / (D - min(B, C)),
//         s = min(1 / (D - B - d) - 1 / (D - B), max(1 / (D - C) - 1 / (D - B), 0))
//   1-ARI [(1/2 - L h) d - g] / (v + h d),             h = 1/2 - C/D,  v = C/2 + h B,  L = ((B + C)/2 - A) /
//   v
//
// Where a divisor may vanish (both partitions one cluster, or both all singletons), a draw is *degenerate*
// and left to the caller.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "draws/kernels.hpp"
#include "draws/losses.hpp"

namespace partita::search {

/// The sums of all draws with the item taken out; `draw` and n count it.
struct SumsWithout {
    std::span<const double> weights, joint, draw;
    double estimate, total, n;
};

/// The factors of the changes, draw by draw; a loss sets those that its formula has, and zero for the others.
struct ChangeFactors {
    std::vector<float> per_growth; // of what the cluster gains: of d (NVI, 1 - ARI) or of s (NID)
    std::vector<float> per_gain;   // of g, the gain of the cell
    std::vector<float> slope;      // of the divisor in g (NVI) or in d (1 - ARI), of `per_gain` in s (NID)
    std::vector<float> shortfall;  // min(B - C, 0) of ID and NID
    std::vector<float> max_rise;   // what s is at most (NID)
    std::vector<float> degenerate; // 1 or 0
    bool any_degenerate = false;
    double bound_per_gain = 0, bound_per_rise = 0; // a change is at most their products with d and with s

    void resize(std::size_t n_draws);
};

/// A candidate's gain of the cluster (d), and for NID what it adds to 1 / (D - B).
struct CandidateGains {
    std::vector<float> cluster, reciprocal;

    void resize(std::size_t n_candidates) {
        cluster.resize(n_candidates);
        reciprocal.resize(n_candidates);
    }
    /// `left` is D - B.
    void set(std::size_t k, double gain, double left, bool is_nid) {
        const auto divisor = std::max(left - gain, 1e-9 * left); // one cluster: nothing is left
        cluster[k] = static_cast<float>(gain);
        reciprocal[k] = is_nid ? static_cast<float>(gain / (left * divisor)) : 0.0f;
    }
};

void find_factors(const Loss& loss, const SumsWithout& sums, ChangeFactors& factors);

/// out[k] = the change for candidate k, over all draws but the degenerate ones.
void sum_changes(const Loss& loss, const CellTable& table, std::span<const std::uint32_t> rows,
                 const ChangeFactors& factors, const CandidateGains& candidates, std::size_t n_columns,
                 double* out);

/// out[k] += the change in draw t for candidate k, whose cell or cells have this gain.
void add_changes_of_draw(const Loss& loss, const ChangeFactors& factors, std::size_t t,
                         std::span<const float> gains, const CandidateGains& candidates,
                         std::span<double> out);

/// The same as `sum_changes` for one candidate whose cells have these gains.
double sum_changes_of(const Loss& loss, std::span<const float> gains, const ChangeFactors& factors,
                      float cluster_gain, float reciprocal_gain);

} // namespace partita::search
