// Families of which a cluster is known by sums over its items: every item has a row of statistics, a cluster
// their sum, and a model says what the log marginal likelihood of a sum is. The predictive density of an item
// is a difference of two such values. The first statistic is the number of observed cells; an item that has
// none of them says nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "common/lanes.hpp"
#include "common/shared_cells.hpp"
#include "mixtures/number_table.hpp"
#include "mixtures/slot_family.hpp"

namespace partita::models {

/// The statistics of every item, and coordinates by which items are near or far where clusters begin.
class SumTable : public CellTable<double> {
public:
    SumTable(common::SharedCells<double> statistics, std::size_t width, NumberTable coordinates)
        : CellTable(std::move(statistics), width), coordinates_(std::move(coordinates)) {}

    double distance(std::size_t one, std::size_t other) const { return coordinates_.distance(one, other); }

private:
    NumberTable coordinates_;
};

/// A model has `width()`, the number of statistics, and `log_marginals(sums, out)` of as many sums as there
/// are lanes, laid out [statistic][lane].
template <class Model> class Sums : public RecountedFamily<Sums<Model>> {
public:
    using Table = SumTable;
    using Summaries = ItemSums<Sums>;

    explicit Sums(Model model)
        : model_(std::move(model)), sums_(model_.width()), marginals_(1),
          work_(model_.width() * common::lanes) {}

    static auto tables() { return std::array{&Sums::sums_, &Sums::marginals_}; }
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
    std::size_t n_sums() const { return sums_.rows(); }
    void add_to(const double* x, double* sums) const {
        for (std::size_t w = 0; w < n_sums(); ++w)
            sums[w] += x[w];
    }
    void assign(std::size_t slot, std::uint32_t size, const double* sums) {
        clear(slot);
        sizes_[slot] = size;
        for (std::size_t w = 0; w < n_sums(); ++w)
            sums_.at(w, slot) = sums[w];
        if (size > 0)
            set_marginal(slot);
    }

    void score(const double* x, std::size_t own, std::size_t slots, double* out) {
        if (x[0] == 0.0)
            return;
        for (std::size_t s = 0; s < slots; s += common::lanes)
            if (std::any_of(out + s, out + s + common::lanes, [](double score) { return score > lowest; }))
                score_lanes(x, own, s, out);
    }
    double log_marginal(std::size_t slot) const { return marginals_.at(0, slot); }

private:
    using RecountedFamily<Sums>::sizes_;

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
    SlotRows sums_, marginals_; // [statistic], and one row
    std::vector<double> work_;
};

} // namespace partita::models
