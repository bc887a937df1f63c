#include "distances.hpp"

#include <algorithm>
#include <numeric>

#include "clones.hpp"
#include "parallel.hpp"

namespace partita {
namespace {

constexpr std::size_t dense_cells_limit = std::size_t{1} << 16; // the whole table stays in the cache

double sum_of(std::span<const double> table, std::span<const std::uint32_t> counts) {
    double sum = 0;
    for (const auto count : counts)
        sum += table[count];
    return sum;
}

/// Adds a row of counts to the column sums; returns the row's own sum.
PARTITA_CLONES std::uint32_t add_row(const std::uint32_t* row, std::size_t n,
                                     std::uint32_t* __restrict columns) {
    std::uint32_t sum = 0;
    for (std::size_t column = 0; column < n; ++column) {
        columns[column] += row[column];
        sum += row[column];
    }
    return sum;
}

std::size_t largest_cluster_count(const auto& draws) {
    std::size_t largest = 0;
    for (std::size_t t = 0; t < draws.n_draws(); ++t)
        largest = std::max<std::size_t>(largest, count_clusters(draws.draw(t)));
    return largest;
}

template <class Label> std::vector<std::uint32_t> widen(std::span<const Label> labels) {
    std::vector<std::uint32_t> wide(labels.size());
    std::transform(labels.begin(), labels.end(), wide.begin(), [](Label label) {
        return label == gap<Label> ? gap<std::uint32_t> : static_cast<std::uint32_t>(label);
    });
    return wide;
}

} // namespace

Contingency::Contingency(std::size_t n_estimate_clusters, std::size_t n_draw_clusters)
    : n_rows_(n_estimate_clusters), n_columns_(n_draw_clusters),
      dense_(n_rows_ * n_columns_ <= dense_cells_limit), cells_(dense_ ? n_rows_ * n_columns_ : n_columns_),
      row_sizes_(n_rows_), column_sizes_(n_columns_) {}

template <class Label>
Sums Contingency::sums(std::span<const std::uint32_t> estimate, std::span<const Label> draw,
                       const LossTables& tables) {
    Sums sums;
    sums.n = count_cells(estimate, draw);
    sums.joint = dense_ ? joint_dense(tables.joint()) : joint_sparse(estimate, draw, tables.joint());
    sums.estimate = sum_of(tables.estimate(), row_sizes_);
    sums.draw = sum_of(tables.draw(), column_sizes_);
    sums.total = tables.joint()[static_cast<std::size_t>(sums.n)];
    return sums;
}

Sums Contingency::transposed(Sums sums, const LossTables& tables) const {
    sums.estimate = sum_of(tables.estimate(), column_sizes_);
    sums.draw = sum_of(tables.draw(), row_sizes_);
    return sums;
}

template <class Label>
double Contingency::count_cells(std::span<const std::uint32_t> estimate, std::span<const Label> draw) {
    std::fill(row_sizes_.begin(), row_sizes_.end(), 0u);
    std::fill(column_sizes_.begin(), column_sizes_.end(), 0u);
    std::size_t n = 0;
    if (dense_) {
        std::fill(cells_.begin(), cells_.end(), 0u);
        auto* const cells = cells_.data(); // locals, so that the compiler need not fear aliases
        const auto n_rows = n_rows_, n_columns = n_columns_;
        for (std::size_t i = 0; i < draw.size(); ++i)
            if (draw[i] != gap<Label> && estimate[i] < n_rows)
                ++cells[estimate[i] * n_columns + draw[i]];
        for (std::size_t row = 0; row < n_rows; ++row)
            n += row_sizes_[row] = add_row(cells + row * n_columns, n_columns, column_sizes_.data());
    } else {
        for (std::size_t i = 0; i < draw.size(); ++i)
            if (draw[i] != gap<Label> && estimate[i] < n_rows_) {
                ++row_sizes_[estimate[i]];
                ++column_sizes_[draw[i]];
                ++n;
            }
    }
    return static_cast<double>(n);
}

/// Row by row, so that the rows' sums overlap in the processor. A row of one cell gives its value exactly, so
/// that the sums of identical partitions cancel exactly.
double Contingency::joint_dense(std::span<const double> table) const {
    double sum = 0;
    for (std::size_t row = 0; row < n_rows_; ++row)
        sum += sum_of(table, std::span(cells_).subspan(row * n_columns_, n_columns_));
    return sum;
}

/// Cluster after cluster of the estimate, counting in one row that is cleared behind: memory O(items), any K.
template <class Label>
double Contingency::joint_sparse(std::span<const std::uint32_t> estimate, std::span<const Label> draw,
                                 std::span<const double> table) {
    std::vector<std::size_t> begins(n_rows_ + 1);
    std::partial_sum(row_sizes_.begin(), row_sizes_.end(), begins.begin() + 1);
    order_.resize(begins.back());
    auto fill = begins;
    for (std::size_t i = 0; i < draw.size(); ++i)
        if (draw[i] != gap<Label> && estimate[i] < n_rows_)
            order_[fill[estimate[i]]++] = static_cast<std::uint32_t>(draw[i]);
    double sum = 0;
    for (std::size_t row = 0; row < n_rows_; ++row) {
        const std::span members(order_.data() + begins[row], begins[row + 1] - begins[row]);
        for (const auto column : members)
            ++cells_[column];
        for (const auto column : members) {
            sum += cells_[column] ? table[cells_[column]] : 0.0;
            cells_[column] = 0;
        }
    }
    return sum;
}

template <class Label>
std::vector<double> distances(std::span<const std::uint32_t> estimate, const Draws<Label>& draws,
                              const LossTables& tables, unsigned threads) {
    const auto n_rows = count_clusters(estimate);
    const auto n_columns = largest_cluster_count(draws);
    std::vector<Contingency> scratch(std::max(threads, 1u), Contingency(n_rows, n_columns));
    std::vector<Sums> sums(draws.n_draws());
    parallel_for(draws.n_draws(), threads, [&](std::size_t t, unsigned worker) {
        sums[t] = scratch[worker].sums(estimate, draws.draw(t), tables);
    });
    std::vector<double> losses(draws.n_draws());
    tables.combine(sums, losses);
    return losses;
}

template <class Label>
std::vector<double> pairwise_distances(const Draws<Label>& draws, const LossTables& tables,
                                       unsigned threads) {
    const auto n = draws.n_draws();
    std::vector<double> matrix(n * n);
    const auto n_clusters = largest_cluster_count(draws);
    std::vector<Contingency> scratch(std::max(threads, 1u), Contingency(n_clusters, n_clusters));
    parallel_for(n, threads, [&](std::size_t t, unsigned worker) {
        const auto estimate = widen(draws.draw(t));
        std::vector<Sums> sums(2 * t); // one table serves both directions
        std::vector<double> losses(2 * t);
        for (std::size_t s = 0; s < t; ++s) {
            sums[2 * s] = scratch[worker].sums(std::span(estimate), draws.draw(s), tables);
            sums[2 * s + 1] = scratch[worker].transposed(sums[2 * s], tables);
        }
        tables.combine(sums, losses);
        for (std::size_t s = 0; s < t; ++s) {
            matrix[s * n + t] = losses[2 * s];
            matrix[t * n + s] = losses[2 * s + 1];
        }
    });
    return matrix;
}

#define INSTANTIATE(Label)                                                                                   \
    template Sums Contingency::sums(std::span<const std::uint32_t>, std::span<const Label>,                  \
                                    const LossTables&);                                                      \
    template std::vector<double> distances(std::span<const std::uint32_t>, const Draws<Label>&,              \
                                           const LossTables&, unsigned);                                     \
    template std::vector<double> pairwise_distances(const Draws<Label>&, const LossTables&, unsigned);
INSTANTIATE(std::uint8_t)
INSTANTIATE(std::uint16_t)
INSTANTIATE(std::uint32_t)
#undef INSTANTIATE

} // namespace partita
