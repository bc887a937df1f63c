#include "draws/cell_states.hpp"

#include <algorithm>

namespace partita::search {

void LinearCells::find_rows(std::size_t i) {
    if (const auto& shared = problem_->shared()) {
        const auto rows = shared->of_item(i);
        rows_.assign(rows.begin(), rows.end());
        coefficients_.resize(rows.size());
        for (std::size_t e = 0; e < rows.size(); ++e)
            coefficients_[e] = static_cast<float>(shared->coefficients[rows[e]]);
        return;
    }
    Cells::find_rows(i);
    const auto cells = problem_->cell_coefficients();
    if (!problem_->has_gaps()) {
        if (coefficients_.size() != rows_.size())
            coefficients_.assign(cells.begin(), cells.end());
        return;
    }
    coefficients_.clear();
    for (const auto t : draws_)
        coefficients_.push_back(static_cast<float>(cells[t]));
    for (const auto t : draws_)
        coefficients_.push_back(static_cast<float>(problem_->margin_coefficients()[t]));
    rows_.insert(rows_.end(), margin_rows_.begin(), margin_rows_.end());
}

/// What the cells of a row of the item at hand are multiplied with; rows_[entry] is the row.
double LinearCells::coefficient(std::size_t entry) const {
    if (const auto& shared = problem_->shared())
        return shared->coefficients[rows_[entry]];
    const bool is_margin = entry >= draws_.size(); // margin rows follow the others
    return is_margin ? problem_->margin_coefficients()[draws_[entry - draws_.size()]]
                     : problem_->cell_coefficients()[draws_[entry]];
}

void LinearCells::score_at_hand(std::uint32_t own, std::size_t columns) {
    const OwnColumn own_column{own, coefficients_.data(), problem_->joint_gain().data()};
    sum_gains(table_, rows_, padded(columns), own == no_cluster ? nullptr : &own_column, scores_.data());
    add_own_sizes(own, columns, 1);
}

void LinearCells::score_precisely_at_hand(std::uint32_t own, std::size_t columns, std::uint32_t copies) {
    const auto table = problem_->tables().joint();
    std::fill_n(scores_.begin(), columns, 0.0);
    for (std::size_t e = 0; e < rows_.size(); ++e) {
        const auto factor = coefficient(e);
        const auto* counts = table_.counts(rows_[e]);
        for (std::size_t k = 0; k < columns; ++k) {
            const auto count = counts[k] - (k == own ? copies : 0);
            scores_[k] += factor * (table[count + copies] - table[count]);
        }
    }
    add_own_sizes(own, columns, copies);
}

/// The part that the estimate's own cluster sizes make up; with gaps it is in the margin rows.
void LinearCells::add_own_sizes(std::uint32_t own, std::size_t columns, std::uint32_t copies) {
    if (problem_->has_gaps())
        return;
    for (std::size_t k = 0; k < columns; ++k)
        scores_[k] += problem_->estimate_scale() * size_change(k, own, copies);
}

/// A score is a difference of two terms: what a larger cluster costs (positive), less what the cells of the
/// item's rows gain. Their absolute values sum to at most |score| + 2 cost, so that 2 cost is what may
/// cancel.
double LinearCells::cancelled(std::size_t i, std::uint32_t cluster) const {
    return 2 * problem_->estimate_scale() * size_change(cluster, labels_[i], problem_->copies(i));
}

/// Puts the item whose rows are at hand into `cluster` (Step = 1) or takes it out (Step = -1).
template <int Step> void LinearCells::change(std::size_t i, std::uint32_t cluster) {
    labels_[i] = Step > 0 ? cluster : no_cluster;
    if (problem_->has_copies())
        return change_copies(cluster,
                             static_cast<std::uint32_t>(Step) * problem_->copies(i)); // wraps, and back
    const auto gain = problem_->joint_gain();
    double sum = 0;
    for (std::size_t e = 0; e < rows_.size(); ++e) {
        auto& count = table_.counts(rows_[e])[cluster];
        auto& cell_gain = table_.gains(rows_[e])[cluster];
        if constexpr (Step > 0)
            sum += cell_gain;
        count += static_cast<std::uint32_t>(Step);
        cell_gain = coefficients_[e] * gain[count];
        if constexpr (Step < 0)
            sum -= cell_gain;
    }
    const auto smaller = Step > 0 ? sizes_[cluster] : sizes_[cluster] - 1;
    sizes_[cluster] += static_cast<std::uint32_t>(Step);
    value_ += sum + (problem_->has_gaps() ? 0.0 : Step * problem_->estimate_scale() * gain[smaller]);
}

/// The same for an item that stands for several.
void LinearCells::change_copies(std::uint32_t cluster, std::uint32_t step) {
    const auto gain = problem_->joint_gain();
    const auto table = problem_->tables().joint();
    for (std::size_t e = 0; e < rows_.size(); ++e) {
        auto& count = table_.counts(rows_[e])[cluster];
        value_ += static_cast<double>(coefficients_[e]) * (table[count + step] - table[count]);
        count += step;
        table_.gains(rows_[e])[cluster] = coefficients_[e] * gain[count];
    }
    auto& size = sizes_[cluster];
    if (!problem_->has_gaps())
        value_ += problem_->estimate_scale() * (table[size + step] - table[size]);
    size += step;
}

double LinearCells::exact_value() const {
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

std::vector<double> LinearCells::changes_of_merges() const {
    const auto clusters = n_clusters();
    const auto table = problem_->tables().joint();
    std::vector<double> changes(std::size_t{clusters} * clusters);
    for_each_row([&](std::size_t row, double coefficient, std::span<const float>) {
        add_pair_gains<double>(table_.counts(row), clusters, table, coefficient, changes);
    });
    if (!problem_->has_gaps())
        for (std::uint32_t k = 0; k < clusters; ++k)
            for (std::uint32_t l = k + 1; l < clusters; ++l)
                changes[k * clusters + l] += problem_->estimate_scale() * size_gain(k, l);
    return changes;
}

template class CellState<LinearCells>;

} // namespace partita::search
