// Columns of counts: each is Poisson with a rate that is Gamma(shape, rate) in each cluster, integrated out.
//
// A cluster with n observed cells in a column and the sum s gives the count x, with z = shape + s and
// r = rate + n, the probability
//   G(z + x) / G(z) r^z / (r + 1)^(z + x) / x!.
// The factor 1 / x! does not depend on the clusters: it is part of the table's carrier.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "common/shared_cells.hpp"
#include "mixtures/number_table.hpp"
#include "mixtures/slot_family.hpp"

namespace partita::models {

/// Counts; the largest value is a gap.
class CountTable : public CellTable<std::uint32_t> {
public:
    static constexpr std::uint32_t gap = std::numeric_limits<std::uint32_t>::max();

    CountTable(common::SharedCells<std::uint32_t> cells, std::size_t dims);

    /// Between square roots, whose variance hardly depends on the rate.
    double distance(std::size_t one, std::size_t other) const;

private:
    std::vector<double> inverse_variances_; // of the square roots
};

/// One value per column.
struct RateBase {
    std::vector<double> shape, rate;
};

class Counts : public ColumnFamily<Counts, RecountedFamily> {
public:
    using Table = CountTable;
    using Summaries = ItemSums<Counts>; // of each column: its cells, and the counts in them

    explicit Counts(RateBase base);

    std::size_t dims() const { return base_.shape.size(); }
    static auto tables() {
        return std::array{&Counts::observed_,  &Counts::sums_, &Counts::z_,    &Counts::log_z_,
                          &Counts::remainder_, &Counts::zero_, &Counts::slope_};
    }
    void clear(std::size_t slot);
    void insert(std::size_t slot, const std::uint32_t* x) { change(slot, x, 1.0), ++sizes_[slot]; }
    void remove(std::size_t slot, const std::uint32_t* x) { change(slot, x, -1.0), --sizes_[slot]; }
    std::size_t n_sums() const { return 2 * dims(); }
    void add_to(const std::uint32_t* x, double* sums) const;
    void assign(std::size_t slot, std::uint32_t size, const double* sums);

    void score(const std::uint32_t* x, std::size_t own, std::size_t slots, double* out);
    double column_marginal(std::size_t column, std::size_t slot) const;

private:
    void change(std::size_t slot, const std::uint32_t* x, double by);
    void set_cell(std::size_t column, std::size_t slot);
    double score_own(const std::uint32_t* x, std::size_t own) const;

    RateBase base_;
    SlotRows observed_, sums_;                      // [column]
    SlotRows z_, log_z_, remainder_, zero_, slope_; // [column]: what scores are made of
};

} // namespace partita::models
