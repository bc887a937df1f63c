// The marks of a network's edges when every block has parameters of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "networks/block_merges.hpp"
#include "networks/marked_partition.hpp"

namespace partita::models {

/// log p(marks | edges, z), one term of a layer; the presence of its edges is another. A block without edges
/// adds nothing, so only the clusters of a node's neighbours matter: O(clusters met) for each slot.
template <class MarkModel>
class MarkState : public CountedState<MarkState<MarkModel>, MarkedPartition<MarkModel>> {
    using Base = CountedState<MarkState, MarkedPartition<MarkModel>>;
    friend Base;

public:
    using Emission = MarkModel;
    using Merges = BlockMerges<MarkState>;

    MarkState(const Network& network, const MarkModel& marks, bool, std::size_t capacity_rows,
              std::size_t capacity_columns = 0)
        : Base(network, marks, capacity_rows, capacity_columns), sums_(slots_ * slots_ * width_),
          value_(slots_ * slots_) {}

    /// What merges add up: the sums of marks.
    using Number = double;
    std::span<const double> block(std::size_t k, std::size_t l) const {
        return std::span(sums_).subspan((k * slots_ + l) * width_, width_);
    }
    double value(const double* block) const { return marks_->cell(block); }
    double joined(const double* one, const double* other, double of_one, double of_other) const {
        if (one[0] == 0.0 || other[0] == 0.0)
            return 0.0;
        for (std::size_t at = 0; at < width_; ++at)
            this->inside_[at] = one[at] + other[at];
        return marks_->cell(this->inside_.data()) - (of_one + of_other);
    }

    void swap_slots(std::size_t a, std::size_t b) {
        if (a == b)
            return;
        this->swap_names(a, b);
        recount();
    }

    void move(std::size_t to) {
        shift(label_[node_], -1.0);
        shift(to, 1.0);
        this->relabel(to);
    }

    double log_likelihood() const {
        double total = 0.0;
        for (std::size_t k = 0; k < slots_; ++k)
            for (auto l = network_->directed ? 0 : k; l < slots_; ++l)
                total += value_[k * slots_ + l];
        return total;
    }

    /// Afresh, so that rounding does not build up.
    void rebuild_gains() { recount(); }

private:
    using Base::label_, Base::marks_, Base::network_, Base::node_, Base::slots_, Base::width_;

    /// log p(marks | node in h) − log p(marks of all edges but the node's).
    auto score_of_slot() const {
        return [this](std::size_t h) {
            double total = score_inside(h);
            for (std::size_t d = 0; d < network_->directions(); ++d)
                for (const auto l : this->met_[d])
                    if (l != h)
                        total += score_beside(d, h, l);
            return total;
        };
    }

    /// Block (h, l), l ≠ h, in direction d: with the node in h against without the node.
    double score_beside(std::size_t d, std::size_t h, std::size_t l) const {
        const auto own = label_[node_];
        const auto at = place(d, h, l);
        auto* sums = this->inside_.data();
        std::copy_n(sums_.data() + at * width_, width_, sums);
        double before = value_[at];
        if (h == own) {
            this->add(this->seen(d, l), -1.0, sums);
            return before - marks_->cell(sums);
        }
        if (l == own) {
            this->add(this->seen(network_->directed ? 1 - d : 0, h), -1.0, sums);
            before = marks_->cell(sums);
        }
        this->add(this->seen(d, l), 1.0, sums);
        return marks_->cell(sums) - before;
    }

    /// Block (h, h).
    double score_inside(std::size_t h) const {
        const auto at = h * slots_ + h;
        auto* sums = this->inside_.data();
        std::copy_n(sums_.data() + at * width_, width_, sums);
        const double sign = h == label_[node_] ? -1.0 : 1.0;
        this->add_inside(h, sign, sums);
        return sums[0] == sums_[at * width_] ? 0.0 : sign * (marks_->cell(sums) - value_[at]);
    }

    std::size_t place(std::size_t d, std::size_t k, std::size_t l) const {
        return d == 0 ? k * slots_ + l : l * slots_ + k;
    }

    /// Adds (sign +1) or takes (−1) the node's edges to or from cluster k.
    void shift(std::size_t k, double sign) {
        for (std::size_t d = 0; d < network_->directions(); ++d)
            for (const auto l : this->met_[d])
                if (l != k)
                    change(d, k, l, this->seen(d, l), sign);
        const auto at = k * slots_ + k;
        this->add_inside(k, sign, sums_.data() + at * width_);
        value_[at] = marks_->cell(sums_.data() + at * width_);
    }

    /// Changes block (k, l), k ≠ l, in every place that holds it.
    void change(std::size_t d, std::size_t k, std::size_t l, const double* more, double sign) {
        const auto at = place(d, k, l);
        this->add(more, sign, sums_.data() + at * width_);
        value_[at] = marks_->cell(sums_.data() + at * width_);
        if (network_->directed)
            return;
        const auto mirror = place(d, l, k);
        std::copy_n(sums_.data() + at * width_, width_, sums_.data() + mirror * width_);
        value_[mirror] = value_[at];
    }

    void recount() {
        this->count_nodes();
        std::fill(sums_.begin(), sums_.end(), 0.0);
        each_marked_edge(*network_, [&](std::size_t i, std::size_t j, double mark) {
            const auto k = label_[i], l = label_[j];
            marks_->add(mark, 1.0, sums_.data() + (k * slots_ + l) * width_);
            if (!network_->directed && k != l)
                marks_->add(mark, 1.0, sums_.data() + (l * slots_ + k) * width_);
        });
        for (std::size_t at = 0; at < value_.size(); ++at)
            value_[at] = marks_->cell(sums_.data() + at * width_);
    }

    std::vector<double> sums_, value_;
};

} // namespace partita::models
