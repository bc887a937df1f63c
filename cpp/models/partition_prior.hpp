// Priors on partitions of the form p(z) = V(t) prod W(n_k), t clusters of sizes n_k (Gnedin & Pitman 2006).
//   Dirichlet process, Pitman-Yor: V(t) = G(alpha + 1) / G(alpha + n) prod_(i < t) (alpha + i discount),
//                                  W(m) = (1 - discount)(2 - discount)...(m - 1 - discount)
//   finite symmetric Dirichlet with unknown K: W(m) = g (g + 1)...(g + m - 1) for the weight g, V(t) from a
//   table
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "common/log_gamma.hpp"
#include "common/variates.hpp"

namespace partita::models {

struct PartitionPriorSettings {
    double alpha = 1.0;             // its first value, or the Dirichlet weight of the finite mixture
    double discount = 0.0;          // Pitman-Yor
    double shape = 0.0, rate = 0.0; // Gamma prior on alpha, if shape > 0
    std::vector<double> grid;       // or: alpha's values on a grid, with
    std::vector<double> grid_log_prior;
    std::vector<double> log_v; // the finite mixture's ln V(t), t = 0..n; empty for the processes
};

class PartitionPrior {
public:
    PartitionPrior(PartitionPriorSettings settings, std::size_t n_items)
        : settings_(std::move(settings)), n_items_(n_items), alpha_(settings_.alpha), log_join_(n_items + 1),
          log_w_(n_items + 1) {
        const bool finite = !settings_.log_v.empty();
        const double offset = finite ? alpha_ : -settings_.discount;
        log_w_[0] = 0.0;
        log_join_[0] = finite ? std::log(alpha_) : 0.0;
        for (std::size_t m = 1; m <= n_items; ++m) {
            log_w_[m] = log_w_[m - 1] + log_join_[m - 1];
            log_join_[m] = std::log(static_cast<double>(m) + offset);
        }
    }

    /// ln weight of joining a cluster of m > 0 other items.
    double log_join(std::size_t m) const { return log_join_[m]; }

    /// ln weight of a cluster of one's own beside t other clusters: ln V(t + 1) / V(t) + ln W(1). Beside as
    /// many clusters as there are items nobody is left to open one.
    double log_open(std::size_t t) const {
        if (settings_.log_v.empty())
            return std::log(alpha_ + settings_.discount * static_cast<double>(t));
        if (t + 1 >= settings_.log_v.size())
            return -std::numeric_limits<double>::infinity();
        return t == 0 ? 0.0 : settings_.log_v[t + 1] - settings_.log_v[t] + log_join_[0];
    }

    double log_w(std::size_t m) const { return log_w_[m]; }

    /// ln V(t), in full: log densities of different alpha can be compared.
    double log_v(std::size_t t) const {
        if (!settings_.log_v.empty())
            return settings_.log_v[t];
        return log_v_of(alpha_, t);
    }

    double alpha() const { return alpha_; }
    void set_alpha(double alpha) { alpha_ = alpha; }

    /// Whether a chain can have come to this alpha: it is given, on the grid, or any positive number.
    bool allows(double alpha) const {
        if (!settings_.grid.empty())
            return std::find(settings_.grid.begin(), settings_.grid.end(), alpha) != settings_.grid.end();
        return settings_.shape > 0.0 ? alpha > 0.0 && std::isfinite(alpha) : alpha == settings_.alpha;
    }

    /// Draws alpha given the number of clusters. With a Gamma prior: the beta of Escobar & West (1995), and
    /// for each cluster after the first a coin (Teh 2006) that is always heads without a discount.
    void update_alpha(common::Rng& rng, std::size_t t) {
        if (!settings_.grid.empty())
            update_on_grid(rng, t);
        else if (settings_.shape > 0.0)
            update_gamma(rng, t);
    }

private:
    double log_v_of(double alpha, std::size_t t) const {
        const auto n = static_cast<double>(n_items_);
        double sum = common::log_gamma(alpha + 1.0) - common::log_gamma(alpha + n);
        if (alpha > common::large_argument)
            sum = -common::log_rising(alpha + 1.0, n - 1.0);
        if (settings_.discount == 0.0)
            return sum + static_cast<double>(t - 1) * std::log(alpha);
        for (std::size_t i = 1; i < t; ++i)
            sum += std::log(alpha + settings_.discount * static_cast<double>(i));
        return sum;
    }

    void update_gamma(common::Rng& rng, std::size_t t) {
        double heads = 0.0;
        for (std::size_t i = 1; i < t; ++i)
            if (settings_.discount == 0.0 ||
                rng.uniform() * (alpha_ + settings_.discount * static_cast<double>(i)) < alpha_)
                heads += 1.0;
        const double others = static_cast<double>(n_items_) - 1.0;
        const double log_eta = others > 0.0 ? common::log_beta_variate(rng, alpha_ + 1.0, others) : 0.0;
        // the least positive number keeps ln(alpha) finite when a tiny shape makes the variate underflow
        alpha_ = std::max(common::gamma(rng, settings_.shape + heads, settings_.rate - log_eta), 1e-300);
    }

    void update_on_grid(common::Rng& rng, std::size_t t) {
        std::vector<double> scores(settings_.grid.size());
        for (std::size_t g = 0; g < scores.size(); ++g)
            scores[g] = settings_.grid_log_prior[g] + log_v_of(settings_.grid[g], t);
        alpha_ = settings_.grid[common::draw_from_logs(rng, scores)];
    }

    PartitionPriorSettings settings_;
    std::size_t n_items_;
    double alpha_;
    std::vector<double> log_join_, log_w_;
};

} // namespace partita::models
