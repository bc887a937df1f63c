#include "draws/state.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/work.hpp"
#include "partition/labels.hpp"

namespace partita::search {
namespace {

constexpr std::size_t cache_line = 64; // a row of few columns fills one

} // namespace

State::State(const Problem& problem, std::uint32_t max_clusters)
    : LabelledItems(problem.n_items(), max_clusters), problem_(&problem) {
    if (problem_->is_linear())
        return; // room for cells is made when there is a cluster
    row_sizes_.assign(problem_->n_rows(), 0);
    allocated_.assign(problem_->n_draws(), 0);
    refresh();
}

std::size_t State::all_rows() const {
    return problem_->n_rows() + (problem_->has_gaps() ? problem_->n_draws() : 0);
}

void State::allocate(std::size_t columns) {
    table_.stride = padded(columns);
    auto room = all_rows() * CellTable::bytes_per_row(table_.stride) + cache_line;
    storage_ = std::make_unique_for_overwrite<std::byte[]>(room);
    void* cells = storage_.get();
    table_.cells = static_cast<std::byte*>(std::align(cache_line, room - cache_line, cells, room));
}

void State::ensure_column(std::size_t column) {
    if (column < table_.stride)
        return;
    // all cells are counted again: a quarter more room, so that many new clusters do not pay for it one by
    // one
    allocate(std::max(column + 1, table_.stride + table_.stride / 4));
    count_cells();
    fill_gains();
}

/// Room for the clusters in use and a few more; a narrow table is a table in the cache.
void State::fit_columns() {
    if (padded(n_clusters() + 1) != table_.stride)
        allocate(n_clusters() + 1);
}

void State::compact() {
    if (padded(n_clusters() + 1) < table_.stride)
        assign(labels_);
}

void State::assign(std::span<const std::uint32_t> labels) {
    take_labels(labels, [&](std::size_t i) { return problem_->copies(i); });
    fit_columns();
    count_cells();
    fill_gains();
    refresh();
}

void State::count_cells() {
    for (std::size_t row = 0; row < all_rows(); ++row)
        std::fill_n(table_.counts(row), table_.stride, 0u);
    if (problem_->shared())
        count_shared_cells();
    else
        count_cells_of_draws();
}

void State::count_shared_cells() {
    for (std::size_t i = 0; i < labels_.size(); ++i)
        if (labels_[i] != no_cluster)
            for (const auto row : problem_->shared()->of_item(i))
                table_.counts(row)[labels_[i]] += problem_->copies(i);
}

void State::count_cells_of_draws() {
    row_sizes_.assign(problem_->n_rows(), 0);
    allocated_.assign(problem_->n_draws(), 0);
    const bool is_whole = std::find(labels_.begin(), labels_.end(), no_cluster) == labels_.end();
    if (is_whole && !problem_->has_gaps() && !problem_->has_copies()) {
        problem_->count_cells(labels_, table_.counts(0),
                              CellTable::bytes_per_row(table_.stride) / sizeof(std::uint32_t));
        if (!problem_->is_linear())
            find_row_sizes();
        return;
    }
    for (std::size_t t = 0; t < problem_->n_draws(); ++t) {
        std::uint32_t allocated = 0;
        problem_->for_each_item(t, [&](std::size_t i, std::uint32_t row) {
            if (labels_[i] == no_cluster)
                return;
            const auto copies = problem_->copies(i);
            table_.counts(row)[labels_[i]] += copies;
            row_sizes_[row] += copies;
            allocated += copies;
        });
        allocated_[t] = allocated;
        if (problem_->has_gaps())
            for (auto row = problem_->row_begin(t); row < problem_->row_begin(t + 1); ++row)
                for (std::size_t k = 0; k < n_clusters(); ++k)
                    table_.counts(margin_row(t))[k] += table_.counts(row)[k];
    }
}

void State::find_row_sizes() {
    for (std::size_t row = 0; row < problem_->n_rows(); ++row)
        row_sizes_[row] = std::accumulate(table_.counts(row), table_.counts(row) + n_clusters(), 0u);
    std::fill(allocated_.begin(), allocated_.end(), static_cast<std::uint32_t>(labels_.size()));
}

void State::fill_gains() {
    for_each_row([&](std::size_t row, double coefficient, std::span<const float> gain) {
        auto* gains = table_.gains(row);
        const auto* counts = table_.counts(row);
        for (std::size_t k = 0; k < table_.stride; ++k)
            gains[k] = static_cast<float>(coefficient) * gain[counts[k]];
    });
}

void State::refresh() {
    if (problem_->is_linear()) {
        value_ = linear_value();
    } else {
        find_sums();
        stale_ = true;
    }
}

double State::linear_value() const {
    const auto table = problem_->tables().joint();
    double value = 0;
    for_each_row([&](std::size_t row, double coefficient, std::span<const float>) {
        double sum = 0;
        for (std::size_t k = 0; k < n_clusters(); ++k)
            sum += table[table_.counts(row)[k]];
        value += coefficient * sum;
    });
    if (!problem_->has_gaps())
        for (const auto size : sizes_)
            value += problem_->estimate_scale() * table[size];
    return value;
}

void State::find_sums() {
    const auto& tables = problem_->tables();
    joint_.assign(problem_->n_draws(), 0);
    draw_.assign(problem_->n_draws(), 0);
    estimate_.assign(draws_or_one(), 0);
    for (std::size_t t = 0; t < problem_->n_draws(); ++t) {
        for (auto row = problem_->row_begin(t); row < problem_->row_begin(t + 1); ++row) {
            draw_[t] += tables.draw()[row_sizes_[row]];
            for (std::size_t k = 0; k < n_clusters(); ++k)
                joint_[t] += tables.joint()[table_.counts(row)[k]];
        }
        if (problem_->has_gaps())
            for (std::size_t k = 0; k < n_clusters(); ++k)
                estimate_[t] += tables.estimate()[table_.counts(margin_row(t))[k]];
    }
    if (!problem_->has_gaps())
        for (const auto size : sizes_)
            estimate_[0] += tables.estimate()[size];
}

Sums State::sums_of(std::size_t t) const {
    const auto n = allocated_[t];
    return {joint_[t], estimate_[problem_->has_gaps() ? t : 0], draw_[t], static_cast<double>(n),
            problem_->tables().joint()[n]};
}

double State::combined_value() const {
    const auto& tables = problem_->tables();
    if (!std::holds_alternative<CustomLoss>(tables.loss()))
        return weighted_sum(tables.loss(), problem_->weights(), [&](std::size_t t) { return sums_of(t); });
    std::vector<Sums> sums(problem_->n_draws());
    std::vector<double> losses(sums.size());
    for (std::size_t t = 0; t < sums.size(); ++t)
        sums[t] = sums_of(t);
    tables.combine(sums, losses);
    return std::inner_product(losses.begin(), losses.end(), problem_->weights().begin(), 0.0);
}

double State::value() const {
    if (stale_) {
        value_ = combined_value();
        stale_ = false;
    }
    return value_;
}

double State::rounding() const { return problem_->rounding() + precise_tolerance() * std::abs(value()); }

/// The rows of item i. A linear loss sums gains over all its rows, margins included; others pair each row
/// with its draw and margin.
void State::find_rows(std::size_t i) {
    common::count_steps(problem_->n_draws() * (n_clusters() + std::size_t{1}));
    if (problem_->shared())
        return find_shared_rows(i);
    if (!problem_->has_gaps()) {
        rows_.resize(problem_->n_draws());
        problem_->rows_of(i, rows_);
        if (draws_.size() != rows_.size()) {
            draws_.resize(rows_.size());
            std::iota(draws_.begin(), draws_.end(), 0u);
            coefficients_.assign(problem_->cell_coefficients().begin(), problem_->cell_coefficients().end());
        }
        return;
    }
    by_draw_.resize(problem_->n_draws());
    problem_->rows_of(i, by_draw_);
    rows_.clear();
    draws_.clear();
    margin_rows_.clear();
    coefficients_.clear();
    for (std::uint32_t t = 0; t < by_draw_.size(); ++t) {
        if (by_draw_[t] == Problem::no_row)
            continue;
        rows_.push_back(by_draw_[t]);
        draws_.push_back(t);
        margin_rows_.push_back(static_cast<std::uint32_t>(margin_row(t)));
        if (problem_->is_linear())
            coefficients_.push_back(static_cast<float>(problem_->cell_coefficients()[t]));
    }
    if (problem_->is_linear()) {
        for (const auto t : draws_)
            coefficients_.push_back(static_cast<float>(problem_->margin_coefficients()[t]));
        rows_.insert(rows_.end(), margin_rows_.begin(), margin_rows_.end());
    }
}

void State::find_shared_rows(std::size_t i) {
    const auto rows = problem_->shared()->of_item(i);
    rows_.assign(rows.begin(), rows.end());
    coefficients_.resize(rows.size());
    for (std::size_t e = 0; e < rows.size(); ++e)
        coefficients_[e] = static_cast<float>(problem_->shared()->coefficients[rows[e]]);
}

/// What a linear loss multiplies the cells of a row of the item at hand with; rows_[entry] is the row.
double State::coefficient(std::size_t entry) const {
    if (const auto& shared = problem_->shared())
        return shared->coefficients[rows_[entry]];
    const bool is_margin = entry >= draws_.size(); // margin rows follow the others
    return is_margin ? problem_->margin_coefficients()[draws_[entry - draws_.size()]]
                     : problem_->cell_coefficients()[draws_[entry]];
}

} // namespace partita::search
