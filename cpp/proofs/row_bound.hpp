// A lower bound on the least expected variation of information over all partitions, or over those into few
// clusters.
//
// With C_i the estimate's cluster of item i and T_i^h that of draw h, n E[VI] = sum_i a_i(C_i),
// a_i(S) = b log|S| + a E log|T_i| - (a + b) E log|S n T_i|. Each row is minimised alone over sets S that
// contain i, kind by kind: a size class and, for few items, the first item of the cluster. Multipliers make
// the rows consistent: symmetry (i is with j if j is with i) and transitivity. Under a limit on clusters,
// every cluster costs something, and the limit times that is given back. docs/bounds.md derives it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "common/parallel.hpp"
#include "draws/draws.hpp"

namespace partita::proofs {

struct RowBoundOptions {
    double a = 1, b = 1;          // weights of the loss
    double per_cluster = 0;       // what every cluster costs, not negative ...
    std::size_t max_clusters = 0; // ... and the limit, which does not count if that is zero
    double seconds = 10;
    unsigned threads = 1;
    std::vector<std::uint32_t> anchors;       // clusters are distinguished by the first that they contain
    std::size_t max_passes = ~std::size_t{0}; // unlike `seconds`, the same on every machine
    double enough = std::numeric_limits<double>::infinity(); // a bound as large ends the work
    std::function<void(double)> report;                      // of the best bound after 1, 10, 60 ... seconds
};

struct RowBoundResult {
    double value = 0;     // bound on the expected loss
    double rows_only = 0; // the same without multipliers
    std::size_t passes = 0, triangles = 0;
};

template <class Label>
RowBoundResult row_bound(const Draws<Label>& draws, const RowBoundOptions& options,
                         const common::StopFlag& stop);

} // namespace partita::proofs
