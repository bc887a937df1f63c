// Merges of clusters as the marks of edges see them, every block with parameters of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "networks/merging_clusters.hpp"
#include "networks/pair_changes.hpp"

namespace partita::models {

/// The changes of log p(marks | edges, z) for all pairs.
template <class State> class MarkMerges : public PairChanges<MarkMerges<State>> {
    using Base = PairChanges<MarkMerges>;
    friend Base;

public:
    MarkMerges(const State& state, const MergingClusters& clusters)
        : Base(clusters), marks_(state.marks()), directed_(state.network().directed), width_(state.width()),
          sums_(n_ * n_ * width_), value_(n_ * n_), scratch_(width_) {
        for (std::size_t k = 0; k < n_; ++k)
            for (std::size_t l = 0; l < n_; ++l) {
                std::copy_n(state.sums(clusters.slot[k], clusters.slot[l]), width_, sums(k, l));
                value_[k * n_ + l] = marks_.cell(sums(k, l));
            }
        this->compute_changes();
    }

private:
    using Base::n_;

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

    const typename State::Emission& marks_;
    bool directed_;
    std::size_t width_;
    std::vector<double> sums_, value_;
    mutable std::vector<double> scratch_;
};

} // namespace partita::models
