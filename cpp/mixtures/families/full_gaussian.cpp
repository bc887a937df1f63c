#include "mixtures/families/full_gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "common/clones.hpp"
#include "common/lanes.hpp"
#include "common/log_gamma.hpp"

namespace partita::models {

using common::lane_log, common::Lanes, common::lanes, common::load, common::store;

namespace {

// rows of `constants_`: ln p = add_constant + add_exponent ln(1 + add_ratio q), and the same without an own
// item
enum Constant {
    add_constant,
    add_exponent,
    add_ratio,
    own_constant,
    own_exponent,
    own_ratio_row,
    n_constants
};

constexpr std::size_t place_below(std::size_t i, std::size_t j) {
    return i * (i - 1) / 2 + j;
} // i > j, diagonal apart
constexpr std::size_t place_in(std::size_t i, std::size_t j) {
    return i * (i + 1) / 2 + j;
} // i >= j, diagonal inside

struct ClusterRows {
    std::size_t stride, dims;
    const double *mean, *factor, *inverse_diagonal, *constants;
};

/// The lanes of one block of slots: quadratic forms by forward substitution, then the log densities.
template <std::size_t D>
[[gnu::always_inline]] inline void score_blocks(const ClusterRows& rows, const double* x, std::size_t slots,
                                                double* z, double* ratios, double* out) {
    const std::size_t dims = D > 0 ? D : rows.dims;
    for (std::size_t s = 0; s < slots; s += lanes) {
        Lanes q{};
        for (std::size_t i = 0; i < dims; ++i) {
            Lanes rest, entry, solved;
            load(rest, rows.mean + i * rows.stride + s);
            rest = x[i] - rest;
            for (std::size_t j = 0; j < i; ++j) {
                load(entry, rows.factor + (i * (i - 1) / 2 + j) * rows.stride + s);
                load(solved, z + j * lanes);
                rest -= entry * solved;
            }
            load(entry, rows.inverse_diagonal + i * rows.stride + s);
            solved = rest * entry;
            store(solved, z + i * lanes);
            q += solved * solved;
        }
        Lanes constant, exponent, ratio, score;
        load(constant, rows.constants + add_constant * rows.stride + s);
        load(exponent, rows.constants + add_exponent * rows.stride + s);
        load(ratio, rows.constants + add_ratio * rows.stride + s);
        load(score, out + s);
        ratio = 1.0 + ratio * q;
        store(ratio, ratios + s);
        ratio = ratio < 1e-300 ? Lanes{} + 1e-300 : ratio;
        lane_log(ratio);
        store(score + constant + exponent * ratio, out + s);
    }
}

#define PARTITA_SCORE(name, D)                                                                               \
    PARTITA_CLONES void name(const ClusterRows& rows, const double* x, std::size_t slots, double* z,         \
                             double* ratios, double* out) {                                                  \
        score_blocks<D>(rows, x, slots, z, ratios, out);                                                     \
    }
PARTITA_SCORE(score_1, 1)
PARTITA_SCORE(score_2, 2)
PARTITA_SCORE(score_3, 3)
PARTITA_SCORE(score_4, 4)
PARTITA_SCORE(score_any, 0)
#undef PARTITA_SCORE

/// Lower triangle in place -> its Cholesky factor; returns ln of the determinant.
double cholesky(std::size_t dims, double* a) {
    double log_det = 0.0, pivots = 1.0;
    for (std::size_t i = 0; i < dims; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = a[place_in(i, j)];
            for (std::size_t k = 0; k < j; ++k)
                sum -= a[place_in(i, k)] * a[place_in(j, k)];
            a[place_in(i, j)] = i == j ? std::sqrt(sum) : sum / a[place_in(j, j)];
            if (i != j)
                continue;
            pivots *= sum; // one logarithm for many pivots
            if (!(pivots > 1e-100 && pivots < 1e100))
                log_det += std::log(std::exchange(pivots, 1.0));
        }
    return log_det + std::log(pivots);
}

struct GridValues {
    std::size_t count; // a multiple of the lanes
    const double *kappa, *nu, *spread;
};

/// For each point of a grid: d/2 ln(kappa / (kappa + n)) + nu/2 ln|nu v I| - (nu + n)/2 ln|posterior scale|.
/// The determinants come from eliminating the lower triangles of several points at a time.
PARTITA_CLONES void grid_terms(std::size_t dims, double n, const double* scatter, const double* shift,
                               const GridValues& values, double* triangle, double* out) {
    for (std::size_t g = 0; g < values.count; g += lanes) {
        Lanes kappa, nu, spread, entry, pivot, factor;
        load(kappa, values.kappa + g);
        load(nu, values.nu + g);
        load(spread, values.spread + g);
        const Lanes diagonal = nu * spread, weight = kappa * n / (kappa + n);
        for (std::size_t i = 0; i < dims; ++i)
            for (std::size_t j = 0; j <= i; ++j) {
                entry = scatter[place_in(i, j)] + weight * (shift[i] * shift[j]);
                store(i == j ? entry + diagonal : entry, triangle + place_in(i, j) * lanes);
            }
        Lanes log_det{}, pivots = Lanes{} + 1.0;
        for (std::size_t k = 0; k < dims; ++k) {
            load(pivot, triangle + place_in(k, k) * lanes);
            pivots *= pivot;
            if (k % 8 == 7 || k + 1 == dims) { // one logarithm for many pivots
                lane_log(pivots);
                log_det += pivots;
                pivots = Lanes{} + 1.0;
            }
            for (std::size_t i = k + 1; i < dims; ++i) {
                load(factor, triangle + place_in(i, k) * lanes);
                factor /= pivot;
                for (std::size_t j = k + 1; j <= i; ++j) {
                    load(entry, triangle + place_in(j, k) * lanes);
                    Lanes below;
                    load(below, triangle + place_in(i, j) * lanes);
                    store(below - factor * entry, triangle + place_in(i, j) * lanes);
                }
            }
        }
        Lanes log_kappa = kappa / (kappa + n), log_diagonal = diagonal;
        lane_log(log_kappa);
        lane_log(log_diagonal);
        store(0.5 * static_cast<double>(dims) * (log_kappa + nu * log_diagonal) - 0.5 * (nu + n) * log_det,
              out + g);
    }
}

} // namespace

FullGaussian::FullGaussian(WishartBase base, std::size_t max_size)
    : base_(std::move(base)), dims_(base_.mean.size()), max_size_(max_size), mean_(dims_),
      factor_(dims_ * (dims_ - 1) / 2), inverse_diagonal_(dims_), constants_(n_constants),
      scratch_(dims_ * lanes), triangle_(scatter_size()) {
    std::vector<double> sums;
    sums.reserve(base_.nus.size() * (max_size_ + 1));
    for (const double nu : base_.nus)
        for (std::size_t n = 0; n <= max_size_; ++n) {
            double sum = 0.0;
            for (std::size_t j = 0; j < dims_; ++j)
                sum += common::log_gamma((nu + static_cast<double>(n) - static_cast<double>(j)) / 2.0) -
                       common::log_gamma((nu - static_cast<double>(j)) / 2.0);
            sums.push_back(sum);
        }
    gamma_sums_ = std::make_shared<const std::vector<double>>(std::move(sums));
    const std::uint32_t start[] = {0, 0, 0};
    set_grid_place(start);
}

void FullGaussian::set_grid_place(std::span<const std::uint32_t> place) {
    kappa_ = place[0], nu_ = place[1], spread_ = place[2];
    prior_log_det_ = posterior_factor(0, nullptr, nullptr);
    prior_factor_ = triangle_;
}

/// Factors the posterior scale into triangle_; returns ln of its determinant.
double FullGaussian::posterior_factor(std::uint32_t size, const double* mean, const double* scatter) {
    const double kappa = base_.kappas[kappa_], n = size;
    const double diagonal = base_.spreads.empty() ? 0.0 : base_.nus[nu_] * base_.spreads[spread_];
    for (std::size_t i = 0; i < dims_; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            double value = base_.spreads.empty() ? base_.scale[i * dims_ + j] : (i == j ? diagonal : 0.0);
            if (size > 0)
                value += scatter[place_in(i, j)] +
                         kappa * n / (kappa + n) * (mean[i] - base_.mean[i]) * (mean[j] - base_.mean[j]);
            triangle_[place_in(i, j)] = value;
        }
    return cholesky(dims_, triangle_.data());
}

bool FullGaussian::fits(std::size_t stride) const {
    const bool on_grid = kappa_ < base_.kappas.size() && nu_ < base_.nus.size() &&
                         spread_ < std::max<std::size_t>(base_.spreads.size(), 1);
    const bool in_slots = sizes_.size() == stride && log_det_.size() == stride && ratios_.size() == stride;
    return on_grid && in_slots && prior_factor_.size() == scatter_size() && std::isfinite(prior_log_det_) &&
           all_finite(prior_factor_) && all_finite(log_det_) && tables_fit(stride);
}

void FullGaussian::widen(std::size_t stride) {
    log_det_.resize(stride), ratios_.resize(stride);
    SlotFamily::widen(stride);
}

void FullGaussian::clear(std::size_t slot) {
    sizes_[slot] = 0;
    log_det_[slot] = prior_log_det_;
    for (std::size_t i = 0; i < dims_; ++i) {
        mean_.at(i, slot) = base_.mean[i];
        inverse_diagonal_.at(i, slot) = 1.0 / prior_factor_[place_in(i, i)];
        for (std::size_t j = 0; j < i; ++j)
            factor_.at(place_below(i, j), slot) = prior_factor_[place_in(i, j)];
    }
    set_constants(slot);
}

void FullGaussian::assign(std::size_t slot, std::uint32_t size, const double* mean, const double* scatter) {
    const double kappa = base_.kappas[kappa_], n = size;
    log_det_[slot] = posterior_factor(size, mean, scatter);
    sizes_[slot] = size;
    for (std::size_t i = 0; i < dims_; ++i) {
        mean_.at(i, slot) = (kappa * base_.mean[i] + n * mean[i]) / (kappa + n);
        inverse_diagonal_.at(i, slot) = 1.0 / triangle_[place_in(i, i)];
        for (std::size_t j = 0; j < i; ++j)
            factor_.at(place_below(i, j), slot) = triangle_[place_in(i, j)];
    }
    set_constants(slot);
}

/// An item comes (by = 1) or goes (by = -1).
void FullGaussian::change(std::size_t slot, const double* x, double by) {
    const double kappa = base_.kappas[kappa_] + sizes_[slot];
    const double root = std::sqrt(kappa / (kappa + by));
    for (std::size_t i = 0; i < dims_; ++i) {
        const double deviation = x[i] - mean_.at(i, slot);
        scratch_[i] = root * deviation;
        mean_.at(i, slot) += by * deviation / (kappa + by);
    }
    rotate_factor(slot, by, scratch_.data());
    sizes_[slot] += by > 0.0 ? 1 : -1;
    set_constants(slot);
}

/// L L' + sign w w': one plane (or hyperbolic) rotation per column. w is
/// overwritten.
void FullGaussian::rotate_factor(std::size_t slot, double sign, double* w) {
    double growth = 1.0; // |Psi after| / |Psi before|
    for (std::size_t k = 0; k < dims_; ++k) {
        const double sine = w[k] * inverse_diagonal_.at(k, slot);
        const double square = 1.0 + sign * sine * sine;
        const double cosine = std::sqrt(square), inverse = 1.0 / cosine;
        growth *= square;
        inverse_diagonal_.at(k, slot) *= inverse;
        for (std::size_t i = k + 1; i < dims_; ++i) {
            double& entry = factor_.at(place_below(i, k), slot);
            entry = (entry + sign * sine * w[i]) * inverse;
            w[i] = cosine * w[i] - sine * entry;
        }
    }
    log_det_[slot] += std::log(growth);
}

void FullGaussian::set_constants(std::size_t slot) {
    const std::size_t n = sizes_[slot];
    const double d = static_cast<double>(dims_), kappa = base_.kappas[kappa_] + static_cast<double>(n);
    const double nu = base_.nus[nu_] + static_cast<double>(n);
    const double shared = -0.5 * log_det_[slot] - 0.5 * d * std::log(std::numbers::pi);
    auto step = [&](std::size_t size) { return gamma_term(nu_, size + 1) - gamma_term(nu_, size); };
    // a full cluster can take no more: its constants for adding are never used
    constants_.at(add_constant, slot) =
        n < max_size_ ? shared + 0.5 * d * std::log(kappa / (kappa + 1.0)) + step(n) : 0.0;
    constants_.at(add_exponent, slot) = -0.5 * (nu + 1.0);
    constants_.at(add_ratio, slot) = kappa / (kappa + 1.0);
    // an item alone in its cluster is scored by the empty slot instead
    const bool others = n > 1;
    constants_.at(own_constant, slot) =
        others ? shared + 0.5 * d * std::log((kappa - 1.0) / kappa) + step(n - 1) : 0.0;
    constants_.at(own_exponent, slot) = others ? 0.5 * (nu - 1.0) : 0.0;
    constants_.at(own_ratio_row, slot) = others ? -kappa / (kappa - 1.0) : 0.0;
}

void FullGaussian::copy_slot(const FullGaussian& from, std::size_t source, std::size_t target) {
    log_det_[target] = from.log_det_[source];
    SlotFamily::copy_slot(from, source, target);
}

void FullGaussian::score(const double* x, std::size_t own, std::size_t slots, double* out) {
    auto swap_own = [&] {
        for (const auto row : {add_constant, add_exponent, add_ratio})
            std::swap(constants_.at(row, own), constants_.at(row + own_constant, own));
    };
    if (own != no_slot)
        swap_own();
    const ClusterRows rows{sizes_.size(),    dims_, mean_.row(0), factor_.row(0), inverse_diagonal_.row(0),
                           constants_.row(0)};
    constexpr decltype(&score_any) kernels[] = {score_any, score_1, score_2, score_3, score_4};
    kernels[dims_ <= 4 ? dims_ : 0](rows, x, slots, scratch_.data(), ratios_.data(), out);
    if (own != no_slot)
        swap_own();
}

double FullGaussian::log_marginal(std::size_t slot) const {
    const double n = sizes_[slot], d = static_cast<double>(dims_);
    const double kappa = base_.kappas[kappa_], nu = base_.nus[nu_];
    return gamma_term(nu_, sizes_[slot]) - 0.5 * n * d * std::log(std::numbers::pi) +
           0.5 * d * std::log(kappa / (kappa + n)) + 0.5 * nu * prior_log_det_ -
           0.5 * (nu + n) * log_det_[slot];
}

void FullGaussian::add_grid_scores(std::size_t parameter, std::span<const std::uint32_t> place,
                                   std::uint32_t size, const double* mean, const double* scatter,
                                   std::span<double> scores) {
    const auto padded = common::round_to_lanes(scores.size());
    grid_work_.resize(4 * padded + dims_ + scatter_size() * lanes);
    double* out = grid_work_.data() + 3 * padded;
    double* shift = out + padded;
    const std::vector<double>* grids[] = {&base_.kappas, &base_.nus, &base_.spreads};
    for (std::size_t p = 0; p < 3; ++p)
        for (std::size_t g = 0; g < padded; ++g)
            grid_work_[p * padded + g] =
                (*grids[p])[p == parameter ? std::min(g, scores.size() - 1) : place[p]];
    for (std::size_t i = 0; i < dims_; ++i)
        shift[i] = mean[i] - base_.mean[i];
    const GridValues values{padded, grid_work_.data(), grid_work_.data() + padded,
                            grid_work_.data() + 2 * padded};
    grid_terms(dims_, size, scatter, shift, values, shift + dims_, out);
    for (std::uint32_t g = 0; g < scores.size(); ++g)
        scores[g] += out[g] + gamma_term(parameter == 1 ? g : place[1], size);
}

void FullGaussian::add_scatter(std::span<const double> deviation, double* scatter) {
    for (std::size_t i = 0; i < deviation.size(); ++i)
        for (std::size_t j = 0; j <= i; ++j)
            *scatter++ += deviation[i] * deviation[j];
}

} // namespace partita::models
