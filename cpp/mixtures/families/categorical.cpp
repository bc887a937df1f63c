#include "mixtures/families/categorical.hpp"

#include <algorithm>

#include "common/clones.hpp"
#include "common/lanes.hpp"
#include "common/log_gamma.hpp"

namespace partita::models {

namespace {

PARTITA_CLONES void add_row_lanes(const double* const* rows, std::size_t count, std::size_t slots,
                                  double* out) {
    std::size_t s = 0;
    for (; s + 2 * common::lanes <= slots; s += 2 * common::lanes) { // two chains of additions at once
        common::Lanes one, other, term;
        common::load(one, out + s);
        common::load(other, out + s + common::lanes);
        for (std::size_t r = 0; r < count; ++r) {
            common::load(term, rows[r] + s);
            one += term;
            common::load(term, rows[r] + s + common::lanes);
            other += term;
        }
        common::store(one, out + s);
        common::store(other, out + s + common::lanes);
    }
    if (s == slots)
        return;
    common::Lanes total, term;
    common::load(total, out + s);
    for (std::size_t r = 0; r < count; ++r) {
        common::load(term, rows[r] + s);
        total += term;
    }
    common::store(total, out + s);
}

double rising(double x, double n) { return n == 0.0 ? 0.0 : common::log_rising(x, n); }

/// posterior = e^(log_weights + sum_l counts[l] log_shares[l] - their largest); returns that largest. The
/// counts of the levels are `stride` apart.
PARTITA_CLONES double weigh_grid(const LevelGrid& grid, std::size_t levels, const double* counts,
                                 std::size_t stride, double* posterior) {
    const auto points = grid.points();
    std::copy_n(grid.log_weights.begin(), points, posterior);
    for (std::size_t level = 0; level < levels; ++level) {
        const double count = counts[level * stride];
        const double* logs = grid.log_shares.data() + level * points;
        if (count > 0.0)
            for (std::size_t g = 0; g < points; ++g)
                posterior[g] += count * logs[g];
    }
    const double top = *std::max_element(posterior, posterior + points);
    for (std::size_t g = 0; g < points; g += common::lanes) {
        common::Lanes value;
        common::load(value, posterior + g);
        value -= top;
        common::lane_exp(value);
        common::store(value, posterior + g);
    }
    return top;
}

struct GridSums {
    double with, without; // sum of posterior times share, and of posterior over share
};

PARTITA_CLONES GridSums grid_sums(const double* posterior, const double* shares, std::size_t points) {
    common::Lanes with{}, without{};
    for (std::size_t g = 0; g < points; g += common::lanes) {
        common::Lanes weight, share;
        common::load(weight, posterior + g);
        common::load(share, shares + g);
        with += weight * share;
        without += weight / share;
    }
    return {common::sum_of_lanes(with), common::sum_of_lanes(without)};
}

} // namespace

void add_rows(std::span<const double* const> rows, std::size_t slots, double* out) {
    add_row_lanes(rows.data(), rows.size(), slots, out);
}

template <class Code>
Categorical<Code>::Categorical(DirichletBase base, std::size_t max_size)
    : ColumnFamily<Categorical, RecountedFamily>(base.levels.size()), base_(std::move(base)) {
    std::size_t row = 0;
    for (std::size_t c = 0; c < dims(); ++c) {
        first_.push_back(row);
        row += base_.levels[c];
        level_table_.push_back(table_of(base_.weights[c], max_size));
        column_table_.push_back(table_of(base_.weights[c] * base_.levels[c], max_size));
    }
    counts_ = SlotRows(row), log_shares_ = SlotRows(2 * row);
    observed_ = SlotRows(dims()), grid_marginals_ = SlotRows(dims());
    rows_.resize(dims());
    for (const auto& grid : base_.grids)
        if (grid)
            posterior_.resize(std::max(posterior_.size(), grid->points()));
}

template <class Code> std::size_t Categorical<Code>::table_of(double base, std::size_t max_size) {
    const auto found = std::find(bases_.begin(), bases_.end(), base) - bases_.begin();
    if (static_cast<std::size_t>(found) == bases_.size()) {
        bases_.push_back(base);
        tables_.emplace_back(base, max_size);
    }
    return static_cast<std::size_t>(found);
}

template <class Code> void Categorical<Code>::clear(std::size_t slot) {
    sizes_[slot] = 0;
    for (std::size_t row = 0; row < counts_.rows(); ++row)
        counts_.at(row, slot) = 0.0;
    for (std::size_t c = 0; c < dims(); ++c) {
        observed_.at(c, slot) = 0.0;
        set_column(c, slot);
    }
}

template <class Code>
void Categorical<Code>::assign(std::size_t slot, std::uint32_t size, const double* counts) {
    sizes_[slot] = size;
    for (std::size_t c = 0; c < dims(); ++c) {
        observed_.at(c, slot) = 0.0;
        for (auto row = first_[c]; row < first_[c] + base_.levels[c]; ++row) {
            counts_.at(row, slot) = counts[row];
            observed_.at(c, slot) += counts[row];
        }
        set_column(c, slot);
    }
}

template <class Code> void Categorical<Code>::change(std::size_t slot, const Code* x, double by) {
    for (std::size_t c = 0; c < dims(); ++c) {
        if (x[c] == Table::gap)
            continue;
        counts_.at(first_[c] + x[c], slot) += by;
        observed_.at(c, slot) += by;
        set_column(c, slot);
    }
}

template <class Code> void Categorical<Code>::set_column(std::size_t column, std::size_t slot) {
    if (const auto* grid = base_.grid(column))
        return set_grid_column(*grid, column, slot);
    const double n = observed_.at(column, slot), total = log_of(column_table_[column], n);
    const double others = n > 0.0 ? log_of(column_table_[column], n - 1.0) : 0.0;
    for (auto row = first_[column]; row < first_[column] + base_.levels[column]; ++row) {
        const double count = counts_.at(row, slot);
        log_shares_.at(2 * row, slot) = log_of(level_table_[column], count) - total;
        if (count > 0.0) // own scores are only of levels that the cluster has
            log_shares_.at(2 * row + 1, slot) = log_of(level_table_[column], count - 1.0) - others;
    }
}

/// The same for shares on a grid. With the posterior of its points, a level has the probability sum_g post_g
/// p_l(g), and p of the cells without one of its items is that of all times sum_g post_g / p_l(g).
template <class Code>
void Categorical<Code>::set_grid_column(const LevelGrid& grid, std::size_t column, std::size_t slot) {
    const auto first = first_[column], levels = std::size_t{base_.levels[column]};
    const double top = weigh_grid(grid, levels, counts_.row(first) + slot, sizes_.size(), posterior_.data());
    double total = 0.0;
    for (std::size_t g = 0; g < grid.points(); ++g)
        total += posterior_[g];
    const double log_total = std::log(total);
    grid_marginals_.at(column, slot) = top + log_total;
    for (std::size_t level = 0; level < levels; ++level) {
        const auto sums =
            grid_sums(posterior_.data(), grid.shares.data() + level * grid.points(), grid.points());
        log_shares_.at(2 * (first + level), slot) = std::log(sums.with) - log_total;
        log_shares_.at(2 * (first + level) + 1, slot) = log_total - std::log(sums.without);
    }
}

template <class Code>
void Categorical<Code>::score(const Code* x, std::size_t own, std::size_t slots, double* out) {
    std::size_t observed = 0;
    for (const auto c : used_) { // no branch on gaps, which are unpredictable
        const std::size_t seen = x[c] != Table::gap;
        rows_[observed] = log_shares_.row(2 * (first_[c] + seen * x[c]));
        observed += seen;
    }
    score_own_apart(
        out, own, false, 0.0, [&] { return own_score(own, observed); },
        [&](double) { add_rows(std::span(rows_).first(observed), slots, out); });
}

/// The log probability of the levels of the last item given the other items of their own cluster.
template <class Code> double Categorical<Code>::own_score(std::size_t own, std::size_t observed) const {
    const auto next_row = sizes_.size();
    double total = 0.0;
    for (std::size_t r = 0; r < observed; ++r)
        total += rows_[r][next_row + own];
    return total;
}

template <class Code> double Categorical<Code>::column_marginal(std::size_t column, std::size_t slot) const {
    if (base_.grid(column))
        return grid_marginals_.at(column, slot);
    double total = -rising(base_.weights[column] * base_.levels[column], observed_.at(column, slot));
    for (auto row = first_[column]; row < first_[column] + base_.levels[column]; ++row)
        total += rising(base_.weights[column], counts_.at(row, slot));
    return total;
}

template class Categorical<std::uint8_t>;
template class Categorical<std::uint32_t>;

} // namespace partita::models
