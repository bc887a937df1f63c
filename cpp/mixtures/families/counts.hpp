// Columns of counts: each is Poisson with a rate that is Gamma(shape, rate) in each cluster, integrated out.
//
// A cluster with n observed cells in a column and the sum s gives the count x, with z = shape + s and
// r = rate + n, the probability
//   G(z + x) / G(z) r^z / (r + 1)^(z + x) / x!.
// The factor 1 / x! does not depend on the clusters: it is part of the table's carrier.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "common/shared_cells.hpp"
#include "mixtures/number_table.hpp"
#include "mixtures/slots.hpp"

namespace partita::models {

/// Counts, one row per item; the largest value is a gap.
class CountTable {
public:
    static constexpr std::uint32_t gap = std::numeric_limits<std::uint32_t>::max();

    CountTable(common::SharedCells<std::uint32_t> cells, std::size_t dims);

    std::size_t n_items() const { return cells_.size() / dims_; }
    const std::uint32_t* item(std::size_t i) const { return cells_.data() + i * dims_; }
    /// Between square roots, whose variance hardly depends on the rate.
    double distance(std::size_t one, std::size_t other) const;

private:
    common::SharedCells<std::uint32_t> cells_; // by rows
    std::size_t dims_;
    std::vector<double> inverse_variances_; // of the square roots
};

/// One value per column.
struct RateBase {
    std::vector<double> shape, rate;
};

class Counts {
public:
    using Table = CountTable;
    class Summaries;

    explicit Counts(RateBase base);

    std::size_t dims() const { return base_.shape.size(); }
    std::uint32_t size(std::size_t slot) const { return sizes_[slot]; }
    void widen(std::size_t stride);
    void clear(std::size_t slot);
    void insert(std::size_t slot, const std::uint32_t* x) { change(slot, x, 1.0), ++sizes_[slot]; }
    void remove(std::size_t slot, const std::uint32_t* x) { change(slot, x, -1.0), --sizes_[slot]; }
    void copy_slot(const Counts& from, std::size_t source, std::size_t target);

    void score(const std::uint32_t* x, std::size_t own, std::size_t slots, double* out);
    double own_ratio(std::size_t) const { return 1.0; }
    double log_marginal(std::size_t slot) const;
    /// Which columns scores and `log_marginal` are of; clusters know all of them.
    void set_included(std::span<const std::uint8_t> included) { used_ = included_places(included); }
    void add_unit_marginals(std::size_t slot, double* out) const {
        for (std::size_t column = 0; column < dims(); ++column)
            out[column] += column_marginal(column, slot);
    }

    template <class Archive> void visit(Archive&) {}
    bool fits(std::size_t) const { return true; }
    /// Recomputes the clusters from the labels; checkpoints do not store them.
    bool recount(const Summaries& summaries, std::size_t stride);

private:
    double column_marginal(std::size_t column, std::size_t slot) const;
    void change(std::size_t slot, const std::uint32_t* x, double by);
    void set_cell(std::size_t column, std::size_t slot);
    double score_own(const std::uint32_t* x, std::size_t own) const;

    RateBase base_;
    std::vector<std::uint32_t> sizes_;
    SlotRows observed_, sums_;                      // [column]
    SlotRows z_, log_z_, remainder_, zero_, slope_; // [column]: what scores are made of
    std::vector<std::uint32_t> used_;               // columns that scores are of
};

/// Number and sum of the observed cells.
class Counts::Summaries {
public:
    void compute(const Counts& family, const CountTable& table, std::span<const std::uint32_t> items,
                 std::span<const std::uint32_t> labels, std::size_t slots);
    std::uint32_t size(std::size_t slot) const { return sizes_[slot]; }
    void assign_to(Counts& family, std::size_t slot, std::size_t source) const;
    void join(std::size_t one, std::size_t other, std::size_t target) {
        sizes_[target] = sizes_[one] + sizes_[other];
        for (std::size_t column = 0; column < dims_; ++column)
            for (auto* values : {&observed_, &sums_})
                (*values)[target * dims_ + column] =
                    (*values)[one * dims_ + column] + (*values)[other * dims_ + column];
    }

private:
    std::size_t dims_ = 0;
    std::vector<std::uint32_t> sizes_;
    std::vector<double> observed_, sums_; // [slot][column]; whole numbers
};

} // namespace partita::models
