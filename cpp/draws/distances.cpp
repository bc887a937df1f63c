#include "draws/distances.hpp"

#include <algorithm>
#include <numeric>

#include "common/clones.hpp"
#include "common/work.hpp"

namespace partita {
namespace {

constexpr std::size_t dense_cells_limit = std::size_t{1} << 16; // the whole table stays in the cache
// Tables in which items take turns: to count in one cell twice at once is slow.
constexpr std::size_t interleaved_tables = 2;
constexpr std::size_t interleaved_cells_limit = 4096; // larger tables are counted in one
constexpr std::size_t block_of_draws = 64;            // that a thread takes at a time

double sum_of(std::span<const double> table, std::span<const std::uint32_t> counts) {
    double sum = 0;
    for (const auto count : counts)
        sum += table[count];
    return sum;
}

std::size_t largest_cluster_count(const auto& draws) {
    std::size_t largest = 0;
    for (std::size_t t = 0; t < draws.n_draws(); ++t)
        largest = std::max<std::size_t>(largest, count_clusters(draws.draw(t)));
    return largest;
}

PARTITA_CLONES void add_and_clear(std::uint32_t* __restrict counts, std::size_t n,
                                  std::uint32_t* __restrict sum) {
    for (std::size_t cell = 0; cell < n; ++cell) {
        sum[cell] += counts[cell];
        counts[cell] = 0;
    }
}

} // namespace

Contingency::Contingency(std::size_t max_estimate_clusters, std::size_t max_draw_clusters) {
    const auto n_cells = (max_estimate_clusters + 1) * (max_draw_clusters + 1);
    dense_ = n_cells <= dense_cells_limit;
    n_tables_ = n_cells <= interleaved_cells_limit ? interleaved_tables : 1;
    cells_.resize(dense_ ? n_tables_ * n_cells : n_tables_ * max_draw_clusters);
}

template <class Label> void Contingency::set_estimate(std::span<const Label> estimate) {
    n_columns_ = count_clusters(estimate);
    stride_ = n_columns_ + 1;
    column_sizes_.resize(n_columns_);
    columns_.resize(estimate.size());
    for (std::size_t i = 0; i < estimate.size(); ++i)
        columns_[i] = static_cast<std::uint32_t>(std::min<std::size_t>(estimate[i], n_columns_));
}

template <class Label> Sums Contingency::sums(std::span<const Label> draw, const LossTables& tables) {
    Sums sums;
    n_rows_ = count_clusters(draw);
    row_sizes_.resize(n_rows_);
    common::count_steps(draw.size() + (dense_ ? n_cells() : n_rows_ + n_columns_));
    if (dense_) {
        count_dense(draw);
        sums.joint = joint_and_sizes_of_dense(tables.joint());
    } else {
        find_sizes(draw);
        sums.joint = joint_sparse(draw, tables.joint());
    }
    const auto n = std::accumulate(row_sizes_.begin(), row_sizes_.end(), std::size_t{0});
    sums.n = static_cast<double>(n);
    sums.estimate = sum_of(tables.estimate(), column_sizes_);
    sums.draw = sum_of(tables.draw(), row_sizes_);
    sums.total = tables.joint()[n];
    return sums;
}

Sums Contingency::transposed(Sums sums, const LossTables& tables) const {
    sums.estimate = sum_of(tables.estimate(), row_sizes_);
    sums.draw = sum_of(tables.draw(), column_sizes_);
    return sums;
}

/// Gaps are counted in the last row and column, which nothing reads: no branch in the loop.
template <class Label> void Contingency::count_dense(std::span<const Label> draw) {
    std::uint32_t* own[interleaved_tables];
    for (std::size_t s = 0; s < interleaved_tables; ++s)
        own[s] = counting_table(s % n_tables_);
    std::fill_n(own[0], n_cells(), 0u);
    const auto* const columns = columns_.data();
    const auto outside = static_cast<std::uint32_t>(n_rows_), stride = static_cast<std::uint32_t>(stride_);
    const auto cell = [&](std::size_t i) {
        return std::min(static_cast<std::uint32_t>(draw[i]), outside) * stride + columns[i];
    };
    std::size_t i = 0;
    for (; i + interleaved_tables <= draw.size(); i += interleaved_tables)
        for (std::size_t s = 0; s < interleaved_tables; ++s)
            ++own[s][cell(i + s)];
    for (; i < draw.size(); ++i)
        ++own[0][cell(i)];
    for (std::size_t s = 1; s < n_tables_; ++s)
        add_and_clear(own[s], n_cells(), own[0]);
}

/// Row by row, so that the rows' sums overlap in the processor. A row of one cell gives its value exactly, so
/// that the sums of identical partitions cancel exactly.
double Contingency::joint_and_sizes_of_dense(std::span<const double> table) {
    std::fill(column_sizes_.begin(), column_sizes_.end(), 0u);
    double sum = 0;
    for (std::size_t row = 0; row < n_rows_; ++row) {
        const auto* const counts = cells_.data() + row * stride_;
        double row_sum = 0;
        std::uint32_t size = 0;
        for (std::size_t column = 0; column < n_columns_; ++column) {
            row_sum += table[counts[column]];
            size += counts[column];
            column_sizes_[column] += counts[column];
        }
        sum += row_sum;
        row_sizes_[row] = size;
    }
    return sum;
}

template <class Label> void Contingency::find_sizes(std::span<const Label> draw) {
    std::fill(row_sizes_.begin(), row_sizes_.end(), 0u);
    std::fill(column_sizes_.begin(), column_sizes_.end(), 0u);
    for (std::size_t i = 0; i < draw.size(); ++i)
        if (draw[i] != gap<Label> && columns_[i] < n_columns_) {
            ++row_sizes_[draw[i]];
            ++column_sizes_[columns_[i]];
        }
}

/// Cluster after cluster of the estimate, counting in one row that is cleared behind: memory O(items), any K.
template <class Label>
double Contingency::joint_sparse(std::span<const Label> draw, std::span<const double> table) {
    std::vector<std::size_t> begins(n_columns_ + 1);
    std::partial_sum(column_sizes_.begin(), column_sizes_.end(), begins.begin() + 1);
    order_.resize(begins.back());
    auto fill = begins;
    for (std::size_t i = 0; i < draw.size(); ++i)
        if (draw[i] != gap<Label> && columns_[i] < n_columns_)
            order_[fill[columns_[i]]++] = static_cast<std::uint32_t>(draw[i]);
    double sum = 0;
    for (std::size_t column = 0; column < n_columns_; ++column) {
        const std::span members(order_.data() + begins[column], begins[column + 1] - begins[column]);
        for (const auto row : members)
            ++cells_[row];
        for (const auto row : members) {
            sum += cells_[row] ? table[cells_[row]] : 0.0;
            cells_[row] = 0;
        }
    }
    return sum;
}

template <class Label>
std::vector<double> distances(std::span<const std::uint32_t> estimate, const Draws<Label>& draws,
                              const LossTables& tables, unsigned threads, const common::StopFlag& stop) {
    Contingency empty(count_clusters(estimate), largest_cluster_count(draws));
    empty.set_estimate(estimate);
    std::vector<Contingency> scratch(std::max(threads, 1u), empty);
    std::vector<Sums> sums(draws.n_draws());
    const auto blocks = (draws.n_draws() + block_of_draws - 1) / block_of_draws;
    common::parallel_for(blocks, threads, stop, [&](std::size_t block, unsigned worker) {
        const auto end = std::min(draws.n_draws(), (block + 1) * block_of_draws);
        for (std::size_t t = block * block_of_draws; t < end && !stop; ++t)
            sums[t] = scratch[worker].sums(draws.draw(t), tables);
    });
    std::vector<double> losses(draws.n_draws());
    if (!stop)
        tables.combine(sums, losses);
    return losses;
}

template <class Label>
std::vector<double> pairwise_distances(const Draws<Label>& draws, const LossTables& tables, unsigned threads,
                                       const common::StopFlag& stop) {
    const auto n = draws.n_draws();
    std::vector<double> matrix(n * n);
    const auto n_clusters = largest_cluster_count(draws);
    std::vector<Contingency> scratch(std::max(threads, 1u), Contingency(n_clusters, n_clusters));
    common::parallel_for(n, threads, stop, [&](std::size_t t, unsigned worker) {
        if (stop)
            return;
        scratch[worker].set_estimate(draws.draw(t));
        std::vector<Sums> sums(2 * t); // one table serves both directions
        std::vector<double> losses(2 * t);
        for (std::size_t s = 0; s < t && !stop; ++s) {
            sums[2 * s] = scratch[worker].sums(draws.draw(s), tables);
            sums[2 * s + 1] = scratch[worker].transposed(sums[2 * s], tables);
        }
        if (stop)
            return;
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
                                           const LossTables&, unsigned, const common::StopFlag&);            \
    template std::vector<double> pairwise_distances(const Draws<Label>&, const LossTables&, unsigned,        \
                                                    const common::StopFlag&);
PARTITA_FOR_EACH_LABEL(INSTANTIATE)
#undef INSTANTIATE

} // namespace partita
