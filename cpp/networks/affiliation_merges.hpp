// Merges under the affiliation model: what lies between two clusters goes inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "networks/merging_clusters.hpp"

namespace partita::models {

/// O(1) for the change of a pair, O(K) for a merge. What is inside clusters, or between two of them, is a row
/// of width() numbers that add; `State` has inside(), cells(row), the log marginal likelihood if this is
/// inside and the rest between, each_part(visit) with visit(i, j, row), and add_pairs(nodes, other nodes,
/// row), what all pairs of so many nodes add.
template <class State> class AffiliationMerges {
public:
    AffiliationMerges(const State& state, const MergingClusters& clusters)
        : state_(state), n_(clusters.slot.size()), inside_(row_of(state.inside())),
          now_(state.cells(inside_.data())), between_(n_ * n_ * width()), both_(width()) {
        std::vector<std::size_t> place(state.slots());
        for (std::size_t a = 0; a < n_; ++a)
            place[clusters.slot[a]] = a;
        for (std::size_t a = 0; a < n_; ++a)
            for (std::size_t b = 0; b < n_; ++b)
                state.add_pairs(clusters.nodes[a], clusters.nodes[b], between(a, b));
        state.each_part([&](std::size_t i, std::size_t j, const Number* part) {
            const auto a = place[state.label(i)], b = place[state.label(j)];
            for (std::size_t w = 0; w < width(); ++w) {
                between(a, b)[w] += part[w];
                between(b, a)[w] += part[w];
            }
        });
    }

    /// The change of log p(X | z) when a and b become one.
    double change(std::size_t a, std::size_t b) const {
        const auto* more = between_.data() + (a * n_ + b) * width();
        for (std::size_t w = 0; w < width(); ++w)
            both_[w] = inside_[w] + more[w];
        return state_.cells(both_.data()) - now_;
    }

    /// Cluster g has gone into cluster h.
    void merge(std::size_t g, std::size_t h) {
        for (std::size_t w = 0; w < width(); ++w) {
            inside_[w] += between(g, h)[w];
            for (std::size_t l = 0; l < n_; ++l) {
                between(h, l)[w] += between(g, l)[w];
                between(l, h)[w] = between(h, l)[w];
            }
        }
        now_ = state_.cells(inside_.data());
    }

private:
    using Number = typename State::Number;

    std::size_t width() const { return state_.width(); } // often known when compiled

    static std::vector<Number> row_of(const auto& row) { return {row.begin(), row.end()}; }
    Number* between(std::size_t a, std::size_t b) { return between_.data() + (a * n_ + b) * width(); }

    const State& state_;
    std::size_t n_;
    std::vector<Number> inside_;
    double now_;
    std::vector<Number> between_;      // of a pair of clusters, both directions; the diagonal is unused
    mutable std::vector<Number> both_; // scratch
};

} // namespace partita::models
