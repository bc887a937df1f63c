#include "mixtures/families/regression.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "common/clones.hpp"
#include "common/lanes.hpp"
#include "common/log_gamma.hpp"

namespace partita::models {

using common::Lanes;
using common::lanes;

namespace {

constexpr auto max_p = Regression::max_coefficients;

struct Quadratic {
    Lanes log_determinant, value; // ln |M|, and v' M^-1 v
};

/// M = L D L' with the sums of B' V^-1 B at `gram`, the lower triangle by rows, and v at `cross`.
[[gnu::always_inline]] inline void solve(const double* gram, const double* cross, const double* precision,
                                         std::size_t p, Quadratic& out) {
    Lanes factor[max_p * max_p], pivots[max_p], solved[max_p];
    out.log_determinant = out.value = Lanes{};
    for (std::size_t i = 0; i < p; ++i) {
        common::load(solved[i], cross + i * lanes);
        for (std::size_t j = 0; j <= i; ++j) {
            Lanes entry;
            common::load(entry, gram + (i * (i + 1) / 2 + j) * lanes);
            for (std::size_t k = 0; k < j; ++k)
                entry -= factor[i * max_p + k] * factor[j * max_p + k] * pivots[k];
            if (i == j)
                pivots[i] = entry + precision[i];
            else
                factor[i * max_p + j] = entry / pivots[j];
        }
        for (std::size_t k = 0; k < i; ++k)
            solved[i] -= factor[i * max_p + k] * solved[k];
        out.value += solved[i] * solved[i] / pivots[i];
        Lanes logarithm = pivots[i];
        common::lane_log(logarithm);
        out.log_determinant += logarithm;
    }
}

/// What the ratios, the pivots and the scale add to ln m; `power` is a + N/2.
PARTITA_CLONES void add_ratios(const RegressionBase& base, const double* sums, std::size_t part_width,
                               const double* power, double* out) {
    const auto p = base.precision.size();
    Lanes top = Lanes{} - std::numeric_limits<double>::infinity(), total{}, exponent;
    common::load(exponent, power);
    for (const double log_weight : base.log_weights) {
        Lanes log_v, squares;
        common::load(log_v, sums);
        common::load(squares, sums + lanes);
        Quadratic found;
        solve(sums + (2 + p) * lanes, sums + 2 * lanes, base.precision.data(), p, found);
        const Lanes left = squares - found.value;
        Lanes scale = base.b + 0.5 * (left > 0.0 ? left : Lanes{});
        common::lane_log(scale);
        const Lanes term = log_weight - 0.5 * (log_v + found.log_determinant) - exponent * scale;
        const Lanes higher = term > top ? term : top;
        Lanes before = top - higher, now = term - higher;
        common::lane_exp(before);
        common::lane_exp(now);
        total = total * before + now;
        top = higher;
        sums += part_width * lanes;
    }
    common::lane_log(total);
    top += total;
    common::store(top, out);
}

} // namespace

Regression::Regression(RegressionBase base, std::size_t max_observations) : base_(std::move(base)) {
    for (const double value : base_.precision)
        log_precision_ += std::log(value);
    std::vector<double> constants(max_observations + 1);
    for (std::size_t n = 0; n <= max_observations; ++n)
        constants[n] = constant(n);
    constants_ = std::make_shared<const std::vector<double>>(std::move(constants));
}

/// ln G(a + n/2) - ln G(a) - n/2 ln(2 pi) + a ln b + ln |precision| / 2.
double Regression::constant(std::size_t n) const {
    const double half = 0.5 * static_cast<double>(n);
    return common::log_gamma(base_.a + half) - common::log_gamma(base_.a) -
           half * std::log(2.0 * std::numbers::pi) + base_.a * std::log(base_.b) + 0.5 * log_precision_;
}

void Regression::log_marginals(const double* sums, double* out) const {
    double power[lanes];
    for (std::size_t lane = 0; lane < lanes; ++lane)
        power[lane] = base_.a + 0.5 * sums[lane];
    add_ratios(base_, sums + lanes, part_width(), power, out);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        const auto n = static_cast<std::size_t>(sums[lane]);
        out[lane] += n < constants_->size() ? (*constants_)[n] : constant(n);
    }
}

} // namespace partita::models
