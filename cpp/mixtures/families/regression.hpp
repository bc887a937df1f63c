// Linear regressions and curves: the observations y of an item have the mean B beta, the same for all items
// of a cluster, and the covariance s2 V with a V that is known up to a ratio rho on a grid.
//
// beta | s2 ~ N(0, s2 / diag(precision)), s2 ~ IG(a, b). An item is known, for each rho, by
//   ln |V|, y' V^-1 y, B' V^-1 y and B' V^-1 B,
// and a cluster by their sums; with N observations, M = diag(precision) + B' V^-1 B and v = B' V^-1 y,
//   m = sum_rho w_rho (2 pi)^(-N/2) |V|^(-1/2) (|precision| / |M|)^(1/2) G(a + N/2) / G(a)
//       b^a / (b + (y' V^-1 y - v' M^-1 v) / 2)^(a + N/2).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace partita::models {

struct RegressionBase {
    std::vector<double> precision; // one per coefficient
    double a, b;
    std::vector<double> log_weights; // of the ratios rho
};

class Regression {
public:
    static constexpr std::size_t max_coefficients = 16;

    /// `max_observations`: of all items together; more take longer.
    Regression(RegressionBase base, std::size_t max_observations);

    std::size_t width() const { return 1 + base_.log_weights.size() * part_width(); }
    void log_marginals(const double* sums, double* out) const;

    std::size_t part_width() const {
        const auto p = base_.precision.size();
        return 2 + p + p * (p + 1) / 2;
    }

private:
    double constant(std::size_t n) const;

    RegressionBase base_;
    double log_precision_ = 0.0;
    /// [N]: what follows from the number of observations alone; copies share it.
    std::shared_ptr<const std::vector<double>> constants_;
};

} // namespace partita::models
