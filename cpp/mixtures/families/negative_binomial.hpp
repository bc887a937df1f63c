// A column of over-dispersed counts: negative binomial with a size r on a grid of its own in each cluster,
// and a probability p of which 1 - p is Beta(shape, 1 + r rate).
//
// The mean r (1 - p) / p of a cluster then has the expectation shape / rate for every r, and for large r the
// distribution Gamma(shape, rate) of Poisson counts. With n cells of sum s,
//   m = sum_r w_r prod_i G(x_i + r) / G(r) B(1 + r rate + n r, shape + s) / B(1 + r rate, shape) / prod_i
//   x_i!.
// The statistics of an item are 1, x and ln G(x + r) - ln G(r) for every r; the factor 1 / x! is part of the
// table's carrier.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "common/lanes.hpp"
#include "common/log_gamma.hpp"

namespace partita::models {

struct NegativeBinomialBase {
    double shape, rate;
    std::vector<double> sizes; // the grid of r, with equal prior probabilities
};

class NegativeBinomial {
public:
    explicit NegativeBinomial(NegativeBinomialBase base)
        : base_(std::move(base)), terms_(base_.sizes.size()) {
        for (const double r : base_.sizes)
            prior_.push_back(log_beta(1.0 + r * base_.rate, base_.shape) +
                             std::log(static_cast<double>(base_.sizes.size())));
    }

    std::size_t width() const { return 2 + base_.sizes.size(); }

    void log_marginals(const double* sums, double* out) {
        for (std::size_t lane = 0; lane < common::lanes; ++lane)
            out[lane] = log_marginal(sums + lane);
    }

private:
    static double log_beta(double a, double b) { return common::log_gamma(b) - common::log_rising(a, b); }

    double log_marginal(const double* sums) {
        const double n = sums[0], s = sums[common::lanes];
        for (std::size_t g = 0; g < terms_.size(); ++g) {
            const double r = base_.sizes[g];
            terms_[g] = sums[(2 + g) * common::lanes] +
                        log_beta(1.0 + r * base_.rate + n * r, base_.shape + s) - prior_[g];
        }
        const double top = *std::max_element(terms_.begin(), terms_.end());
        double total = 0.0;
        for (const double term : terms_)
            total += std::exp(term - top);
        return top + std::log(total);
    }

    NegativeBinomialBase base_;
    std::vector<double> prior_, terms_;
};

} // namespace partita::models
