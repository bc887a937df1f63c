// Numbers, one row per item; NaN is a gap.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "common/shared_cells.hpp"

namespace partita::models {

/// What a gap adds to the distance of two items: about what two items at random differ by, in units of the
/// column's variance.
inline constexpr double gap_distance = 2.0;

/// Cells by rows, one row per item.
template <class Cell> class CellTable {
public:
    CellTable(common::SharedCells<Cell> cells, std::size_t dims) : cells_(std::move(cells)), dims_(dims) {}

    std::size_t n_items() const { return cells_.size() / dims_; }
    const Cell* item(std::size_t i) const { return cells_.data() + i * dims_; }

protected:
    common::SharedCells<Cell> cells_;
    std::size_t dims_;
};

class NumberTable : public CellTable<double> {
public:
    NumberTable(common::SharedCells<double> cells, std::size_t dims)
        : CellTable(std::move(cells), dims), inverse_variances_(dims, 0.0) {
        for (std::size_t i = 0; i < dims_; ++i)
            inverse_variances_[i] = inverse_variance(i);
    }

    /// Squared, with every column in units of its variance; a constant column adds nothing.
    double distance(std::size_t one, std::size_t other) const {
        const double *x = item(one), *y = item(other);
        double sum = 0.0;
        for (std::size_t k = 0; k < dims_; ++k) {
            const double difference = x[k] - y[k];
            sum += std::isnan(difference) ? gap_distance : difference * difference * inverse_variances_[k];
        }
        return sum;
    }

private:
    double inverse_variance(std::size_t column) const {
        double n = 0.0, mean = 0.0, squares = 0.0;
        for (std::size_t i = 0; i < n_items(); ++i)
            n += !std::isnan(item(i)[column]);
        for (std::size_t i = 0; i < n_items(); ++i)
            if (const double x = item(i)[column]; !std::isnan(x))
                mean += x / n;
        for (std::size_t i = 0; i < n_items(); ++i)
            if (const double x = item(i)[column]; !std::isnan(x))
                squares += (x - mean) * (x - mean);
        return squares > 0.0 && squares < 1e300 ? n / squares : 0.0;
    }

    std::vector<double> inverse_variances_; // of the columns; 0 for a constant one
};

} // namespace partita::models
