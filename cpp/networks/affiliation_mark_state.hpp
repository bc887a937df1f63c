// The marks of edges under the affiliation model: one set of parameters inside clusters, one between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "networks/marked_partition.hpp"
#include "networks/merging_clusters.hpp"

namespace partita::models {

template <class State> class AffiliationMarkMerges {
public:
    AffiliationMarkMerges(const State& state, const MergingClusters& clusters)
        : state_(state), width_(state.width()), n_(clusters.slot.size()), inside_(state.inside()),
          between_(n_ * n_ * width_), scratch_(width_) {
        std::vector<std::size_t> place(state.slots());
        for (std::size_t a = 0; a < n_; ++a)
            place[clusters.slot[a]] = a;
        each_marked_edge(state.network(), [&](std::size_t i, std::size_t j, double mark) {
            const auto a = place[state.label(i)], b = place[state.label(j)];
            state.marks().add(mark, 1.0, between(a, b));
            if (a != b)
                state.marks().add(mark, 1.0, between(b, a));
        });
    }

    double change(std::size_t a, std::size_t b) const {
        const auto* more = between_.data() + (a * n_ + b) * width_;
        for (std::size_t at = 0; at < width_; ++at)
            scratch_[at] = inside_[at] + more[at];
        return state_.cells(scratch_.data()) - state_.cells(inside_.data());
    }

    /// Cluster g has gone into cluster h.
    void merge(std::size_t g, std::size_t h) {
        for (std::size_t at = 0; at < width_; ++at) {
            inside_[at] += between(g, h)[at];
            for (std::size_t l = 0; l < n_; ++l) {
                between(h, l)[at] += between(g, l)[at];
                between(l, h)[at] = between(h, l)[at];
            }
        }
    }

private:
    double* between(std::size_t a, std::size_t b) { return between_.data() + (a * n_ + b) * width_; }

    const State& state_;
    std::size_t width_, n_;
    std::vector<double> inside_, between_; // of a pair of clusters; the diagonal is unused
    mutable std::vector<double> scratch_;
};

/// The edges that are not inside clusters are between them: two cells, as AffiliationState has for dyads.
template <class MarkModel>
class AffiliationMarkState
    : public CountedState<AffiliationMarkState<MarkModel>, MarkedPartition<MarkModel>> {
    using Base = CountedState<AffiliationMarkState, MarkedPartition<MarkModel>>;
    friend Base;

public:
    using Emission = MarkModel;
    using Merges = AffiliationMarkMerges<AffiliationMarkState>;

    AffiliationMarkState(const Network& network, const MarkModel& marks, bool, std::size_t capacity,
                         std::size_t = 0)
        : Base(network, marks, capacity, 0), all_(width_), within_(width_), moved_(width_), between_(width_) {
    }

    /// The sums of the edges inside clusters.
    const std::vector<double>& inside() const { return within_; }

    void swap_slots(std::size_t a, std::size_t b) { this->swap_names(a, b); }

    void move(std::size_t to) {
        move_inside(to, within_.data());
        this->relabel(to);
    }

    double log_likelihood() const { return cells(within_.data()); }

    /// The log marginal likelihood of both cells if these edges are inside clusters and the others between.
    double cells(const double* inside) const {
        for (std::size_t at = 0; at < width_; ++at)
            between_[at] = all_[at] - inside[at];
        return marks_->cell(inside) + marks_->cell(between_.data());
    }

    void rebuild_gains() { recount(); }

private:
    using Base::label_, Base::marks_, Base::network_, Base::node_, Base::slots_, Base::width_;

    auto score_of_slot() const {
        return [this](std::size_t h) {
            moved_ = within_;
            move_inside(h, moved_.data());
            return cells(moved_.data()) - cells(within_.data());
        };
    }

    /// The sums inside clusters when the node goes to h.
    void move_inside(std::size_t h, double* sums) const {
        this->add_inside(label_[node_], -1.0, sums);
        this->add_inside(h, 1.0, sums);
    }

    void recount() {
        this->count_nodes();
        std::fill(all_.begin(), all_.end(), 0.0);
        std::fill(within_.begin(), within_.end(), 0.0);
        each_marked_edge(*network_, [&](std::size_t i, std::size_t j, double mark) {
            marks_->add(mark, 1.0, all_.data());
            if (label_[i] == label_[j])
                marks_->add(mark, 1.0, within_.data());
        });
    }

    std::vector<double> all_, within_;
    mutable std::vector<double> moved_, between_; // scratch
};

} // namespace partita::models
