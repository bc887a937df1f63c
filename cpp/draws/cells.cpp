#include "draws/cells.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace partita::search {

std::size_t Cells::all_rows() const {
    return problem_->n_rows() + (problem_->has_gaps() ? problem_->n_draws() : 0);
}

void Cells::allocate(std::size_t columns) {
    constexpr std::size_t cache_line = 64; // a row of few columns fills one
    table_.stride = padded(columns);
    auto room = all_rows() * CellTable::bytes_per_row(table_.stride) + cache_line;
    storage_ = std::make_unique_for_overwrite<std::byte[]>(room);
    void* cells = storage_.get();
    table_.cells = static_cast<std::byte*>(std::align(cache_line, room - cache_line, cells, room));
}

void Cells::ensure_column(std::size_t column) {
    if (column < table_.stride)
        return;
    // all cells are counted again: a quarter more room, so that many new clusters do not pay for it one by
    // one
    allocate(std::max(column + 1, table_.stride + table_.stride / 4));
    count();
}

/// With room for the clusters in use and a few more; a narrow table is a table in the cache.
void Cells::take_partition(std::span<const std::uint32_t> labels) {
    take_labels(labels, [&](std::size_t i) { return problem_->copies(i); });
    if (padded(n_clusters() + 1) != table_.stride)
        allocate(n_clusters() + 1);
    count();
}

void Cells::count() {
    for (std::size_t row = 0; row < all_rows(); ++row)
        std::fill_n(table_.counts(row), table_.stride, 0u);
    count_cells();
    for_each_row([&](std::size_t row, double coefficient, std::span<const float> gain) {
        auto* gains = table_.gains(row);
        const auto* counts = table_.counts(row);
        for (std::size_t k = 0; k < table_.stride; ++k)
            gains[k] = static_cast<float>(coefficient) * gain[counts[k]];
    });
}

void Cells::count_cells() {
    if (const auto& shared = problem_->shared()) {
        for (std::size_t i = 0; i < labels_.size(); ++i)
            if (labels_[i] != no_cluster)
                for (const auto row : shared->of_item(i))
                    table_.counts(row)[labels_[i]] += problem_->copies(i);
        return;
    }
    const bool is_whole = std::find(labels_.begin(), labels_.end(), no_cluster) == labels_.end();
    if (is_whole && !problem_->has_gaps() && !problem_->has_copies())
        return problem_->count_cells(labels_, table_.counts(0),
                                     CellTable::bytes_per_row(table_.stride) / sizeof(std::uint32_t));
    for (std::size_t t = 0; t < problem_->n_draws(); ++t) {
        problem_->for_each_item(t, [&](std::size_t i, std::uint32_t row) {
            if (labels_[i] != no_cluster)
                table_.counts(row)[labels_[i]] += problem_->copies(i);
        });
        if (problem_->has_gaps())
            for (auto row = problem_->row_begin(t); row < problem_->row_begin(t + 1); ++row)
                for (std::size_t k = 0; k < n_clusters(); ++k)
                    table_.counts(margin_row(t))[k] += table_.counts(row)[k];
    }
}

void Cells::find_rows(std::size_t i) {
    if (!problem_->has_gaps()) {
        rows_.resize(problem_->n_draws());
        problem_->rows_of(i, rows_);
        if (draws_.size() != rows_.size()) {
            draws_.resize(rows_.size());
            std::iota(draws_.begin(), draws_.end(), 0u);
        }
        return;
    }
    by_draw_.resize(problem_->n_draws());
    problem_->rows_of(i, by_draw_);
    rows_.clear();
    draws_.clear();
    margin_rows_.clear();
    for (std::uint32_t t = 0; t < by_draw_.size(); ++t)
        if (by_draw_[t] != Problem::no_row) {
            rows_.push_back(by_draw_[t]);
            draws_.push_back(t);
            margin_rows_.push_back(static_cast<std::uint32_t>(margin_row(t)));
        }
}

void Cells::open_cluster(std::uint32_t cluster) {
    ensure_column(cluster);
    if (cluster == n_clusters())
        sizes_.push_back(0);
}

/// Exchanges an empty column with the last one, so that clusters in use stay side by side.
void Cells::close_if_empty(std::uint32_t cluster) {
    if (sizes_[cluster] > 0)
        return;
    if (const auto last = n_clusters() - 1; cluster != last)
        for (std::size_t row = 0; row < all_rows(); ++row) {
            std::swap(table_.counts(row)[cluster], table_.counts(row)[last]);
            std::swap(table_.gains(row)[cluster], table_.gains(row)[last]);
        }
    drop(cluster);
}

void Cells::merge_cells(std::uint32_t k, std::uint32_t l) {
    for_each_row([&](std::size_t row, double coefficient, std::span<const float> gain) {
        auto* counts = table_.counts(row);
        auto* gains = table_.gains(row);
        counts[k] += counts[l];
        counts[l] = 0;
        gains[k] = static_cast<float>(coefficient) * gain[counts[k]];
        gains[l] = static_cast<float>(coefficient) * gain[0];
    });
    join(k, l);
    close_if_empty(l);
}

double Cells::size_gain(std::uint32_t k, std::uint32_t l) const {
    const auto table = problem_->tables().estimate();
    return table[sizes_[k] + sizes_[l]] - table[sizes_[k]] - table[sizes_[l]];
}

} // namespace partita::search
