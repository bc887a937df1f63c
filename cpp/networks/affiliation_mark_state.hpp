// The marks of edges under the affiliation model: one set of parameters inside clusters, one between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "networks/affiliation_merges.hpp"
#include "networks/marked_partition.hpp"

namespace partita::models {

/// The edges that are not inside clusters are between them: two cells, as AffiliationState has for dyads.
template <class MarkModel>
class AffiliationMarkState
    : public CountedState<AffiliationMarkState<MarkModel>, MarkedPartition<MarkModel>> {
    using Base = CountedState<AffiliationMarkState, MarkedPartition<MarkModel>>;
    friend Base;

public:
    using Emission = MarkModel;
    using Merges = AffiliationMerges<AffiliationMarkState>;
    using Number = double; // what merges add up: sums of marks

    AffiliationMarkState(const Network& network, const MarkModel& marks, bool, std::size_t capacity,
                         std::size_t = 0)
        : Base(network, marks, capacity, 0), all_(width_), within_(width_), moved_(width_), between_(width_) {
    }

    /// The sums of the edges inside clusters.
    const std::vector<double>& inside() const { return within_; }
    template <class Visit> void each_part(Visit visit) const {
        each_marked_edge(*network_, [&](std::size_t i, std::size_t j, double mark) {
            std::fill(moved_.begin(), moved_.end(), 0.0);
            marks_->add(mark, 1.0, moved_.data());
            visit(i, j, moved_.data());
        });
    }
    void add_pairs(std::int64_t, std::int64_t, double*) const {}

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
