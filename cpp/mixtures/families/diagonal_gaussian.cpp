#include "mixtures/families/diagonal_gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "common/clones.hpp"
#include "common/lanes.hpp"
#include "common/log_gamma.hpp"

namespace partita::models {

using common::lane_log, common::Lanes, common::lanes, common::load, common::store;

namespace {

enum SlotConstant { constant_of_slot, half_size, n_slot_constants };

/// Factors of a product before its logarithm is taken; small enough not to overflow.
constexpr std::size_t product_length = 8;

struct DimensionRows {
    std::size_t stride;
    const double *mean, *weight, *constants;
    std::span<const DiagonalGaussian::Product> products;
};

/// Rows between two looks at whether a slot is still within reach.
constexpr std::size_t rows_per_look = 4;

/// Whether one lane of total - power ln(product) may reach the floor, for products of 1 or more.
[[gnu::always_inline]] inline bool may_reach(const Lanes& total, const Lanes& power, const Lanes& product,
                                             double floor) {
    Lanes logs = product;
    common::lane_log_chord(logs);
    return common::any_reaches(total - power * logs, floor);
}

/// product *= 1 + weight (x - mean)^2 over some rows of the slots from s on.
[[gnu::always_inline]] inline void multiply_rows(const DimensionRows& rows, const double* x, std::size_t s,
                                                 std::size_t first, std::size_t end, Lanes& product) {
    for (auto r = first; r < end; ++r) {
        Lanes deviation, weight;
        load(deviation, rows.mean + r * rows.stride + s);
        load(weight, rows.weight + r * rows.stride + s);
        deviation = x[r] - deviation;
        product *= 1.0 + weight * deviation * deviation;
    }
}

/// total -= power ln(product of the rows up to `end`); false as soon as no lane can reach the floor.
[[gnu::always_inline]] inline bool subtract_product(const DimensionRows& rows, const double* x, std::size_t s,
                                                    std::size_t first, std::size_t end, const Lanes& power,
                                                    double floor, Lanes& total) {
    Lanes product = Lanes{} + 1.0;
    for (auto r = first; r < end; r += rows_per_look) {
        multiply_rows(rows, x, s, r, std::min(r + rows_per_look, end), product);
        if (!may_reach(total, power, product, floor))
            return false;
    }
    lane_log(product);
    total -= power * product;
    return true;
}

/// Adds the log predictive density of x, in the order of the rows, to out. Lanes whose scores are all below
/// the floor may be left at -infinity instead.
PARTITA_CLONES void score_blocks(const DimensionRows& rows, const double* x, std::size_t slots, double floor,
                                 double* out) {
    for (std::size_t s = 0; s < slots; s += lanes) {
        Lanes total, half, score;
        load(total, rows.constants + constant_of_slot * rows.stride + s);
        load(half, rows.constants + half_size * rows.stride + s);
        load(score, out + s);
        total += score;
        std::size_t first = 0;
        for (const auto& [end, a] : rows.products) {
            if (!subtract_product(rows, x, s, first, end, a + 0.5 + half, floor, total)) {
                total = Lanes{} - std::numeric_limits<double>::infinity();
                break;
            }
            first = end;
        }
        store(total, out + s);
    }
}

} // namespace

DiagonalGaussian::DiagonalGaussian(GammaBase base, std::size_t max_size)
    : base_(std::move(base)), dims_(base_.mean.size()), max_size_(max_size), order_(dims_), sorted_(dims_),
      included_(dims_, 1), mean_(dims_), b_(dims_), weight_(dims_), constants_(n_slot_constants) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](auto i, auto j) { return base_.a[i] < base_.a[j]; });
    for (std::size_t r = 0, begin = 0; r < dims_; ++r) {
        const double a = base_.a[order_[r]];
        if (r + 1 == dims_ || base_.a[order_[r + 1]] != a || r + 1 - begin == product_length)
            products_.push_back({r + 1, a}), begin = r + 1;
    }
    std::vector<double> sums(max_size_ + 1);
    for (std::size_t n = 0; n <= max_size_; ++n)
        for (std::size_t i = 0; i < dims_; ++i)
            sums[n] += gamma_part(base_.a[i], base_.c[i], static_cast<double>(n));
    gamma_sums_ = std::make_shared<const std::vector<double>>(std::move(sums));
}

void DiagonalGaussian::clear(std::size_t slot) {
    sizes_[slot] = 0;
    for (std::size_t r = 0; r < dims_; ++r) {
        mean_.at(r, slot) = base_.mean[order_[r]];
        b_.at(r, slot) = base_.b[order_[r]];
    }
    set_constants(slot);
}

void DiagonalGaussian::assign(std::size_t slot, std::uint32_t size, const double* mean,
                              const double* scatter) {
    const double n = size;
    sizes_[slot] = size;
    for (std::size_t r = 0; r < dims_; ++r) {
        const auto i = order_[r];
        const double c = base_.c[i], deviation = mean[i] - base_.mean[i];
        mean_.at(r, slot) = (c * base_.mean[i] + n * mean[i]) / (c + n);
        b_.at(r, slot) = base_.b[i] + 0.5 * scatter[i] + 0.5 * c * n / (c + n) * deviation * deviation;
    }
    set_constants(slot);
}

/// An item comes (by = 1) or goes (by = -1).
void DiagonalGaussian::change(std::size_t slot, const double* x, double by) {
    for (std::size_t r = 0; r < dims_; ++r) {
        const double c = base_.c[order_[r]] + sizes_[slot];
        const double deviation = x[order_[r]] - mean_.at(r, slot);
        b_.at(r, slot) += by * 0.5 * c / (c + by) * deviation * deviation;
        mean_.at(r, slot) += by * deviation / (c + by);
    }
    sizes_[slot] += by > 0.0 ? 1 : -1;
    set_constants(slot);
}

void DiagonalGaussian::set_constants(std::size_t slot) {
    const std::size_t n = sizes_[slot];
    double product = 1.0, log_b = 0.0, d = 0.0;
    for (std::size_t r = 0; r < dims_; ++r) {
        if (!included_[r]) {
            weight_.at(r, slot) = 0.0;
            continue;
        }
        d += 1.0;
        const double c = base_.c[order_[r]] + static_cast<double>(n);
        weight_.at(r, slot) = 0.5 * c / (c + 1.0) / b_.at(r, slot);
        product *= b_.at(r, slot);
        if (!(product > 1e-100 && product < 1e100))
            log_b += std::log(std::exchange(product, 1.0));
    }
    log_b += std::log(product);
    // a full cluster can take no more: its constant for adding is never used
    constants_.at(constant_of_slot, slot) =
        -0.5 * log_b - 0.5 * d * std::log(2.0 * std::numbers::pi) + (n < max_size_ ? step(n) : 0.0);
    constants_.at(half_size, slot) = 0.5 * static_cast<double>(n);
}

void DiagonalGaussian::score(const double* x, std::size_t own, std::size_t slots, double* out) {
    score_above(x, own, slots, -std::numeric_limits<double>::infinity(), out);
}

void DiagonalGaussian::score_above(const double* x, std::size_t own, std::size_t slots, double depth,
                                   double* out) {
    for (std::size_t r = 0; r < dims_; ++r)
        sorted_[r] = x[order_[r]];
    const DimensionRows rows{sizes_.size(), mean_.row(0), weight_.row(0), constants_.row(0), products_};
    score_own_apart(
        out, own, is_in_company(own), depth, [&] { return score_own(own); },
        [&](double floor) { score_blocks(rows, sorted_.data(), slots, floor, out); });
}

/// Log predictive density of the item in `sorted_` given the other items of its own cluster.
double DiagonalGaussian::score_own(std::size_t own) {
    own_ratio_ = 1.0;
    const std::size_t n = sizes_[own];
    if (n < 2)
        return 0.0; // an item alone in its cluster is scored by the empty slot instead
    double total = constants_.at(constant_of_slot, own) - (n < max_size_ ? step(n) : 0.0) + step(n - 1);
    double c_before = -1.0, growth = 0.0; // c_n / (c_n - 1) over c_n / (c_n + 1), which the weights have
    std::size_t r = 0;
    for (const auto& [end, a] : products_) {
        double product = 1.0;
        for (; r < end; ++r) {
            const double c = base_.c[order_[r]] + static_cast<double>(n);
            if (c != c_before)
                growth = (c + 1.0) / (c - 1.0), c_before = c;
            const double deviation = sorted_[r] - mean_.at(r, own);
            const double ratio = std::max(1.0 - weight_.at(r, own) * growth * deviation * deviation, 1e-30);
            own_ratio_ = std::min(own_ratio_, ratio);
            product *= ratio;
        }
        total += (a + 0.5 * static_cast<double>(n) - 0.5) * std::log(product);
    }
    return total;
}

double DiagonalGaussian::log_marginal(std::size_t slot) const {
    double total = (*gamma_sums_)[sizes_[slot]];
    for (std::size_t r = 0; r < dims_; ++r)
        if (included_[r])
            total += dimension_marginal(r, slot, 0.0);
    return total;
}

double DiagonalGaussian::dimension_marginal(std::size_t row, std::size_t slot, double gamma_part) const {
    const auto i = order_[row];
    return gaussian_marginal(gamma_part, sizes_[slot], base_.a[i], base_.b[i], b_.at(row, slot));
}

void DiagonalGaussian::add_unit_marginals(std::size_t slot, double* out) const {
    for (std::size_t r = 0; r < dims_; ++r)
        out[order_[r]] += dimension_marginal(r, slot, (*gammas_[r])[sizes_[slot]]);
}

void DiagonalGaussian::set_included(std::span<const std::uint8_t> included) {
    if (gammas_.empty())
        tabulate_dimensions();
    std::vector<double> sums(max_size_ + 1, 0.0);
    for (std::size_t r = 0; r < dims_; ++r) {
        included_[r] = included[order_[r]];
        for (std::size_t n = 0; included_[r] && n <= max_size_; ++n)
            sums[n] += (*gammas_[r])[n];
    }
    gamma_sums_ = std::make_shared<const std::vector<double>>(std::move(sums));
    for (std::size_t slot = 0; slot < sizes_.size(); ++slot)
        set_constants(slot);
}

/// Rows of the same base, which follow each other if all have the same a, share a table.
void DiagonalGaussian::tabulate_dimensions() {
    for (std::size_t r = 0; r < dims_; ++r) {
        const auto i = order_[r];
        const bool as_before =
            r > 0 && base_.a[order_[r - 1]] == base_.a[i] && base_.c[order_[r - 1]] == base_.c[i];
        gammas_.push_back(as_before ? gammas_.back() : gamma_table(base_.a[i], base_.c[i]));
    }
}

DiagonalGaussian::GammaTable DiagonalGaussian::gamma_table(double a, double c) const {
    std::vector<double> table(max_size_ + 1);
    for (std::size_t n = 0; n <= max_size_; ++n)
        table[n] = gamma_part(a, c, static_cast<double>(n));
    return std::make_shared<const std::vector<double>>(std::move(table));
}

void DiagonalGaussian::add_scatter(std::span<const double> deviation, double* scatter) {
    for (std::size_t i = 0; i < deviation.size(); ++i)
        scatter[i] += deviation[i] * deviation[i];
}

} // namespace partita::models
