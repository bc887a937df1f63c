// The path of least-loss merges from an estimate up to one cluster, for losses that are sums over clusters.
//
// Up to a constant, VI(a, b) and Binder(a, b) of an estimate are sums over its clusters S of
// f(S) = b phi(|S|) - (a + b) E sum_T phi(|S n T|) with a convex phi. So a merge of two clusters changes the
// loss by a number that no other merge changes:
//
//     delta(A, B) = b psi(|A|, |B|) - (a + b) E sum_T psi(|A n T|, |B n T|),
//     psi(x, y) = phi(x + y) - phi(x) - phi(y).
//
// Clusters that no draw joins have delta = b psi(|A|, |B|), which rises with both sizes: the least is that of
// the two smallest clusters. Only clusters that share a cluster of a draw are compared one by one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "draws/draws.hpp"

namespace partita {

struct Merge {
    std::uint32_t left, right; // clusters; k + t is the one that merge t made
    std::uint32_t size;        // of the cluster that it makes
    double change;             // of the expected loss
};

struct MergeWeights {
    double a, b;
    std::span<const double> phi; // of 0..n_items
};

/// k - 1 merges; fewer if `stop` is set. Draws must label all items.
template <class Label>
std::vector<Merge> merge_path(std::span<const std::uint32_t> estimate, const Draws<Label>& draws,
                              const MergeWeights& weights, const common::StopFlag& stop);

} // namespace partita
