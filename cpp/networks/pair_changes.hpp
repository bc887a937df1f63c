// What merging two clusters would change, for all pairs, when every block has parameters of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "networks/merging_clusters.hpp"

namespace partita::models {

/// The changes are kept up to date from merge to merge: O(K³) at first, O(K²) per merge. `Blocks` derives
/// from it and has, of clusters a and b that become one, `within(a, b)`, the change of the blocks among
/// themselves, `third(a, b, l)`, that of their blocks with a third cluster l, and `pour(g, h)`, which adds
/// the blocks of g to those of h.
template <class Blocks> class PairChanges {
public:
    /// The change when a and b, a > b, become one.
    double change(std::size_t a, std::size_t b) const { return change_[a * n_ + b]; }

    /// Cluster g, alive no longer, has gone into cluster h.
    void merge(std::size_t g, std::size_t h) {
        for_other_pairs(
            h, [&](std::size_t a, std::size_t b) { // the terms of the two clusters in every other pair
                change_[a * n_ + b] -= blocks().third(a, b, g) + blocks().third(a, b, h);
            });
        blocks().pour(g, h);
        for_other_pairs(
            h, [&](std::size_t a, std::size_t b) { change_[a * n_ + b] += blocks().third(a, b, h); });
        for (std::size_t a = 0; a < n_; ++a)
            if (a != h && clusters_.may_merge(a, h))
                change_[std::max(a, h) * n_ + std::min(a, h)] = recomputed(a, h);
    }

protected:
    explicit PairChanges(const MergingClusters& clusters)
        : clusters_(clusters), n_(clusters.slot.size()), change_(n_ * n_) {}

    /// For the end of a constructor, when the blocks are there.
    void compute_changes() {
        for (std::size_t a = 0; a < n_; ++a)
            for (std::size_t b = 0; b < a; ++b)
                if (clusters_.may_merge(a, b))
                    change_[a * n_ + b] = recomputed(a, b);
    }

    const MergingClusters& clusters_;
    std::size_t n_;

private:
    Blocks& blocks() { return static_cast<Blocks&>(*this); }
    const Blocks& blocks() const { return static_cast<const Blocks&>(*this); }

    double recomputed(std::size_t a, std::size_t b) const {
        double change = blocks().within(a, b);
        for (std::size_t l = 0; l < n_; ++l)
            if (clusters_.alive[l] && l != a && l != b)
                change += blocks().third(a, b, l);
        return change;
    }

    template <class Visit> void for_other_pairs(std::size_t h, Visit visit) {
        for (std::size_t a = 0; a < n_; ++a)
            for (std::size_t b = 0; clusters_.alive[a] && a != h && b < a; ++b)
                if (b != h && clusters_.may_merge(a, b))
                    visit(a, b);
    }

    std::vector<double> change_;
};

} // namespace partita::models
