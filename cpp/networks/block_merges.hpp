// Merges when every block has parameters of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "networks/merging_clusters.hpp"

namespace partita::models {

/// The changes of the log likelihood for all pairs, kept up to date from merge to merge: O(K³) at first,
/// O(K²) per merge. A block of `State` is a row of width() numbers that add when blocks join: block(k, l),
/// value(block), and joined(one, other, value of one, value of the other), what two blocks gain as one.
template <class State> class BlockMerges {
public:
    BlockMerges(const State& state, const MergingClusters& clusters)
        : state_(state), clusters_(clusters), n_(clusters.slot.size()), directed_(state.network().directed),
          blocks_(n_ * n_ * width()), value_(n_ * n_), change_(n_ * n_), both_(width()) {
        for (std::size_t k = 0; k < n_; ++k)
            for (std::size_t l = 0; l < n_; ++l) {
                const auto block = state.block(clusters.slot[k], clusters.slot[l]);
                std::copy_n(block.begin(), width(), at(k, l));
                value_[k * n_ + l] = state.value(at(k, l));
            }
        for (std::size_t a = 0; a < n_; ++a)
            for (std::size_t b = 0; b < a; ++b)
                if (clusters_.may_merge(a, b))
                    change_[a * n_ + b] = recomputed(a, b);
    }

    /// The change when a and b, a > b, become one.
    double change(std::size_t a, std::size_t b) const { return change_[a * n_ + b]; }

    /// Cluster g, alive no longer, has gone into cluster h.
    void merge(std::size_t g, std::size_t h) {
        for_other_pairs(h, [&](std::size_t a, std::size_t b) { // the terms of the two in every other pair
            change_[a * n_ + b] -= third(a, b, g) + third(a, b, h);
        });
        pour(g, h);
        for_other_pairs(h, [&](std::size_t a, std::size_t b) { change_[a * n_ + b] += third(a, b, h); });
        for (std::size_t a = 0; a < n_; ++a)
            if (a != h && clusters_.may_merge(a, h))
                change_[std::max(a, h) * n_ + std::min(a, h)] = recomputed(a, h);
    }

private:
    using Number = typename State::Number;

    std::size_t width() const { return state_.width(); } // often known when compiled

    Number* at(std::size_t k, std::size_t l) { return blocks_.data() + (k * n_ + l) * width(); }
    const Number* at(std::size_t k, std::size_t l) const { return blocks_.data() + (k * n_ + l) * width(); }
    double value(std::size_t k, std::size_t l) const { return value_[k * n_ + l]; }

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

    /// Blocks of a and b with a third cluster l.
    double third(std::size_t a, std::size_t b, std::size_t l) const {
        double change = state_.joined(at(a, l), at(b, l), value(a, l), value(b, l));
        if (directed_)
            change += state_.joined(at(l, a), at(l, b), value(l, a), value(l, b));
        return change;
    }

    /// The blocks among a and b themselves, as one.
    Number among(std::size_t a, std::size_t b, std::size_t w) const {
        return at(a, a)[w] + at(b, b)[w] + at(a, b)[w] + (directed_ ? at(b, a)[w] : 0);
    }

    double within(std::size_t a, std::size_t b) const {
        for (std::size_t w = 0; w < width(); ++w)
            both_[w] = among(a, b, w);
        return state_.value(both_.data()) -
               (value(a, a) + value(b, b) + value(a, b) + (directed_ ? value(b, a) : 0.0));
    }

    void pour(std::size_t g, std::size_t h) {
        for (std::size_t w = 0; w < width(); ++w) {
            const auto inside = among(g, h, w);
            for (std::size_t l = 0; l < n_; ++l) {
                at(h, l)[w] += at(g, l)[w];
                at(l, h)[w] += at(l, g)[w];
                at(g, l)[w] = at(l, g)[w] = 0;
            }
            at(h, h)[w] = inside;
        }
        for (std::size_t l = 0; l < n_; ++l) {
            value_[h * n_ + l] = state_.value(at(h, l));
            value_[l * n_ + h] = state_.value(at(l, h));
        }
    }

    const State& state_;
    const MergingClusters& clusters_;
    std::size_t n_;
    bool directed_;
    std::vector<Number> blocks_;
    std::vector<double> value_, change_;
    mutable std::vector<Number> both_; // scratch
};

} // namespace partita::models
