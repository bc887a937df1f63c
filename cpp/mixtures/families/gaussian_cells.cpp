#include "mixtures/families/gaussian_cells.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "common/clones.hpp"
#include "common/lanes.hpp"
#include "common/log_gamma.hpp"

namespace partita::models {

namespace {

struct CellRows {
    std::size_t stride;
    const double *mean, *weight, *exponent, *add; // [column][slot]
    const double *least, *most; // [slot]: the least exponent of all columns, and the sum of positive `add`
};

struct ObservedCells {
    std::span<const std::uint32_t> columns;
    const double* values;
};

/// Slots far away are recognised by this many cells of an item; the others are compared again after every so
/// many further cells.
constexpr std::size_t first_look = 8, cells_per_look = 4;
/// Groups of lanes whose reach is noted in the bits of one number.
constexpr std::size_t groups_at_once = 64;

/// factor = 1 + weight (x - mean)^2 of the r-th observed cell, for the slots from s on.
[[gnu::always_inline]] inline void set_factor(const CellRows& rows, const ObservedCells& cells, std::size_t r,
                                              std::size_t s, common::Lanes& factor) {
    const auto place = cells.columns[r] * rows.stride + s;
    common::Lanes deviation;
    common::load(deviation, rows.mean + place);
    common::load(factor, rows.weight + place);
    deviation = cells.values[r] - deviation;
    factor = 1.0 + factor * deviation * deviation;
}

/// total += add of the observed cells from `first` on.
[[gnu::always_inline]] inline void add_constants(const CellRows& rows, const ObservedCells& cells,
                                                 std::size_t first, std::size_t end, std::size_t s,
                                                 common::Lanes& total) {
    for (auto r = first; r < end; ++r) {
        common::Lanes part;
        common::load(part, rows.add + cells.columns[r] * rows.stride + s);
        total += part;
    }
}

/// Bit g of the result: whether a lane of the g-th group of slots from `first` on may reach the floor by the
/// first cells. The constants of these are added to its scores; other slots get -infinity. All exponents are
/// at least the least one, and all factors at least 1, so that one bound of a logarithm serves a product of
/// factors. One that overflows counts as e^709, which is still a bound. No branch depends on the slots: which
/// of them are near is unpredictable.
[[gnu::always_inline]] inline std::uint64_t find_near(const CellRows& rows, const ObservedCells& cells,
                                                      std::size_t first, std::size_t end, double floor,
                                                      double* out) {
    const auto looked = std::min(cells.columns.size(), first_look);
    const double rest = cells.columns.size() > looked ? 1.0 : 0.0;
    std::uint64_t near = 0, bit = 1;
    for (auto s = first; s < end; s += common::lanes, bit <<= 1) {
        common::Lanes total, bound, least, product = common::Lanes{} + 1.0;
        common::load(total, out + s);
        common::load(bound, rows.most + s);
        common::load(least, rows.least + s);
        for (std::size_t r = 0; r < looked; ++r) {
            common::Lanes factor;
            set_factor(rows, cells, r, s, factor);
            product *= factor;
        }
        add_constants(rows, cells, 0, looked, s, total);
        common::lane_log_chord(product);
        bound = total + rest * bound - least * product;
        near |= common::any_reaches(bound, floor) ? bit : 0;
        total = bound >= floor ? total : common::Lanes{} - std::numeric_limits<double>::infinity();
        common::store(total, out + s);
    }
    return near;
}

/// Adds the log predictive density of the observed cells to the lanes of `total`, which has the constants of
/// the first ones, or -infinity as soon as none of them can reach the floor: no logarithm is negative.
[[gnu::always_inline]] inline void add_density(const CellRows& rows, const ObservedCells& cells,
                                               std::size_t s, double floor, common::Lanes& total) {
    add_constants(rows, cells, first_look, cells.columns.size(), s, total);
    for (std::size_t r = 0; r < cells.columns.size(); ++r) {
        if (r >= first_look && r % cells_per_look == 0 && !common::any_reaches(total, floor)) {
            total -= std::numeric_limits<double>::infinity();
            return;
        }
        common::Lanes logs, exponent;
        set_factor(rows, cells, r, s, logs);
        common::load(exponent, rows.exponent + cells.columns[r] * rows.stride + s);
        common::lane_log(logs);
        total -= exponent * logs;
    }
}

/// Adds the log predictive density of the observed cells to out, or -infinity to slots below the floor.
PARTITA_CLONES void score_cells(const CellRows& rows, const ObservedCells& cells, std::size_t slots,
                                double floor, double* out) {
    constexpr auto slots_at_once = groups_at_once * common::lanes;
    for (std::size_t first = 0; first < slots; first += slots_at_once) {
        auto near = find_near(rows, cells, first, std::min(slots, first + slots_at_once), floor, out);
        for (; near != 0; near &= near - 1) {
            const auto s = first + common::lanes * static_cast<std::size_t>(std::countr_zero(near));
            common::Lanes total;
            common::load(total, out + s);
            add_density(rows, cells, s, floor, total);
            common::store(total, out + s);
        }
    }
}

/// Sum of powers[i] ln(ratios[i]); their number is a multiple of the lanes.
PARTITA_CLONES double sum_of_logs(const double* powers, const double* ratios, std::size_t count) {
    common::Lanes total{};
    for (std::size_t i = 0; i < count; i += common::lanes) {
        common::Lanes power, ratio;
        common::load(power, powers + i);
        common::load(ratio, ratios + i);
        common::lane_log(ratio);
        total += power * ratio;
    }
    return common::sum_of_lanes(total);
}

/// Logarithms in place; their number is a multiple of the lanes.
PARTITA_CLONES void take_logs(double* values, std::size_t count) {
    for (std::size_t i = 0; i < count; i += common::lanes) {
        common::Lanes logs;
        common::load(logs, values + i);
        common::lane_log(logs);
        common::store(logs, values + i);
    }
}

/// ln G(a + n/2 + 1/2) - ln G(a + n/2) + ln((c + n) / (c + n + 1)) / 2 - ln(2 pi) / 2.
double log_step(double a, double c, double n) {
    return common::log_gamma(a + 0.5 * n + 0.5) - common::log_gamma(a + 0.5 * n) +
           0.5 * std::log((c + n) / (c + n + 1.0)) - 0.5 * std::log(2.0 * std::numbers::pi);
}

} // namespace

GaussianCells::GaussianCells(GammaBase base, std::size_t max_size)
    : ColumnFamily(base.mean.size()), base_(std::move(base)), all_(used_), observed_(dims()), mean_(dims()),
      b_(dims()), weight_(dims()), exponent_(dims()), add_(dims()), own_weight_(dims()), own_(dims()),
      least_(1), most_(1), seen_(dims()), values_(dims()), powers_(common::round_to_lanes(dims())),
      ratios_(common::round_to_lanes(dims())) {
    tabulate_steps(max_size);
}

void GaussianCells::tabulate_steps(std::size_t max_size) {
    for (std::size_t column = 0; column < dims(); ++column) {
        const double a = base_.a[column], c = base_.c[column];
        for (std::size_t other = 0; other < column && steps_.size() == column; ++other)
            if (base_.a[other] == a && base_.c[other] == c)
                steps_.push_back(steps_[other]);
        if (steps_.size() > column)
            continue;
        std::vector<double> steps(max_size + 1);
        for (std::size_t n = 0; n <= max_size; ++n)
            steps[n] = log_step(a, c, static_cast<double>(n));
        steps_.push_back(std::make_shared<const std::vector<double>>(std::move(steps)));
    }
}

void GaussianCells::clear(std::size_t slot) {
    sizes_[slot] = 0;
    for (std::size_t c = 0; c < dims(); ++c)
        clear_cell(c, slot);
    set_bounds(slot);
}

void GaussianCells::clear_cell(std::size_t column, std::size_t slot) {
    observed_.at(column, slot) = 0.0;
    mean_.at(column, slot) = base_.mean[column];
    b_.at(column, slot) = base_.b[column];
    set_cell(column, slot, std::log(base_.b[column]));
}

/// What scores need, from the number of cells, their mean, b and its logarithm.
void GaussianCells::set_cell(std::size_t column, std::size_t slot, double log_b) {
    const double n = observed_.at(column, slot), c = base_.c[column] + n;
    const auto cells = static_cast<std::size_t>(n);
    const auto& steps = *steps_[column];
    exponent_.at(column, slot) = base_.a[column] + 0.5 * n + 0.5;
    add_.at(column, slot) = steps[cells] - 0.5 * log_b;
    if (cells == 0) {
        weight_.at(column, slot) = 0.5 * c / (b_.at(column, slot) * (c + 1.0));
        own_weight_.at(column, slot) = own_.at(column, slot) = 0.0;
        return;
    }
    const double both = 0.5 * c / (b_.at(column, slot) * (c - 1.0) * (c + 1.0));
    weight_.at(column, slot) = both * (c - 1.0);
    own_weight_.at(column, slot) = both * (c + 1.0);
    own_.at(column, slot) = steps[cells - 1] - 0.5 * log_b;
}

/// The same for the gathered columns.
void GaussianCells::set_cells(std::size_t slot) {
    const auto padded = common::round_to_lanes(n_seen_);
    for (std::size_t r = 0; r < padded; ++r)
        ratios_[r] = r < n_seen_ ? b_.at(seen_[r], slot) : 1.0;
    take_logs(ratios_.data(), padded);
    for (std::size_t r = 0; r < n_seen_; ++r)
        set_cell(seen_[r], slot, ratios_[r]);
    set_bounds(slot);
}

/// What bounds need, from all columns.
void GaussianCells::set_bounds(std::size_t slot) {
    double least = std::numeric_limits<double>::infinity(), most = 0.0;
    for (std::size_t column = 0; column < dims(); ++column) {
        least = std::min(least, exponent_.at(column, slot));
        most += std::max(add_.at(column, slot), 0.0);
    }
    least_.at(0, slot) = least;
    most_.at(0, slot) = most;
}

/// The cells of an item come (by = 1) or go (by = -1).
void GaussianCells::change(std::size_t slot, const double* x, double by) {
    gather(x, all_);
    for (std::size_t r = 0; r < n_seen_; ++r) {
        const auto column = seen_[r];
        if (observed_.at(column, slot) + by == 0.0) {
            clear_cell(column, slot);
            continue;
        }
        const double c = base_.c[column] + observed_.at(column, slot);
        const double deviation = values_[r] - mean_.at(column, slot), shift = deviation / (c + by);
        b_.at(column, slot) += by * 0.5 * c * shift * deviation;
        mean_.at(column, slot) += by * shift;
        observed_.at(column, slot) += by;
    }
    set_cells(slot);
}

void GaussianCells::score(const double* x, std::size_t own, std::size_t slots, double* out) {
    score_above(x, own, slots, -std::numeric_limits<double>::infinity(), out);
}

void GaussianCells::score_above(const double* x, std::size_t own, std::size_t slots, double depth,
                                double* out) {
    gather(x, used_);
    const CellRows rows{sizes_.size(), mean_.row(0),  weight_.row(0), exponent_.row(0),
                        add_.row(0),   least_.row(0), most_.row(0)};
    score_own_apart(
        out, own, is_in_company(own), depth, [&] { return score_own(own); },
        [&](double floor) {
            score_cells(rows, {std::span(seen_).first(n_seen_), values_.data()}, slots, floor, out);
        });
}

void GaussianCells::gather(const double* x, std::span<const std::uint32_t> columns) {
    n_seen_ = 0;
    for (const auto column : columns) { // no branch: gaps are unpredictable
        seen_[n_seen_] = column;
        values_[n_seen_] = x[column];
        n_seen_ += !std::isnan(x[column]);
    }
}

/// Log predictive density of the gathered cells given the other items of their own cluster.
double GaussianCells::score_own(std::size_t own) {
    own_ratio_ = 1.0;
    if (sizes_[own] < 2)
        return 0.0; // an item alone in its cluster is scored by the empty slot instead
    double total = 0.0;
    for (std::size_t r = 0; r < n_seen_; ++r) {
        const auto column = seen_[r];
        const double deviation = values_[r] - mean_.at(column, own);
        ratios_[r] = std::max(1.0 - own_weight_.at(column, own) * deviation * deviation, 1e-30);
        powers_[r] = exponent_.at(column, own) - 1.0;
        own_ratio_ = std::min(own_ratio_, ratios_[r]);
        total += own_.at(column, own);
    }
    const auto padded = common::round_to_lanes(n_seen_);
    for (auto r = n_seen_; r < padded; ++r)
        ratios_[r] = 1.0, powers_[r] = 0.0;
    return total + sum_of_logs(powers_.data(), ratios_.data(), padded);
}

double GaussianCells::column_marginal(std::size_t column, std::size_t slot) const {
    const double n = observed_.at(column, slot), a = base_.a[column];
    return gaussian_marginal(gamma_part(a, base_.c[column], n), n, a, base_.b[column], b_.at(column, slot));
}

bool GaussianCells::recount(const Summaries& summaries, std::size_t stride) {
    for (auto* rows : {&observed_, &weight_, &exponent_, &add_, &own_weight_, &own_, &least_, &most_})
        rows->widen(stride);
    sizes_.resize(stride);
    for (std::size_t slot = 0; slot < stride; ++slot) {
        sizes_[slot] = summaries.size(slot);
        for (std::size_t column = 0; column < dims(); ++column) {
            observed_.at(column, slot) = summaries.observed(slot, column);
            if (!(b_.at(column, slot) > 0.0))
                return false;
            set_cell(column, slot, std::log(b_.at(column, slot)));
        }
        set_bounds(slot);
    }
    return true;
}

void GaussianCells::Summaries::compute(const GaussianCells& family, const NumberTable& table,
                                       std::span<const std::uint32_t> items,
                                       std::span<const std::uint32_t> labels, std::size_t slots) {
    dims_ = family.dims();
    sizes_.assign(slots, 0);
    for (auto* values : {&observed_, &means_, &scatters_})
        values->assign(slots * dims_, 0.0);
    const auto for_each_cell = [&](auto work) {
        for (std::size_t p = 0; p < items.size(); ++p)
            for (std::size_t column = 0; column < dims_; ++column)
                if (const double x = table.item(items[p])[column]; !std::isnan(x))
                    work(labels[p] * dims_ + column, x);
    };
    for (std::size_t p = 0; p < items.size(); ++p)
        ++sizes_[labels[p]];
    for_each_cell([&](std::size_t place, double x) { observed_[place] += 1.0, means_[place] += x; });
    for (std::size_t place = 0; place < means_.size(); ++place)
        means_[place] /= std::max(observed_[place], 1.0);
    for_each_cell(
        [&](std::size_t place, double x) { scatters_[place] += (x - means_[place]) * (x - means_[place]); });
}

void GaussianCells::Summaries::assign_to(GaussianCells& family, std::size_t slot, std::size_t source) const {
    family.sizes_[slot] = sizes_[source];
    for (std::size_t column = 0; column < dims_; ++column) {
        const auto place = source * dims_ + column;
        const double n = observed_[place], c = family.base_.c[column], m0 = family.base_.mean[column];
        const double shift = n > 0.0 ? means_[place] - m0 : 0.0;
        family.observed_.at(column, slot) = n;
        family.mean_.at(column, slot) = m0 + n / (c + n) * shift;
        family.b_.at(column, slot) =
            family.base_.b[column] + 0.5 * scatters_[place] + 0.5 * c * n / (c + n) * shift * shift;
        family.set_cell(column, slot, std::log(family.b_.at(column, slot)));
    }
    family.set_bounds(slot);
}

void GaussianCells::Summaries::join(std::size_t one, std::size_t other, std::size_t target) {
    sizes_[target] = sizes_[one] + sizes_[other];
    for (std::size_t column = 0; column < dims_; ++column) {
        const auto x = one * dims_ + column, y = other * dims_ + column, place = target * dims_ + column;
        const double n_x = observed_[x], n_y = observed_[y], n = std::max(n_x + n_y, 1.0);
        const double apart = means_[y] - means_[x];
        scatters_[place] = scatters_[x] + scatters_[y] + n_x * n_y / n * apart * apart;
        means_[place] = n_x == 0.0 ? means_[y] : means_[x] + n_y / n * apart;
        observed_[place] = n_x + n_y;
    }
}

} // namespace partita::models
