#include "ensembles/state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "common/log_gamma.hpp"
#include "common/work.hpp"
#include "partition/first_appearance.hpp"

namespace partita::ensembles {

template <class Label>
State<Label>::State(Base<Label> base, Weights weights, std::uint32_t truncation, double alpha, double beta)
    : base_(base), weights_(weights), truncation_(truncation), alpha_(alpha), beta_(beta),
      assignment_(base.n_items(), no_column), rows_(base.n_clusterings()) {
    std::vector<std::uint32_t> distinct;
    for (std::size_t m = 0; m < base_.n_clusterings(); ++m) {
        const auto n_labels = base_.n_labels[m];
        offsets_.push_back(n_rows_);
        n_rows_ += n_labels;
        log_n_labels_.push_back(base_.weights[m] * std::log(static_cast<double>(n_labels)));
        const auto found = std::find(distinct.begin(), distinct.end(), n_labels);
        norm_for_.push_back(static_cast<std::uint32_t>(found - distinct.begin()));
        if (found == distinct.end())
            distinct.push_back(n_labels);
    }
    norm_log_.resize(distinct.size());
    column_of_.assign(weights_ == Weights::tsb ? truncation_ : 0, no_column);
    stick_prior_.resize(column_of_.size());
    stride_ = 0;
    grow();
    set_concentrations(alpha, beta);
}

template <class Label>
template <class T>
void State<Label>::widen(std::vector<T>& table, std::size_t rows, std::size_t stride) {
    std::vector<T> wide(rows * stride);
    for (std::size_t row = 0; row < rows; ++row)
        std::copy_n(table.begin() + static_cast<std::ptrdiff_t>(row * stride_), n_columns_,
                    wide.begin() + static_cast<std::ptrdiff_t>(row * stride));
    table = std::move(wide);
}

template <class Label> void State<Label>::grow() {
    const auto stride = std::max(pad, 2 * stride_);
    widen(counts_, n_rows_, stride);
    widen(log_cells_, n_rows_, stride);
    widen(observed_, base_.n_clusterings(), stride);
    widen(log_norms_, base_.n_clusterings(), stride);
    for (auto* column : {&norms_, &prior_, &scores_})
        column->resize(stride);
    sizes_.resize(stride);
    slot_of_.resize(stride);
    stride_ = stride;
}

template <class Label> void State<Label>::set_concentrations(double alpha, double beta) {
    alpha_ = alpha;
    beta_ = beta;
    cell_log_ = common::LogTable(beta, n_items());
    for (std::size_t m = 0; m < base_.n_clusterings(); ++m)
        norm_log_[norm_for_[m]] = common::LogTable(beta * base_.n_labels[m], n_items());
    for (std::uint32_t column = 0; column < n_columns_; ++column)
        refresh(column);
}

/// Every logarithm of one column, from its counts.
template <class Label> void State<Label>::refresh(std::uint32_t column) {
    for (std::size_t m = 0; m < base_.n_clusterings(); ++m) {
        const double weight = base_.weights[m];
        for (std::size_t row = offsets_[m]; row < offsets_[m] + base_.n_labels[m]; ++row)
            log_cells_[row * stride_ + column] = weight * cell_log_(counts_[row * stride_ + column]);
        const auto norm = m * stride_ + column;
        log_norms_[norm] = weight * norm_log_[norm_for_[m]](observed_[norm]);
    }
    refresh_norm(column);
}

/// Summed afresh each time, so that no rounding error builds up over a chain.
template <class Label> void State<Label>::refresh_norm(std::uint32_t column) {
    double sum = 0.0;
    for (std::size_t m = 0; m < base_.n_clusterings(); ++m)
        sum += log_norms_[m * stride_ + column];
    norms_[column] = sum;
    prior_[column] = sizes_[column] == 0 ? 0.0 : alpha_ / truncation_ + sizes_[column];
}

/// The item's labels enter (+1) or leave (-1) the tables of a column.
template <class Label> template <int Sign> void State<Label>::shift(std::size_t item, std::uint32_t column) {
    const auto labels = base_.item(item);
    for (std::size_t m = 0; m < labels.size(); ++m) {
        if (labels[m] == gap<Label>)
            continue;
        const auto cell = (offsets_[m] + labels[m]) * stride_ + column;
        counts_[cell] += Sign;
        log_cells_[cell] = base_.weights[m] * cell_log_(counts_[cell]);
        const auto norm = m * stride_ + column;
        observed_[norm] += Sign;
        log_norms_[norm] = base_.weights[m] * norm_log_[norm_for_[m]](observed_[norm]);
    }
    sizes_[column] += Sign;
    n_inserted_ += Sign;
    refresh_norm(column);
}

template <class Label> void State<Label>::add(std::size_t item, std::uint32_t column) {
    shift<+1>(item, column);
}

template <class Label> void State<Label>::drop(std::size_t item, std::uint32_t column) {
    shift<-1>(item, column);
}

template <class Label> void State<Label>::remove(std::size_t item) {
    const auto column = assignment_[item];
    shift<-1>(item, column);
    if (sizes_[column] == 0)
        close_column(column);
}

template <class Label> void State<Label>::close_column(std::uint32_t column) {
    --n_clusters_;
    if (weights_ == Weights::tsb)
        column_of_[slot_of_[column]] = no_column;
}

template <class Label>
std::uint32_t State<Label>::insert(std::size_t item, std::uint32_t column, common::Rng& rng) {
    if (column == empty)
        column = open_column(rng);
    assignment_[item] = column;
    shift<+1>(item, column);
    return column;
}

template <class Label> std::uint32_t State<Label>::open_column(common::Rng& rng) {
    std::uint32_t column = n_columns_;
    if (n_clusters_ < n_columns_)
        column = static_cast<std::uint32_t>(std::find(sizes_.begin(), sizes_.end(), 0u) - sizes_.begin());
    if (column == n_columns_) {
        if (n_columns_ == stride_)
            grow();
        ++n_columns_;
        refresh(column);
    }
    ++n_clusters_;
    if (weights_ == Weights::tsb) {
        slot_of_[column] = pick_slot(rng);
        column_of_[slot_of_[column]] = column;
    }
    return column;
}

template <class Label> void State<Label>::score(std::size_t item) {
    const auto labels = base_.item(item);
    std::size_t n_rows = 0;
    empty_score_ = 0.0;
    for (std::size_t m = 0; m < labels.size(); ++m) {
        if (labels[m] == gap<Label>) {
            rows_[n_rows++] = &log_norms_[m * stride_]; // gives back what norms_ takes
            continue;
        }
        rows_[n_rows++] = &log_cells_[(offsets_[m] + labels[m]) * stride_];
        empty_score_ -= log_n_labels_[m];
    }
    common::count_steps((n_rows + 1) * n_columns_);
    for (std::size_t first = 0; first < n_columns_; first += pad) {
        double sums[pad];
        for (std::size_t c = 0; c < pad; ++c)
            sums[c] = -norms_[first + c];
        for (std::size_t row = 0; row < n_rows; ++row)
            for (std::size_t c = 0; c < pad; ++c)
                sums[c] += rows_[row][first + c];
        for (std::size_t c = 0; c < pad; ++c)
            scores_[first + c] = sums[c];
    }
    if (weights_ == Weights::tsb)
        score_sticks();
    else
        empty_prior_ = (truncation_ - n_clusters_) * (alpha_ / truncation_);
}

template <class Label> std::uint32_t State<Label>::draw(common::Rng& rng) {
    double best = empty_prior_ > 0.0 ? empty_score_ : -std::numeric_limits<double>::infinity();
    for (std::uint32_t c = 0; c < n_columns_; ++c)
        if (sizes_[c] > 0)
            best = std::max(best, scores_[c]);
    double total = 0.0;
    for (std::uint32_t c = 0; c < n_columns_; ++c) {
        if (sizes_[c] > 0)
            total += prior_[c] * std::exp(scores_[c] - best);
        scores_[c] = total; // from here on the running sum
    }
    const double with_empty = total + empty_prior_ * std::exp(empty_score_ - best);
    const double point = rng.uniform() * with_empty;
    if (point >= total && empty_prior_ > 0.0)
        return empty;
    std::uint32_t column = 0;
    while (column + 1 < n_columns_ && scores_[column] <= point)
        ++column;
    while (sizes_[column] == 0) // only where rounding put the point on the very end
        --column;
    return column;
}

template <class Label> void State<Label>::compact() {
    if (n_clusters_ == n_columns_)
        return;
    std::vector<std::uint32_t> place(n_columns_, no_column);
    std::uint32_t next = 0;
    for (std::uint32_t column = 0; column < n_columns_; ++column) {
        if (sizes_[column] == 0)
            continue;
        place[column] = next;
        for (std::size_t row = 0; row < n_rows_; ++row)
            counts_[row * stride_ + next] = counts_[row * stride_ + column];
        for (std::size_t m = 0; m < base_.n_clusterings(); ++m)
            observed_[m * stride_ + next] = observed_[m * stride_ + column];
        sizes_[next] = sizes_[column];
        slot_of_[next] = slot_of_[column];
        ++next;
    }
    for (std::uint32_t column = next; column < n_columns_; ++column) {
        sizes_[column] = 0;
        for (std::size_t row = 0; row < n_rows_; ++row)
            counts_[row * stride_ + column] = 0;
        for (std::size_t m = 0; m < base_.n_clusterings(); ++m)
            observed_[m * stride_ + column] = 0;
    }
    n_columns_ = next;
    for (std::uint32_t column = 0; column < n_columns_; ++column) {
        refresh(column);
        if (weights_ == Weights::tsb)
            column_of_[slot_of_[column]] = column;
    }
    for (auto& column : assignment_)
        column = place[column];
}

/// log p(Y_m | Z, beta) of the items of one column.
template <class Label>
double State<Label>::clustering_log_likelihood(std::size_t m, std::uint32_t column, double beta) const {
    const auto seen = observed_[m * stride_ + column];
    if (seen == 0)
        return 0.0;
    const double log_gamma_beta = common::log_gamma(beta), all = beta * base_.n_labels[m];
    double sum = common::log_gamma(all) - common::log_gamma(all + seen);
    for (std::size_t row = offsets_[m]; row < offsets_[m] + base_.n_labels[m]; ++row)
        if (const auto count = counts_[row * stride_ + column])
            sum += common::log_gamma(beta + count) - log_gamma_beta;
    return sum;
}

template <class Label> double State<Label>::column_log_likelihood(std::uint32_t column, double beta) const {
    double sum = 0.0;
    for (std::size_t m = 0; m < base_.n_clusterings(); ++m)
        sum += base_.weights[m] * clustering_log_likelihood(m, column, beta);
    return sum;
}

template <class Label> double State<Label>::log_likelihood(double beta) const {
    double sum = 0.0;
    for (std::uint32_t column = 0; column < n_columns_; ++column)
        if (sizes_[column] > 0)
            sum += column_log_likelihood(column, beta);
    return sum;
}

template <class Label> void State<Label>::write_labels(std::uint32_t* out) const {
    common::FirstAppearance name(n_columns_);
    for (const auto column : assignment_)
        *out++ = name(column);
}

/// Whether what was read is within its range. A state may come from anywhere.
template <class Label> bool State<Label>::fits() const {
    constexpr double max_concentration = 1e100; // times a number of labels it is still far from infinity
    const auto is_concentration = [](double x) { return x > 0.0 && x < max_concentration; };
    return assignment_.size() == base_.n_items() && !slot_of_.empty() && slot_of_.size() % pad == 0 &&
           n_columns_ <= slot_of_.size() && is_concentration(alpha_) && is_concentration(beta_) &&
           std::all_of(assignment_.begin(), assignment_.end(),
                       [&](auto column) { return column < n_columns_; });
}

template <class Label> void State<Label>::rebuild() {
    if (!fits())
        throw std::invalid_argument("the state does not fit this model and data");
    const auto columns = std::exchange(n_columns_, 0u);
    stride_ = slot_of_.size() / 2; // grow doubles it
    n_clusters_ = 0, n_inserted_ = 0;
    std::fill(sizes_.begin(), sizes_.end(), 0u);
    grow();
    n_columns_ = columns;
    set_concentrations(alpha_, beta_);
    for (std::size_t item = 0; item < assignment_.size(); ++item)
        shift<+1>(item, assignment_[item]);
    take_sticks();
}

/// Counts the clusters, and gives each its stick.
template <class Label> void State<Label>::take_sticks() {
    std::fill(column_of_.begin(), column_of_.end(), no_column);
    bool fit = true;
    for (std::uint32_t column = 0; column < n_columns_ && fit; ++column) {
        if (sizes_[column] == 0)
            continue;
        fit = ++n_clusters_ <= truncation_;
        if (weights_ != Weights::tsb || !fit)
            continue;
        const auto stick = slot_of_[column];
        fit = stick < truncation_ && column_of_[stick] == no_column;
        if (fit)
            column_of_[stick] = column;
    }
    if (!fit)
        throw std::invalid_argument("the state does not fit this model and data");
}

template class State<std::uint8_t>;
template class State<std::uint16_t>;
template class State<std::uint32_t>;

} // namespace partita::ensembles
