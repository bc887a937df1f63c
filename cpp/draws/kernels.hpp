// The innermost loops of the search, over the rows of one item. Plain functions, so that each is compiled for
// several instruction sets (clones.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "draws/losses.hpp"

namespace partita::search {

/// Candidate columns are padded to this many, one vector register of floats.
inline constexpr std::size_t vector_width = 8;

inline constexpr std::size_t padded(std::size_t columns) {
    return (columns + vector_width - 1) / vector_width * vector_width;
}

/// The cells of all rows. A row holds, for each candidate cluster (column), the gain of adding one more item
/// to the cell and the cell's count, side by side, so that one item and one draw cost one or two cache lines.
/// The room is bytes, in which floats and integers may live next to each other.
struct CellTable {
    std::byte* cells = nullptr;
    std::size_t stride = 0; // columns, a multiple of `vector_width`

    static std::size_t bytes_per_row(std::size_t stride) {
        return stride * (sizeof(float) + sizeof(std::uint32_t));
    }
    float* gains(std::size_t row) const {
        return reinterpret_cast<float*>(cells + row * bytes_per_row(stride));
    }
    std::uint32_t* counts(std::size_t row) const {
        return reinterpret_cast<std::uint32_t*>(cells + row * bytes_per_row(stride) + stride * sizeof(float));
    }
};

/// The column of the item's own cluster. Without the item, a row's gain there is coefficient * gain[count -
/// 1].
struct OwnColumn {
    std::size_t column;
    const float* coefficients; // of the rows
    const float* gain;
};

/// out[k] = sum of the gains of column k over the rows; n_columns is a multiple of `vector_width`. With
/// `own`, that column's sum is without the item.
void sum_gains(const CellTable& table, std::span<const std::uint32_t> rows, std::size_t n_columns,
               const OwnColumn* own, double* out);

/// What a non-linear loss needs of one draw to score an item, with the item taken out.
struct DrawTerms {
    double weight, joint, draw, n, total;
};

/// out[k] += weight_t * loss(joint_t + gains_t[k], estimate, draw_t) over the rows; built-in non-linear
/// losses only. The estimate's sum is estimate[k] for all draws, or, where draws have margin rows (gaps),
/// estimate[t] plus the gains of the draw's margin row.
void score_rows(const Loss& loss, const CellTable& table, std::span<const std::uint32_t> rows,
                std::span<const std::uint32_t> margin_rows, std::span<const DrawTerms> terms,
                std::span<const double> estimate, std::size_t n_columns, double* out);

/// changes[k * n + l] += coefficient * (f(n_k + n_l) - f(n_k) - f(n_l)) for the n counts of a row, k < l;
/// f(0) = 0, so that only occupied cells matter.
template <class Real>
void add_pair_gains(const std::uint32_t* counts, std::size_t n, std::span<const double> table,
                    double coefficient, std::span<Real> changes) {
    static thread_local std::vector<std::uint32_t> occupied;
    occupied.clear();
    for (std::uint32_t k = 0; k < n; ++k)
        if (counts[k])
            occupied.push_back(k);
    for (std::size_t x = 0; x < occupied.size(); ++x)
        for (std::size_t y = x + 1; y < occupied.size(); ++y) {
            const auto k = occupied[x], l = occupied[y];
            changes[k * n + l] += static_cast<Real>(
                coefficient * (table[counts[k] + counts[l]] - table[counts[k]] - table[counts[l]]));
        }
}

} // namespace partita::search
