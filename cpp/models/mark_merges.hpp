// Merges of clusters as the marks of edges see them, every block with parameters of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/merging_clusters.hpp"

namespace partita::models {

/// The changes of log p(marks | edges, z) for all pairs, kept up to date from merge to merge.
template <class State> class MarkMerges {
public:
    MarkMerges(const State& state, const MergingClusters& clusters)
        : clusters_(clusters), marks_(state.marks()), directed_(state.network().directed),
          width_(state.width()), n_(clusters.slot.size()), sums_(n_ * n_ * width_), value_(n_ * n_),
          change_(n_ * n_), scratch_(width_) {
        for (std::size_t k = 0; k < n_; ++k)
            for (std::size_t l = 0; l < n_; ++l) {
                std::copy_n(state.sums(clusters.slot[k], clusters.slot[l]), width_, sums(k, l));
                value_[k * n_ + l] = marks_.cell(sums(k, l));
            }
        for (std::size_t a = 0; a < n_; ++a)
            for (std::size_t b = 0; b < a; ++b)
                if (clusters.may_merge(a, b))
                    change_[a * n_ + b] = recomputed(a, b);
    }

    /// The change when a and b, a > b, become one.
    double change(std::size_t a, std::size_t b) const { return change_[a * n_ + b]; }

    /// Cluster g, alive no longer, has gone into cluster h.
    void merge(std::size_t g, std::size_t h) {
        for_other_pairs(
            h, [&](std::size_t a, std::size_t b) { change_[a * n_ + b] -= third(a, b, g) + third(a, b, h); });
        pour(g, h);
        for_other_pairs(h, [&](std::size_t a, std::size_t b) { change_[a * n_ + b] += third(a, b, h); });
        for (std::size_t a = 0; a < n_; ++a)
            if (a != h && clusters_.may_merge(a, h))
                change_[std::max(a, h) * n_ + std::min(a, h)] = recomputed(a, h);
    }

private:
    double* sums(std::size_t k, std::size_t l) { return sums_.data() + (k * n_ + l) * width_; }
    const double* sums(std::size_t k, std::size_t l) const { return sums_.data() + (k * n_ + l) * width_; }
    double value(std::size_t k, std::size_t l) const { return value_[k * n_ + l]; }

    /// What two blocks gain when they become one.
    double joined(const double* one, const double* other, double apart) const {
        if (one[0] == 0.0 || other[0] == 0.0)
            return 0.0;
        for (std::size_t at = 0; at < width_; ++at)
            scratch_[at] = one[at] + other[at];
        return marks_.cell(scratch_.data()) - apart;
    }

    /// Blocks of a and b with a third cluster l.
    double third(std::size_t a, std::size_t b, std::size_t l) const {
        double change = joined(sums(a, l), sums(b, l), value(a, l) + value(b, l));
        if (directed_)
            change += joined(sums(l, a), sums(l, b), value(l, a) + value(l, b));
        return change;
    }

    /// The blocks among a and b themselves.
    double within(std::size_t a, std::size_t b) const {
        double before = value(a, a) + value(b, b) + value(a, b) + (directed_ ? value(b, a) : 0.0);
        for (std::size_t at = 0; at < width_; ++at)
            scratch_[at] =
                sums(a, a)[at] + sums(b, b)[at] + sums(a, b)[at] + (directed_ ? sums(b, a)[at] : 0.0);
        return marks_.cell(scratch_.data()) - before;
    }

    double recomputed(std::size_t a, std::size_t b) const {
        double change = within(a, b);
        for (std::size_t l = 0; l < n_; ++l)
            if (clusters_.alive[l] && l != a && l != b)
                change += third(a, b, l);
        return change;
    }

    template <class Visit> void for_other_pairs(std::size_t h, Visit visit) {
        for (std::size_t a = 0; a < n_; ++a)
            for (std::size_t b = 0; clusters_.alive[a] && a != h && b < a; ++b)
                if (b != h && clusters_.may_merge(a, b))
                    visit(a, b);
    }

    void pour(std::size_t g, std::size_t h) {
        for (std::size_t at = 0; at < width_; ++at) {
            const double inside =
                sums(g, g)[at] + sums(h, h)[at] + sums(g, h)[at] + (directed_ ? sums(h, g)[at] : 0.0);
            for (std::size_t l = 0; l < n_; ++l) {
                sums(h, l)[at] += sums(g, l)[at];
                sums(l, h)[at] += sums(l, g)[at];
                sums(g, l)[at] = sums(l, g)[at] = 0.0;
            }
            sums(h, h)[at] = inside;
        }
        for (std::size_t l = 0; l < n_; ++l) {
            value_[h * n_ + l] = marks_.cell(sums(h, l));
            value_[l * n_ + h] = marks_.cell(sums(l, h));
        }
    }

    const MergingClusters& clusters_;
    const typename State::Emission& marks_;
    bool directed_;
    std::size_t width_, n_;
    std::vector<double> sums_, value_, change_;
    mutable std::vector<double> scratch_;
};

} // namespace partita::models
