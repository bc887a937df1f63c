#include "ensembles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "models/log_gamma.hpp"
#include "slice.hpp"

namespace partita::ensembles {

namespace {

double log_gamma_density(double x, const Concentration& prior) {
    return (prior.shape - 1.0) * std::log(x) - prior.rate * x;
}

} // namespace

template <class Label>
State<Label>::State(Base<Label> base, Weights weights, std::uint32_t truncation, double alpha, double beta)
    : base_(base), weights_(weights), truncation_(truncation), alpha_(alpha), beta_(beta),
      assignment_(base.n_items(), no_column), rows_(base.n_clusterings()) {
    std::vector<std::uint32_t> distinct;
    for (const auto n_labels : base_.n_labels) {
        offsets_.push_back(n_rows_);
        n_rows_ += n_labels;
        log_n_labels_.push_back(std::log(static_cast<double>(n_labels)));
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
    cell_log_ = LogTable(beta, n_items());
    for (std::size_t m = 0; m < base_.n_clusterings(); ++m)
        norm_log_[norm_for_[m]] = LogTable(beta * base_.n_labels[m], n_items());
    for (std::uint32_t column = 0; column < n_columns_; ++column)
        refresh(column);
}

/// Every logarithm of one column, from its counts.
template <class Label> void State<Label>::refresh(std::uint32_t column) {
    for (std::size_t row = 0; row < n_rows_; ++row)
        log_cells_[row * stride_ + column] = cell_log_(counts_[row * stride_ + column]);
    for (std::size_t m = 0; m < base_.n_clusterings(); ++m)
        log_norms_[m * stride_ + column] = norm_log_[norm_for_[m]](observed_[m * stride_ + column]);
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
        log_cells_[cell] = cell_log_(counts_[cell]);
        const auto norm = m * stride_ + column;
        observed_[norm] += Sign;
        log_norms_[norm] = norm_log_[norm_for_[m]](observed_[norm]);
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

template <class Label> std::uint32_t State<Label>::insert(std::size_t item, std::uint32_t column, Rng& rng) {
    if (column == empty)
        column = open_column(rng);
    assignment_[item] = column;
    shift<+1>(item, column);
    return column;
}

template <class Label> std::uint32_t State<Label>::open_column(Rng& rng) {
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

/// An empty stick, drawn by its prior weight; the labels say nothing of which.
template <class Label> std::uint32_t State<Label>::pick_slot(Rng& rng) {
    double left = rng.uniform() * empty_prior_;
    std::uint32_t last = 0;
    for (std::uint32_t slot = 0; slot < truncation_; ++slot) {
        if (column_of_[slot] != no_column)
            continue;
        last = slot;
        if ((left -= stick_prior_[slot]) < 0.0)
            break;
    }
    return last;
}

template <class Label> std::uint32_t State<Label>::slot_size(std::uint32_t slot) const {
    return column_of_[slot] == no_column ? 0 : sizes_[column_of_[slot]];
}

/// p(z_i = k | the others) for stick-breaking; the last stick takes all that is left.
template <class Label> void State<Label>::score_sticks() {
    double beyond = static_cast<double>(n_inserted_), left = 1.0;
    empty_prior_ = 0.0;
    for (std::uint32_t slot = 0; slot < truncation_; ++slot) {
        const double size = slot_size(slot);
        const double rest = alpha_ + beyond - size, total = 1.0 + alpha_ + beyond;
        const double weight = slot + 1 == truncation_ ? left : left * (1.0 + size) / total;
        // never zero, so that a far stick with items can still be drawn
        stick_prior_[slot] = std::max(weight, std::numeric_limits<double>::min());
        if (column_of_[slot] == no_column)
            empty_prior_ += stick_prior_[slot];
        else
            prior_[column_of_[slot]] = stick_prior_[slot];
        left *= rest / total;
        beyond -= size;
    }
    if (n_clusters_ == truncation_)
        empty_prior_ = 0.0;
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

template <class Label> std::uint32_t State<Label>::draw(Rng& rng) {
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

template <class Label> double State<Label>::log_prior(double alpha) const {
    const double n = static_cast<double>(n_inserted_), share = alpha / truncation_;
    double sum = 0.0;
    if (weights_ == Weights::fsd) {
        sum = log_gamma(alpha) - log_gamma(alpha + n) - n_clusters_ * log_gamma(share);
        for (std::uint32_t column = 0; column < n_columns_; ++column)
            if (sizes_[column] > 0)
                sum += log_gamma(share + sizes_[column]);
        return sum;
    }
    double beyond = n;
    for (std::uint32_t slot = 0; slot + 1 < truncation_; ++slot) {
        const double size = slot_size(slot);
        sum += std::log(alpha) + log_gamma(1.0 + size) + log_gamma(alpha + beyond - size) -
               log_gamma(1.0 + alpha + beyond);
        beyond -= size;
    }
    return sum;
}

template <class Label> double State<Label>::column_log_likelihood(std::uint32_t column, double beta) const {
    const double log_gamma_beta = log_gamma(beta);
    double sum = 0.0;
    for (std::size_t row = 0; row < n_rows_; ++row)
        if (const auto count = counts_[row * stride_ + column])
            sum += log_gamma(beta + count) - log_gamma_beta;
    for (std::size_t m = 0; m < base_.n_clusterings(); ++m)
        if (const auto count = observed_[m * stride_ + column])
            sum += log_gamma(beta * base_.n_labels[m]) - log_gamma(beta * base_.n_labels[m] + count);
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
    std::vector<std::uint32_t> name(n_columns_, no_column);
    std::uint32_t next = 0;
    for (const auto column : assignment_) {
        if (name[column] == no_column)
            name[column] = next++;
        *out++ = name[column];
    }
}

template <class Label> void State<Label>::rebuild() {
    const auto fits = [&](std::uint32_t column) { return column < n_columns_; };
    if (assignment_.size() != base_.n_items() || slot_of_.size() % pad != 0 || n_columns_ > slot_of_.size() ||
        !std::all_of(assignment_.begin(), assignment_.end(), fits))
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
    std::fill(column_of_.begin(), column_of_.end(), no_column);
    for (std::uint32_t column = 0; column < n_columns_; ++column) {
        if (sizes_[column] == 0)
            continue;
        ++n_clusters_;
        if (weights_ == Weights::tsb)
            column_of_.at(slot_of_[column]) = column;
    }
}

template <class Label>
Sampler<Label>::Sampler(Base<Label> base, Weights weights, std::uint32_t truncation, Concentration alpha,
                        Concentration beta, Rng rng)
    : state_(base, weights, truncation, alpha.value, beta.value), alpha_(alpha), beta_(beta), rng_(rng) {
    const auto first = rng_.below(base.n_clusterings());
    std::vector<std::uint32_t> column(std::min(truncation, base.n_labels[first]), State<Label>::empty), left;
    for (const auto item : rng_.permutation(base.n_items())) {
        const auto label = base.item(item)[first];
        if (label >= column.size()) { // a gap, or more labels than clusters
            left.push_back(item);
            continue;
        }
        if (column[label] == State<Label>::empty)
            state_.score(item); // weighs the sticks
        column[label] = state_.insert(item, column[label], rng_);
    }
    for (const auto item : left)
        place(item);
}

template <class Label> void Sampler<Label>::place(std::size_t item) {
    state_.score(item);
    state_.insert(item, state_.draw(rng_), rng_);
}

template <class Label> void Sampler<Label>::sweep() {
    state_.compact();
    for (std::size_t item = 0; item < state_.n_items(); ++item) {
        state_.remove(item);
        place(item);
    }
    for (int move = 0; move < split_merges; ++move)
        state_.split_or_merge(rng_);
    state_.swap_sticks(rng_);
    ++sweeps_;
    if (alpha_.learn || beta_.learn)
        draw_concentrations();
}

template <class Label> void Sampler<Label>::draw_concentrations() {
    auto alpha = state_.alpha(), beta = state_.beta();
    if (alpha_.learn)
        alpha = slice_draw(
            alpha, [&](double x) { return state_.log_prior(x) + log_gamma_density(x, alpha_); }, rng_);
    if (beta_.learn)
        beta = slice_draw(
            beta, [&](double x) { return state_.log_likelihood(x) + log_gamma_density(x, beta_); }, rng_);
    state_.set_concentrations(alpha, beta);
}

template <class Label> std::string Sampler<Label>::bytes() {
    StateWriter writer;
    visit(writer);
    return std::move(writer).bytes();
}

template <class Label> void Sampler<Label>::restore(std::string bytes) {
    StateReader reader(std::move(bytes));
    visit(reader);
    if (!reader.at_end())
        throw std::invalid_argument("the state does not fit this model and data");
    state_.rebuild();
}

template class State<std::uint8_t>;
template class State<std::uint16_t>;
template class State<std::uint32_t>;
template class Sampler<std::uint8_t>;
template class Sampler<std::uint16_t>;
template class Sampler<std::uint32_t>;

} // namespace partita::ensembles
