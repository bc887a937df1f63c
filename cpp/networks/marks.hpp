// The log marginal likelihood of the marks (weights, categories) on the edges of a block. A
// new kind of mark is one struct here: the sums of a block are width() numbers, the first the number of
// edges; add(mark, sign, sums) changes them by one edge, and cell(sums) is their log marginal, 0 without
// edges.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "common/log_gamma.hpp"
#include "common/log_rising.hpp"

namespace partita::models {

/// Real weights ~ N(μ, 1/τ), μ ~ N(mu0, 1/(kappa0 τ)), τ ~ Gamma(shape, rate). Sums are of w − mu0.
class NormalMarks {
public:
    NormalMarks(double mu0, double kappa0, double shape, double rate)
        : mu0_(mu0), kappa0_(kappa0), shape_(shape), rate_(rate),
          constant_(shape * std::log(rate) - common::log_gamma(shape) + 0.5 * std::log(kappa0)) {}

    std::size_t width() const { return 3; }

    void add(double mark, double sign, double* sums) const {
        const double x = mark - mu0_;
        sums[0] += sign;
        sums[1] += sign * x;
        sums[2] += sign * x * x;
    }

    double cell(const double* sums) const {
        if (sums[0] < 0.5)
            return 0.0;
        const double n = sums[0], kappa = kappa0_ + n, shape = shape_ + 0.5 * n;
        const double squares =
            std::max(0.0, sums[2] - sums[1] * sums[1] / kappa); // below 0 by rounding alone
        return constant_ + common::log_gamma(shape) - shape * std::log(rate_ + 0.5 * squares) -
               0.5 * std::log(kappa) - 0.5 * n * std::log(2.0 * std::numbers::pi);
    }

private:
    double mu0_, kappa0_, shape_, rate_, constant_;
};

/// Categories 0 .. n_categories - 1 with probabilities ~ Dirichlet(alpha, …, alpha).
class CategoryMarks {
public:
    CategoryMarks(std::size_t n_categories, double alpha, std::int64_t max_edges)
        : n_categories_(n_categories), one_(alpha, max_edges),
          all_(alpha * static_cast<double>(n_categories), max_edges) {}

    std::size_t width() const { return n_categories_ + 1; }

    void add(double mark, double sign, double* sums) const {
        sums[0] += sign;
        sums[1 + static_cast<std::size_t>(mark)] += sign;
    }

    double cell(const double* sums) const {
        if (sums[0] < 0.5)
            return 0.0;
        double total = -all_(static_cast<std::int64_t>(sums[0]));
        for (std::size_t c = 1; c <= n_categories_; ++c)
            total += one_(static_cast<std::int64_t>(sums[c]));
        return total;
    }

private:
    std::size_t n_categories_;
    common::LogRising one_, all_;
};

} // namespace partita::models
