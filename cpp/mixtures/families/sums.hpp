// Families of which a cluster is known by sums over its items: every item has a row of statistics, a cluster
// their sum, and a model says what the log marginal likelihood of a sum is. The predictive density of an item
// is a difference of two such values. The first statistic is the number of observed cells; an item that has
// none of them says nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "common/lanes.hpp"
#include "common/shared_cells.hpp"
#include "mixtures/number_table.hpp"
#include "mixtures/slots.hpp"

namespace partita::models {

/// The statistics of every item, and coordinates by which items are near or far where clusters begin.
class SumTable {
public:
    SumTable(common::SharedCells<double> statistics, std::size_t width, NumberTable coordinates)
        : statistics_(std::move(statistics)), width_(width), coordinates_(std::move(coordinates)) {}

    std::size_t n_items() const { return statistics_.size() / width_; }
    const double* item(std::size_t i) const { return statistics_.data() + i * width_; }
    double distance(std::size_t one, std::size_t other) const { return coordinates_.distance(one, other); }

private:
    common::SharedCells<double> statistics_; // by rows
    std::size_t width_;
    NumberTable coordinates_;
};

/// A model has `width()`, the number of statistics, and `log_marginals(sums, out)` of as many sums as there
/// are lanes, laid out [statistic][lane].
template <class Model> class Sums {
public:
    using Table = SumTable;
    class Summaries;

    explicit Sums(Model model)
        : model_(std::move(model)), sums_(model_.width()), marginals_(1),
          work_(model_.width() * common::lanes) {}

    std::uint32_t size(std::size_t slot) const { return sizes_[slot]; }
    void widen(std::size_t stride) { widen_slots(*this, {&sums_, &marginals_}, sizes_, stride); }
    void clear(std::size_t slot) {
        sizes_[slot] = 0;
        for (std::size_t w = 0; w < sums_.rows(); ++w)
            sums_.at(w, slot) = 0.0;
        marginals_.at(0, slot) = 0.0;
    }
    void insert(std::size_t slot, const double* x) { ++sizes_[slot], change(slot, x, 1.0); }
    void remove(std::size_t slot, const double* x) {
        if (sizes_[slot] == 1)
            return clear(slot);
        --sizes_[slot], change(slot, x, -1.0);
    }
    void copy_slot(const Sums& from, std::size_t source, std::size_t target) {
        sizes_[target] = from.sizes_[source];
        sums_.copy_slot(from.sums_, source, target);
        marginals_.copy_slot(from.marginals_, source, target);
    }

    void score(const double* x, std::size_t own, std::size_t slots, double* out) {
        if (x[0] == 0.0)
            return;
        for (std::size_t s = 0; s < slots; s += common::lanes)
            if (std::any_of(out + s, out + s + common::lanes, [](double score) { return score > lowest; }))
                score_lanes(x, own, s, out);
    }
    double own_ratio(std::size_t) const { return 1.0; }
    double log_marginal(std::size_t slot) const { return marginals_.at(0, slot); }

    template <class Archive> void visit(Archive&) {}
    bool fits(std::size_t) const { return true; }
    /// Recomputes the clusters from the labels; checkpoints do not store them.
    bool recount(const Summaries& summaries, std::size_t stride) {
        widen(stride);
        for (std::size_t slot = 0; slot < stride; ++slot)
            summaries.assign_to(*this, slot, slot);
        return true;
    }

private:
    static constexpr double lowest = -std::numeric_limits<double>::infinity();

    void change(std::size_t slot, const double* x, double by) {
        if (x[0] == 0.0)
            return;
        for (std::size_t w = 0; w < sums_.rows(); ++w)
            sums_.at(w, slot) += by * x[w];
        set_marginal(slot);
    }

    void set_marginal(std::size_t slot) {
        for (std::size_t w = 0; w < sums_.rows(); ++w)
            std::fill_n(work_.begin() + static_cast<std::ptrdiff_t>(w * common::lanes), common::lanes,
                        sums_.at(w, slot));
        double found[common::lanes];
        model_.log_marginals(work_.data(), found);
        marginals_.at(0, slot) = found[0];
    }

    /// The slots from s on, with the item, or without it if it is their own.
    void score_lanes(const double* x, std::size_t own, std::size_t s, double* out) {
        for (std::size_t w = 0; w < sums_.rows(); ++w)
            for (std::size_t lane = 0; lane < common::lanes; ++lane)
                work_[w * common::lanes + lane] = sums_.at(w, s + lane) + (s + lane == own ? -x[w] : x[w]);
        double found[common::lanes];
        model_.log_marginals(work_.data(), found);
        for (std::size_t lane = 0; lane < common::lanes; ++lane) {
            const double change = found[lane] - marginals_.at(0, s + lane);
            out[s + lane] += s + lane == own ? -change : change;
        }
    }

    Model model_;
    std::vector<std::uint32_t> sizes_;
    SlotRows sums_, marginals_; // [statistic], and one row
    std::vector<double> work_;
};

template <class Model> class Sums<Model>::Summaries {
public:
    void compute(const Sums& family, const SumTable& table, std::span<const std::uint32_t> items,
                 std::span<const std::uint32_t> labels, std::size_t slots) {
        width_ = family.sums_.rows();
        sizes_.assign(slots, 0), sums_.assign(slots * width_, 0.0);
        for (std::size_t p = 0; p < items.size(); ++p) {
            ++sizes_[labels[p]];
            const double* x = table.item(items[p]);
            for (std::size_t w = 0; w < width_; ++w)
                sums_[labels[p] * width_ + w] += x[w];
        }
    }
    std::uint32_t size(std::size_t slot) const { return sizes_[slot]; }
    void assign_to(Sums& family, std::size_t slot, std::size_t source) const {
        family.sizes_[slot] = sizes_[source];
        for (std::size_t w = 0; w < width_; ++w)
            family.sums_.at(w, slot) = sums_[source * width_ + w];
        if (sizes_[source] > 0)
            family.set_marginal(slot);
        else
            family.marginals_.at(0, slot) = 0.0;
    }
    void join(std::size_t one, std::size_t other, std::size_t target) {
        sizes_[target] = sizes_[one] + sizes_[other];
        for (std::size_t w = 0; w < width_; ++w)
            sums_[target * width_ + w] = sums_[one * width_ + w] + sums_[other * width_ + w];
    }

private:
    std::size_t width_ = 0;
    std::vector<std::uint32_t> sizes_;
    std::vector<double> sums_; // [slot][statistic]
};

} // namespace partita::models
