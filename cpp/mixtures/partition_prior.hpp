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
#include <utility>
#include <variant>
#include <vector>

#include "common/concentration.hpp"
#include "common/log_gamma.hpp"
#include "common/variates.hpp"

namespace partita::models {

using common::FixedConcentration;
using common::GammaConcentration;

struct GridConcentration {
    std::vector<double> values, log_prior; // one log weight per value
};

using Alpha = std::variant<FixedConcentration, GammaConcentration, GridConcentration>;

/// The Dirichlet process, and with a discount the Pitman-Yor process.
struct ProcessPrior {
    Alpha alpha;
    double discount = 0.0;
};

struct FiniteMixturePrior {
    double weight = 1.0;       // of the symmetric Dirichlet distribution
    std::vector<double> log_v; // ln V(t), t = 0..n
};

using PartitionPriorSettings = std::variant<ProcessPrior, FiniteMixturePrior>;

class PartitionPrior {
public:
    PartitionPrior(PartitionPriorSettings settings, std::size_t n_items)
        : settings_(std::move(settings)), n_items_(n_items), alpha_(first_alpha()), log_join_(n_items + 1),
          log_w_(n_items + 1) {
        if (const auto* finite = std::get_if<FiniteMixturePrior>(&settings_))
            log_v_ = finite->log_v;
        else
            discount_ = std::get<ProcessPrior>(settings_).discount;
        const double offset = is_finite() ? alpha_ : -discount_;
        log_w_[0] = 0.0;
        log_join_[0] = is_finite() ? std::log(alpha_) : 0.0;
        for (std::size_t m = 1; m <= n_items; ++m) {
            log_w_[m] = log_w_[m - 1] + log_join_[m - 1];
            log_join_[m] = std::log(static_cast<double>(m) + offset);
        }
    }

    /// ln weight of joining a cluster of m > 0 other items.
    double log_join(std::size_t m) const { return log_join_[m]; }

    /// ln weight of a new cluster beside t others: ln V(t + 1) / V(t) + ln W(1). If every item has a cluster
    /// of its own, no item is left to open one.
    double log_open(std::size_t t) const {
        if (!is_finite())
            return std::log(alpha_ + discount_ * static_cast<double>(t));
        if (t + 1 >= log_v_.size())
            return -std::numeric_limits<double>::infinity();
        return t == 0 ? 0.0 : log_v_[t + 1] - log_v_[t] + log_join_[0];
    }

    /// ln of what the weights of all clusters and of a new one sum to, beside m other items in t clusters.
    double log_total(std::size_t m, std::size_t t) const {
        const double offset = is_finite() ? alpha_ : -discount_;
        return std::log(static_cast<double>(m) + offset * static_cast<double>(t) + std::exp(log_open(t)));
    }

    double log_w(std::size_t m) const { return log_w_[m]; }

    /// ln V(t), in full: log densities of different alpha can be compared.
    double log_v(std::size_t t) const { return is_finite() ? log_v_[t] : log_v_of(alpha_, t); }

    double alpha() const { return alpha_; }
    void set_alpha(double alpha) { alpha_ = alpha; }

    /// Whether a chain can have come to this alpha: it is given, on the grid, or any positive number.
    bool allows(double alpha) const {
        if (const auto* grid = alpha_prior<GridConcentration>())
            return std::ranges::find(grid->values, alpha) != grid->values.end();
        return alpha_prior<GammaConcentration>() ? alpha > 0.0 && std::isfinite(alpha)
                                                 : alpha == first_alpha();
    }

    /// Draws alpha given the number of clusters. With a Gamma prior: the beta of Escobar & West (1995), and
    /// for each cluster after the first a coin (Teh 2006) that is always heads without a discount.
    void update_alpha(common::Rng& rng, std::size_t t) {
        if (const auto* grid = alpha_prior<GridConcentration>())
            update_on_grid(*grid, rng, t);
        else if (const auto* gamma = alpha_prior<GammaConcentration>())
            alpha_ = common::draw_concentration(*gamma, alpha_, discount_, n_items_, t, rng);
    }

private:
    static double first_value(const GridConcentration& grid) { return grid.values[grid.values.size() / 2]; }
    static double first_value(const auto& concentration) { return common::first_value(concentration); }

    double first_alpha() const {
        if (const auto* finite = std::get_if<FiniteMixturePrior>(&settings_))
            return finite->weight;
        return std::visit([](const auto& alpha) { return first_value(alpha); },
                          std::get<ProcessPrior>(settings_).alpha);
    }

    bool is_finite() const { return !log_v_.empty(); }

    /// How alpha is drawn, if it is drawn in this way.
    template <class Kind> const Kind* alpha_prior() const {
        const auto* process = std::get_if<ProcessPrior>(&settings_);
        return process == nullptr ? nullptr : std::get_if<Kind>(&process->alpha);
    }

    double log_v_of(double alpha, std::size_t t) const {
        const auto n = static_cast<double>(n_items_);
        double sum = common::log_gamma(alpha + 1.0) - common::log_gamma(alpha + n);
        if (alpha > common::large_argument)
            sum = -common::log_rising(alpha + 1.0, n - 1.0);
        if (discount_ == 0.0)
            return sum + static_cast<double>(t - 1) * std::log(alpha);
        for (std::size_t i = 1; i < t; ++i)
            sum += std::log(alpha + discount_ * static_cast<double>(i));
        return sum;
    }

    void update_on_grid(const GridConcentration& grid, common::Rng& rng, std::size_t t) {
        std::vector<double> scores(grid.values.size());
        for (std::size_t g = 0; g < scores.size(); ++g)
            scores[g] = grid.log_prior[g] + log_v_of(grid.values[g], t);
        alpha_ = grid.values[common::draw_from_logs(rng, scores)];
    }

    PartitionPriorSettings settings_;
    std::size_t n_items_;
    double alpha_;              // the weight of a finite mixture
    double discount_ = 0.0;     // of a process
    std::vector<double> log_v_; // of a finite mixture; a process computes it
    std::vector<double> log_join_, log_w_;
};

} // namespace partita::models
