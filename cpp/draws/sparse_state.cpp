#include "draws/sparse_state.hpp"

#include <algorithm>
#include <utility>

#include "common/work.hpp"
#include "partition/labels.hpp"

namespace partita::search {
SparseState::SparseState(const SparseProblem& problem, std::uint32_t max_clusters)
    : LabelledItems(problem.n_items(), max_clusters), problem_(&problem), rows_(&problem.rows()),
      next_(problem.n_items()), previous_(problem.n_items()), short_cells_(SparseRows::max_short) {
    const auto table = problem.tables().joint();
    unit_extra_.resize(table.size());
    for (std::size_t count = 0; count + 1 < table.size(); ++count)
        unit_extra_[count] = table[count + 1] - table[count] - table[1];
    std::uint32_t n_long = 0;
    for (std::uint32_t row = 0; row < rows_->size(); ++row)
        if (rows_->items_of(row).size() > SparseRows::max_short) {
            long_number_.resize(rows_->size(), no_cluster);
            long_number_[row] = n_long++;
        }
    long_cells_.resize(n_long);
    assign(labels_);
}

double SparseState::joint_extra(std::uint32_t count, std::uint32_t copies) const {
    if (copies == 1)
        return unit_extra_[count];
    const auto table = problem_->tables().joint();
    return table[count + copies] - table[count] - table[copies];
}

std::vector<std::uint32_t> SparseState::members(std::uint32_t cluster) const {
    std::vector<std::uint32_t> items;
    for (auto i = heads_[cluster]; i != no_cluster; i = next_[i])
        items.push_back(i);
    std::sort(items.begin(), items.end());
    return items;
}

void SparseState::assign(std::span<const std::uint32_t> labels) {
    take_labels(labels, [&](std::size_t i) { return problem_->copies(i); });
    heads_.assign(sizes_.size(), no_cluster);
    for (std::size_t i = labels_.size(); i-- > 0;)
        if (labels_[i] != no_cluster)
            link(i, labels_[i]);
    common::count_steps(labels_.size() + sizes_.size());
    by_size_.reset(sizes_);
    count_long_rows();
    if (problem_->has_gaps()) {
        margins_.assign((sizes_.size() + 1) * problem_->n_draws(), 0);
        for (std::size_t i = 0; i < labels_.size(); ++i)
            if (labels_[i] != no_cluster)
                change_margins(i, labels_[i], problem_->copies(i));
    }
    refresh();
}

void SparseState::link(std::size_t i, std::uint32_t cluster) {
    next_[i] = heads_[cluster];
    previous_[i] = no_cluster;
    if (next_[i] != no_cluster)
        previous_[next_[i]] = static_cast<std::uint32_t>(i);
    heads_[cluster] = static_cast<std::uint32_t>(i);
}

void SparseState::unlink(std::size_t i) {
    (previous_[i] == no_cluster ? heads_[labels_[i]] : next_[previous_[i]]) = next_[i];
    if (next_[i] != no_cluster)
        previous_[next_[i]] = previous_[i];
}

/// The occupied cells of a row. What is returned for a short row lasts until the next call.
std::span<const SparseState::Cell> SparseState::cells(std::uint32_t row) const {
    if (!long_number_.empty() && long_number_[row] != no_cluster)
        return long_cells_[long_number_[row]];
    return cells_of(rows_->items_of(row));
}

/// The cells of a few items, which last until the next call.
std::span<const SparseState::Cell> SparseState::cells_of(std::span<const std::uint32_t> items) const {
    std::size_t used = 0;
    for (const auto j : items) {
        const auto cluster = labels_[j];
        if (cluster == no_cluster)
            continue;
        std::size_t place = 0;
        while (place < used && short_cells_[place].cluster != cluster)
            ++place;
        if (place == used)
            short_cells_[used++] = {cluster, 0};
        short_cells_[place].count += problem_->copies(j);
    }
    return std::span(short_cells_).first(used);
}

void SparseState::count_long_rows() {
    if (long_cells_.empty())
        return;
    std::vector<std::uint32_t> counts(n_clusters());
    for (std::uint32_t row = 0; row < rows_->size(); ++row) {
        if (long_number_[row] == no_cluster)
            continue;
        auto& list = long_cells_[long_number_[row]];
        list.clear();
        for (const auto j : rows_->items_of(row))
            if (labels_[j] != no_cluster &&
                (counts[labels_[j]] += problem_->copies(j)) == problem_->copies(j))
                list.push_back({labels_[j], 0});
        for (auto& cell : list)
            cell.count = std::exchange(counts[cell.cluster], 0);
    }
}

void SparseState::add_to_long_rows(std::size_t i, std::uint32_t cluster, std::int64_t step) {
    if (long_cells_.empty())
        return;
    for (const auto& of_item : rows_->rows_of(i)) {
        if (long_number_[of_item.row] == no_cluster)
            continue;
        auto& list = long_cells_[long_number_[of_item.row]];
        auto cell = std::find_if(list.begin(), list.end(), [&](auto& c) { return c.cluster == cluster; });
        if (cell == list.end())
            cell = list.insert(cell, {cluster, 0});
        cell->count = static_cast<std::uint32_t>(cell->count + step);
        if (cell->count == 0) {
            *cell = list.back();
            list.pop_back();
        }
    }
}

/// The cells of a cluster that takes another number.
void SparseState::rename_in_long_rows(std::uint32_t from, std::uint32_t to) {
    if (long_cells_.empty())
        return;
    for (auto i = heads_[from]; i != no_cluster; i = next_[i])
        for (const auto& of_item : rows_->rows_of(i))
            if (of_item.n_others == 0)
                for (auto& cell : long_cells_[long_number_[of_item.row]])
                    if (cell.cluster == from)
                        cell.cluster = to;
}

void SparseState::change_margins(std::size_t i, std::uint32_t cluster, std::int64_t step) {
    for (std::size_t t = 0; t < problem_->n_draws(); ++t)
        if (problem_->is_labelled(i, t))
            margins(cluster)[t] = static_cast<std::uint32_t>(margins(cluster)[t] + step);
}

void SparseState::resize(std::uint32_t cluster, std::uint32_t size) {
    by_size_.erase(cluster, sizes_[cluster]);
    sizes_[cluster] = size;
    by_size_.add(cluster, size);
}

void SparseState::open_cluster(std::uint32_t cluster) {
    if (cluster < n_clusters())
        return;
    sizes_.push_back(0);
    heads_.push_back(no_cluster);
    by_size_.add(cluster, 0);
    if (problem_->has_gaps()) // one more than in use, so that a new cluster can be scored
        margins_.resize((sizes_.size() + 1) * problem_->n_draws());
}

void SparseState::close_cluster(std::uint32_t cluster) {
    const auto last = n_clusters() - 1;
    by_size_.erase(cluster, 0);
    if (cluster != last) {
        rename_in_long_rows(last, cluster);
        for (auto i = heads_[last]; i != no_cluster; i = next_[i])
            labels_[i] = cluster;
        by_size_.erase(last, sizes_[last]);
        by_size_.add(cluster, sizes_[last]);
        heads_[cluster] = heads_[last];
        sizes_[cluster] = sizes_[last];
        if (problem_->has_gaps()) {
            std::copy_n(margins(last), problem_->n_draws(), margins(cluster));
            std::fill_n(margins(last), problem_->n_draws(), 0u);
        }
    }
    heads_.pop_back();
    sizes_.pop_back();
}

/// Puts item i into `cluster` (Step = 1) or takes it out (Step = -1). Sums and value are changed while the
/// item is out.
template <int Step> void SparseState::change(std::size_t i, std::uint32_t cluster) {
    const auto copies = problem_->copies(i);
    if constexpr (Step < 0) {
        unlink(i);
        labels_[i] = no_cluster;
        add_to_long_rows(i, cluster, -std::int64_t{copies});
        resize(cluster, sizes_[cluster] - copies);
        if (problem_->has_gaps())
            change_margins(i, cluster, -std::int64_t{copies});
    }
    if (problem_->is_linear()) {
        change_value(i, cluster, Step);
    } else {
        change_sums(i, cluster, Step);
        stale_ = true;
    }
    if constexpr (Step > 0) {
        add_to_long_rows(i, cluster, copies);
        labels_[i] = cluster;
        link(i, cluster);
        resize(cluster, sizes_[cluster] + copies);
        if (problem_->has_gaps())
            change_margins(i, cluster, copies);
    }
}

void SparseState::change_value(std::size_t i, std::uint32_t cluster, int sign) {
    double extra = 0;
    for (const auto& pair : rows_->pairs_of(i))
        if (labels_[pair.other] == cluster)
            extra += pair.coefficient * joint_extra(problem_->copies(pair.other), problem_->copies(i));
    for_each_row(i, [&](const RowOfItem& row, std::span<const Cell> cells, bool) {
        if (const auto count = count_in(cells, cluster))
            extra += row.coefficient * joint_extra(count, problem_->copies(i));
    });
    value_ += sign * linear_score(i, cluster, extra);
}

void SparseState::change_sums(std::size_t i, std::uint32_t cluster, int sign) {
    const auto table = problem_->tables().joint();
    for (std::size_t t = 0; t < problem_->n_draws(); ++t) {
        if (!problem_->is_labelled(i, t))
            continue;
        joint_[t] += sign * table[1];
        draw_[t] += sign * table[1];
        allocated_[t] = static_cast<std::uint32_t>(static_cast<int>(allocated_[t]) + sign);
        if (problem_->has_gaps())
            estimate_[t] += sign * (table[margins(cluster)[t] + 1] - table[margins(cluster)[t]]);
    }
    if (!problem_->has_gaps())
        estimate_[0] += sign * (table[sizes_[cluster] + 1] - table[sizes_[cluster]]);
    for (const auto& pair : rows_->pairs_of(i)) {
        joint_[pair.draw] += labels_[pair.other] == cluster ? sign * unit_extra_[1] : 0.0;
        draw_[pair.draw] += labels_[pair.other] != no_cluster ? sign * unit_extra_[1] : 0.0;
    }
    for_each_row(i, [&](const RowOfItem& row, std::span<const Cell> cells, bool) {
        const auto t = rows_->draws[row.row];
        auto& size = row_sizes_[row.row];
        if (sign < 0)
            --size;
        joint_[t] += sign * unit_extra_[count_in(cells, cluster)];
        draw_[t] += sign * unit_extra_[size];
        if (sign > 0)
            ++size;
    });
}

void SparseState::insert(std::size_t i, std::uint32_t cluster) {
    open_cluster(cluster);
    change<1>(i, cluster);
}

void SparseState::remove(std::size_t i) {
    const auto cluster = labels_[i];
    change<-1>(i, cluster);
    if (sizes_[cluster] == 0)
        close_cluster(cluster);
}

void SparseState::move(std::size_t i, std::uint32_t cluster) {
    const auto old = labels_[i];
    if (cluster == old)
        return;
    open_cluster(cluster);
    change<-1>(i, old);
    change<1>(i, cluster);
    if (sizes_[old] == 0)
        close_cluster(old);
}

void SparseState::refresh() {
    common::count_steps(labels_.size());
    if (problem_->is_linear()) {
        value_ = linear_value();
    } else {
        find_sums();
        stale_ = true;
    }
}

double SparseState::value() const {
    if (stale_) {
        value_ = combined_value();
        stale_ = false;
    }
    return value_;
}

double SparseState::linear_value() const {
    const auto table = problem_->tables().joint();
    double value = 0;
    for (std::uint32_t i = 0; i < labels_.size(); ++i) {
        if (labels_[i] == no_cluster)
            continue;
        value += problem_->alone(i);
        for (const auto& pair : rows_->pairs_of(i))
            if (pair.other > i && labels_[pair.other] == labels_[i])
                value += pair.coefficient * joint_extra(problem_->copies(pair.other), problem_->copies(i));
    }
    for (std::uint32_t row = 0; row < rows_->size(); ++row) {
        double sum = 0;
        for (const auto& cell : cells(row))
            sum += table[cell.count];
        for (const auto j : rows_->items_of(row))
            sum -= labels_[j] == no_cluster ? 0.0 : table[problem_->copies(j)];
        value += rows_->coefficients[row] * sum;
    }
    for (std::uint32_t k = 0; k < n_clusters(); ++k) {
        if (!problem_->has_gaps())
            value += problem_->estimate_scale() * table[sizes_[k]];
        else
            for (std::size_t t = 0; t < problem_->n_draws(); ++t)
                value += problem_->margin_coefficients()[t] * table[margins(k)[t]];
    }
    return value;
}

void SparseState::find_sums() {
    const auto table = problem_->tables().joint();
    const auto n_draws = problem_->n_draws();
    joint_.assign(n_draws, 0);
    draw_.assign(n_draws, 0);
    estimate_.assign(problem_->has_gaps() ? n_draws : 1, 0);
    allocated_.assign(n_draws, 0);
    row_sizes_.assign(rows_->size(), 0);
    for (std::size_t i = 0; i < labels_.size(); ++i)
        for (std::size_t t = 0; t < n_draws; ++t)
            allocated_[t] += labels_[i] != no_cluster && problem_->is_labelled(i, t);
    for (std::size_t t = 0; t < n_draws; ++t)
        joint_[t] = draw_[t] = allocated_[t] * table[1];
    for (std::uint32_t i = 0; i < labels_.size(); ++i)
        for (const auto& pair : rows_->pairs_of(i))
            if (pair.other > i && labels_[i] != no_cluster && labels_[pair.other] != no_cluster) {
                joint_[pair.draw] += labels_[i] == labels_[pair.other] ? unit_extra_[1] : 0.0;
                draw_[pair.draw] += unit_extra_[1];
            }
    for (std::uint32_t row = 0; row < rows_->size(); ++row) {
        const auto t = rows_->draws[row];
        for (const auto& cell : cells(row)) {
            joint_[t] += table[cell.count] - cell.count * table[1];
            row_sizes_[row] += cell.count;
        }
        draw_[t] += table[row_sizes_[row]] - row_sizes_[row] * table[1];
    }
    for (std::uint32_t k = 0; k < n_clusters(); ++k) {
        if (!problem_->has_gaps())
            estimate_[0] += table[sizes_[k]];
        else
            for (std::size_t t = 0; t < n_draws; ++t)
                estimate_[t] += table[margins(k)[t]];
    }
}

double SparseState::combined_value() const {
    return weighted_sum(problem_->tables().loss(), problem_->weights(), [&](std::size_t t) {
        return Sums{joint_[t], estimate_[problem_->has_gaps() ? t : 0], draw_[t],
                    static_cast<double>(allocated_[t]), problem_->tables().joint()[allocated_[t]]};
    });
}

} // namespace partita::search
