// A lower bound on the least expected variation of information over all partitions.
//
// With C_i the estimate's cluster of item i and T_i^h that of draw h, n E[VI] = sum_i a_i(C_i),
// a_i(S) = b log|S| + a E log|T_i| - (a + b) E log|S n T_i|. Each row is minimised alone over sets S that
// hold i, kind by kind: a size class and, for few items, the first item of the cluster. Multipliers pull the
// rows together: symmetry (i is with j when j is with i) and transitivity. docs/bounds.md derives it.
#pragma once

#include <cstdint>
#include <vector>

#include "draws.hpp"
#include "parallel.hpp"

namespace partita {

struct RowBoundOptions {
    double a = 1, b = 1; // weights of the loss
    double seconds = 10;
    unsigned threads = 1;
    std::size_t most_anchored = 60; // items up to which each one is an anchor
};

struct RowBoundResult {
    double value = 0;     // bound on the expected loss
    double rows_only = 0; // the same without multipliers
    std::size_t passes = 0, triangles = 0;
};

template <class Label>
RowBoundResult row_bound(const Draws<Label>& draws, const RowBoundOptions& options, const StopFlag& stop);

} // namespace partita
