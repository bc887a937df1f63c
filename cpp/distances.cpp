#include "distances.hpp"

#include <algorithm>
#include <numeric>

#include "clones.hpp"
#include "parallel.hpp"

namespace partita {
namespace {

constexpr std::size_t dense_cells_limit = std::size_t{1} << 16; // the whole table stays in the cache
constexpr std::size_t lanes =
    2; // tables that items take turns in: to count in one cell twice at once is slow
constexpr std::size_t lane_cells_limit = 4096; // larger tables have one lane
constexpr std::size_t block_of_draws = 64;     // that a thread takes at a time

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

PARTITA_CLONES void add_and_clear(std::uint32_t* __restrict lane, std::size_t n,
                                  std::uint32_t* __restrict sum) {
    for (std::size_t cell = 0; cell < n; ++cell) {
        sum[cell] += lane[cell];
        lane[cell] = 0;
    }
}

} // namespace

Contingency::Contingency(std::size_t n_estimate_clusters, std::size_t n_draw_clusters)
    : n_rows_(n_estimate_clusters), n_columns_(n_draw_clusters), stride_(n_columns_ + 1),
      dense_((n_rows_ + 1) * stride_ <= dense_cells_limit), n_cells_((n_rows_ + 1) * stride_),
      n_lanes_(n_cells_ <= lane_cells_limit ? lanes : 1), cells_(dense_ ? n_lanes_ * n_cells_ : n_columns_),
      row_sizes_(n_rows_), column_sizes_(n_columns_) {}

template <class Label> void Contingency::set_estimate(std::span<const Label> estimate) {
    estimate_.resize(estimate.size());
    offsets_.resize(estimate.size());
    for (std::size_t i = 0; i < estimate.size(); ++i) {
        estimate_[i] = static_cast<std::uint32_t>(std::min<std::size_t>(estimate[i], n_rows_));
        offsets_[i] = static_cast<std::uint32_t>(estimate_[i] * stride_);
    }
}

template <class Label> Sums Contingency::sums(std::span<const Label> draw, const LossTables& tables) {
    Sums sums;
    if (dense_) {
        count_dense(draw);
        sums.n = sizes_of_dense();
        sums.joint = joint_dense(tables.joint());
    } else {
        sums.n = sizes_of_sparse(draw);
        sums.joint = joint_sparse(draw, tables.joint());
    }
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

/// Gaps are counted in the last row and column, which nothing reads: no branch in the loop.
template <class Label> void Contingency::count_dense(std::span<const Label> draw) {
    std::uint32_t* lane[lanes];
    for (std::size_t s = 0; s < lanes; ++s)
        lane[s] = cells_.data() + (s % n_lanes_) * n_cells_;
    std::fill_n(lane[0], n_cells_, 0u);
    const auto* const offsets = offsets_.data();
    const auto outside = static_cast<std::uint32_t>(n_columns_);
    const auto column = [&](std::size_t i) { return std::min(static_cast<std::uint32_t>(draw[i]), outside); };
    std::size_t i = 0;
    for (; i + lanes <= draw.size(); i += lanes)
        for (std::size_t s = 0; s < lanes; ++s)
            ++lane[s][offsets[i + s] + column(i + s)];
    for (; i < draw.size(); ++i)
        ++lane[0][offsets[i] + column(i)];
    for (std::size_t s = 1; s < n_lanes_; ++s)
        add_and_clear(lane[s], n_cells_, lane[0]);
}

double Contingency::sizes_of_dense() {
    std::fill(column_sizes_.begin(), column_sizes_.end(), 0u);
    std::size_t n = 0;
    for (std::size_t row = 0; row < n_rows_; ++row)
        n += row_sizes_[row] = add_row(cells_.data() + row * stride_, n_columns_, column_sizes_.data());
    return static_cast<double>(n);
}

template <class Label> double Contingency::sizes_of_sparse(std::span<const Label> draw) {
    std::fill(row_sizes_.begin(), row_sizes_.end(), 0u);
    std::fill(column_sizes_.begin(), column_sizes_.end(), 0u);
    std::size_t n = 0;
    for (std::size_t i = 0; i < draw.size(); ++i)
        if (draw[i] != gap<Label> && estimate_[i] < n_rows_) {
            ++row_sizes_[estimate_[i]];
            ++column_sizes_[draw[i]];
            ++n;
        }
    return static_cast<double>(n);
}

/// Row by row, so that the rows' sums overlap in the processor. A row of one cell gives its value exactly, so
/// that the sums of identical partitions cancel exactly.
double Contingency::joint_dense(std::span<const double> table) const {
    double sum = 0;
    for (std::size_t row = 0; row < n_rows_; ++row)
        sum += sum_of(table, std::span(cells_).subspan(row * stride_, n_columns_));
    return sum;
}

/// Cluster after cluster of the estimate, counting in one row that is cleared behind: memory O(items), any K.
template <class Label>
double Contingency::joint_sparse(std::span<const Label> draw, std::span<const double> table) {
    std::vector<std::size_t> begins(n_rows_ + 1);
    std::partial_sum(row_sizes_.begin(), row_sizes_.end(), begins.begin() + 1);
    order_.resize(begins.back());
    auto fill = begins;
    for (std::size_t i = 0; i < draw.size(); ++i)
        if (draw[i] != gap<Label> && estimate_[i] < n_rows_)
            order_[fill[estimate_[i]]++] = static_cast<std::uint32_t>(draw[i]);
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
    Contingency empty(count_clusters(estimate), largest_cluster_count(draws));
    empty.set_estimate(estimate);
    std::vector<Contingency> scratch(std::max(threads, 1u), empty);
    std::vector<Sums> sums(draws.n_draws());
    const auto blocks = (draws.n_draws() + block_of_draws - 1) / block_of_draws;
    parallel_for(blocks, threads, [&](std::size_t block, unsigned worker) {
        const auto end = std::min(draws.n_draws(), (block + 1) * block_of_draws);
        for (std::size_t t = block * block_of_draws; t < end; ++t)
            sums[t] = scratch[worker].sums(draws.draw(t), tables);
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
        scratch[worker].set_estimate(draws.draw(t));
        std::vector<Sums> sums(2 * t); // one table serves both directions
        std::vector<double> losses(2 * t);
        for (std::size_t s = 0; s < t; ++s) {
            sums[2 * s] = scratch[worker].sums(draws.draw(s), tables);
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
    template void Contingency::set_estimate(std::span<const Label>);                                         \
    template Sums Contingency::sums(std::span<const Label>, const LossTables&);                              \
    template std::vector<double> distances(std::span<const std::uint32_t>, const Draws<Label>&,              \
                                           const LossTables&, unsigned);                                     \
    template std::vector<double> pairwise_distances(const Draws<Label>&, const LossTables&, unsigned);
INSTANTIATE(std::uint8_t)
INSTANTIATE(std::uint16_t)
INSTANTIATE(std::uint32_t)
#undef INSTANTIATE

} // namespace partita
