// Columns of levels: in each column the shares of a cluster's levels are Dirichlet(w, ..., w), integrated
// out.
//
// A cluster with n observed cells in a column, n_l of them at level l of L, gives level l the probability
//   (w + n_l) / (L w + n).
// Its logarithms are kept for every cluster and level, so that a cell of an item is one addition per cluster,
// and a gap is nothing at all. So are those that an item of the cluster has, which is scored without itself:
// (w + n_l - 1) / (L w + n - 1). A move changes the levels of one cluster; their logarithms are looked up.
// Ordinal columns have shares on a grid instead: see LevelGrid.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "common/log_table.hpp"
#include "common/shared_cells.hpp"
#include "mixtures/number_table.hpp"
#include "mixtures/slot_family.hpp"

namespace partita::models {

/// Level codes in the smallest type that holds them; the largest value is a gap.
template <class Code> class LevelTable : public CellTable<Code> {
public:
    static constexpr Code gap = std::numeric_limits<Code>::max();

    using CellTable<Code>::CellTable;

    double distance(std::size_t one, std::size_t other) const {
        const Code *x = this->item(one), *y = this->item(other);
        std::size_t differ = 0;
        for (std::size_t k = 0; k < this->dims_; ++k)
            differ += x[k] != y[k] || x[k] == gap;
        return gap_distance * static_cast<double>(differ);
    }
};

/// Shares of levels that depend on a few parameters, such as those of an ordinal probit: points of a grid
/// with prior probabilities, and the shares at each point. A cluster with n_l cells at level l has
///   p = sum_g w_g prod_l p_l(g)^(n_l).
struct LevelGrid {
    std::vector<double> log_weights; // [point]
    std::vector<double> shares;      // [level][point], all positive
    std::vector<double> log_shares;

    std::size_t points() const { return log_weights.size(); }
};

/// One value per column.
struct DirichletBase {
    std::vector<std::uint32_t> levels;
    std::vector<double> weights; // w of each level
    /// Of columns whose shares are on a grid instead; empty if none are.
    std::vector<std::shared_ptr<const LevelGrid>> grids = {};

    const LevelGrid* grid(std::size_t column) const { return grids.empty() ? nullptr : grids[column].get(); }
};

/// Adds rows of numbers to out[0], ..., out[slots - 1].
void add_rows(std::span<const double* const> rows, std::size_t slots, double* out);

template <class Code> class Categorical : public ColumnFamily<Categorical<Code>, RecountedFamily> {
public:
    using Table = LevelTable<Code>;
    using Summaries = ItemSums<Categorical>; // the items at each level

    Categorical(DirichletBase base, std::size_t max_size);

    std::size_t dims() const { return base_.levels.size(); }
    static auto tables() {
        return std::array{&Categorical::counts_, &Categorical::observed_, &Categorical::log_shares_,
                          &Categorical::grid_marginals_};
    }
    void clear(std::size_t slot);
    void insert(std::size_t slot, const Code* x) { change(slot, x, 1.0), ++sizes_[slot]; }
    void remove(std::size_t slot, const Code* x) { change(slot, x, -1.0), --sizes_[slot]; }
    std::size_t n_sums() const { return counts_.rows(); }
    void add_to(const Code* x, double* counts) const {
        for (std::size_t c = 0; c < dims(); ++c)
            if (x[c] != Table::gap)
                counts[first_[c] + x[c]] += 1.0;
    }
    void assign(std::size_t slot, std::uint32_t size, const double* counts);

    void score(const Code* x, std::size_t own, std::size_t slots, double* out);
    double column_marginal(std::size_t column, std::size_t slot) const;

private:
    using ColumnFamily<Categorical, RecountedFamily>::sizes_;
    using ColumnFamily<Categorical, RecountedFamily>::used_;

    void change(std::size_t slot, const Code* x, double by);
    void set_column(std::size_t column, std::size_t slot);
    void set_grid_column(const LevelGrid& grid, std::size_t column, std::size_t slot);
    double own_score(std::size_t own, std::size_t observed) const;
    double log_of(std::size_t table, double count) const {
        return tables_[table](static_cast<std::uint32_t>(count));
    }
    std::size_t table_of(double base, std::size_t max_size);

    DirichletBase base_;
    std::vector<std::size_t> first_;                      // row of each column's first level
    std::vector<double> bases_;                           // of the tables
    std::vector<common::LogTable> tables_;                // ln(base + n), shared by columns
    std::vector<std::size_t> level_table_, column_table_; // of w, and of L w
    SlotRows counts_, observed_;                          // [level], [column]
    SlotRows log_shares_;             // two rows for each level: as they are, and without one of its items
    SlotRows grid_marginals_;         // [column]: ln p of its cells, of columns with a grid
    std::vector<const double*> rows_; // of the levels of the item that was scored last
    std::vector<double> posterior_;   // of the points of a grid
};

} // namespace partita::models
