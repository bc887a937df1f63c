// Columns of numbers with gaps: each column is Gaussian under a Normal-Inverse-Gamma of its own, as in
// diagonal_gaussian.hpp, but a cluster knows for each column how many of its items have a cell there.
// Exponents then differ from column to column, so that every cell takes a logarithm where a cluster is within
// reach; columns without gaps are better off as a DiagonalGaussian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mixtures/families/diagonal_gaussian.hpp"
#include "mixtures/number_table.hpp"
#include "mixtures/slot_family.hpp"

namespace partita::models {

class GaussianCells : public ColumnFamily<GaussianCells, SlotFamily> {
public:
    using Table = NumberTable;
    class Summaries;

    GaussianCells(GammaBase base, std::size_t max_size);

    std::size_t dims() const { return base_.mean.size(); }
    static auto tables() {
        using Cells = GaussianCells;
        return std::array{&Cells::observed_, &Cells::mean_, &Cells::b_,          &Cells::weight_,
                          &Cells::exponent_, &Cells::add_,  &Cells::own_weight_, &Cells::own_,
                          &Cells::least_,    &Cells::most_};
    }
    void clear(std::size_t slot);
    void insert(std::size_t slot, const double* x) { change(slot, x, 1.0), ++sizes_[slot]; }
    void remove(std::size_t slot, const double* x) { change(slot, x, -1.0), --sizes_[slot]; }

    void score(const double* x, std::size_t own, std::size_t slots, double* out);
    /// The same, but a slot whose score is below that of `own` by more than -depth may get -infinity.
    void score_above(const double* x, std::size_t own, std::size_t slots, double depth, double* out);
    /// Of the last score: the least b_(n-1)/b_n of a column of `own`.
    double own_ratio(std::size_t) const { return own_ratio_; }
    double column_marginal(std::size_t column, std::size_t slot) const;

    template <class Archive> void visit(Archive& archive) { archive(mean_, b_); }
    bool fits(std::size_t stride) const { return mean_.fits(stride) && b_.fits(stride); }
    /// The counts from the labels; means and scales are as they were read. False if they cannot be.
    bool recount(const Summaries& summaries, std::size_t stride);

private:
    void change(std::size_t slot, const double* x, double by);
    void clear_cell(std::size_t column, std::size_t slot);
    void set_cell(std::size_t column, std::size_t slot, double log_b);
    void set_cells(std::size_t slot);
    void set_bounds(std::size_t slot);
    void gather(const double* x, std::span<const std::uint32_t> columns);
    double score_own(std::size_t own);
    void tabulate_steps(std::size_t max_size);

    GammaBase base_;
    /// [column][n]: what a cluster of n cells adds to the log density of another one, its scale apart.
    /// Columns of the same base share it, and so do copies.
    std::vector<std::shared_ptr<const std::vector<double>>> steps_;
    std::vector<std::uint32_t> all_;   // columns
    SlotRows observed_, mean_, b_;     // [column]
    SlotRows weight_, exponent_, add_; // [column]: what scores are made of
    SlotRows own_weight_, own_;        // [column]: the same for an item of the cluster
    SlotRows least_, most_; // the least exponent of all columns, and the sum of their positive `add`
    // of the item at hand: its observed columns and their numbers, and what a cluster takes logarithms of
    std::vector<std::uint32_t> seen_;
    std::size_t n_seen_ = 0;
    std::vector<double> values_, powers_, ratios_;
    double own_ratio_ = 1.0;
};

/// Number, mean and scatter of the observed cells.
class GaussianCells::Summaries {
public:
    void compute(const GaussianCells& family, const NumberTable& table, std::span<const std::uint32_t> items,
                 std::span<const std::uint32_t> labels, std::size_t slots);
    std::uint32_t size(std::size_t slot) const { return sizes_[slot]; }
    void assign_to(GaussianCells& family, std::size_t slot, std::size_t source) const;
    void join(std::size_t one, std::size_t other, std::size_t target);
    double observed(std::size_t slot, std::size_t column) const { return observed_[slot * dims_ + column]; }

private:
    std::size_t dims_ = 0;
    std::vector<std::uint32_t> sizes_;
    std::vector<double> observed_, means_, scatters_; // [slot][column]
};

} // namespace partita::models
