// Clusters of Gaussians with diagonal covariance under a product of Normal-Inverse-Gammas: Wade &
// Ghahramani's eq. 5.
//
// In each dimension mu | s2 ~ N(mu0, s2 / c), s2 ~ IG(a, b). A cluster of n items has c_n = c + n, a_n = a +
// n/2, a mean m and b_n; with u = (x - m)^2 / (2 b_n) the two predictive densities of a sweep are
//   of a new item:        ln p = k(n)   - ln(b_n)/2 - (a_n + 1/2) ln(1 + u c_n/(c_n + 1))
//   of one of its items:  ln p = k(n-1) - ln(b_n)/2 + (a_n - 1/2) ln(1 - u c_n/(c_n - 1))   (given the
//   others)
// with k(n) = ln G(a_n + 1/2) - ln G(a_n) + ln(c_n/(c_n + 1))/2 - ln(2 pi)/2. Dimensions with the same a
// share one logarithm of a product.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <vector>

#include "common/log_gamma.hpp"
#include "mixtures/moments.hpp"
#include "mixtures/number_table.hpp"
#include "mixtures/slot_family.hpp"

namespace partita::models {

/// One value per dimension.
struct GammaBase {
    std::vector<double> mean, c, a, b;
};

/// What the marginal likelihood of n cells of a column owes to their number alone:
/// ln G(a + n/2) - ln G(a) + ln(c / (c + n)) / 2.
inline double gamma_part(double a, double c, double n) {
    return common::log_gamma(a + 0.5 * n) - common::log_gamma(a) + 0.5 * std::log(c / (c + n));
}
/// ln p of n cells of a column with the scale b, which is `b0` without any.
inline double gaussian_marginal(double gamma_part, double n, double a, double b0, double b) {
    return gamma_part - 0.5 * n * std::log(2.0 * std::numbers::pi) + a * std::log(b0) -
           (a + 0.5 * n) * std::log(b);
}

class DiagonalGaussian : public SlotFamily<DiagonalGaussian> {
public:
    using Table = NumberTable; // without gaps
    using Summaries = Moments<DiagonalGaussian>;

    DiagonalGaussian(GammaBase base, std::size_t max_size);

    std::size_t dims() const { return dims_; }
    std::size_t scatter_size() const { return dims_; }
    static auto tables() {
        return std::array{&DiagonalGaussian::mean_, &DiagonalGaussian::b_, &DiagonalGaussian::weight_,
                          &DiagonalGaussian::constants_};
    }
    void clear(std::size_t slot);
    void insert(std::size_t slot, const double* x) { change(slot, x, 1.0); }
    void remove(std::size_t slot, const double* x) {
        sizes_[slot] == 1 ? clear(slot) : change(slot, x, -1.0);
    }
    /// From the items' number, mean and sums of squares about it.
    void assign(std::size_t slot, std::uint32_t size, const double* mean, const double* scatter);

    /// Adds to out[slot] the log predictive density of x, for every slot; `own` holds x and is scored without
    /// it.
    void score(const double* x, std::size_t own, std::size_t slots, double* out);
    /// The same, but a slot whose score is below that of `own` by more than -depth may get -infinity.
    void score_above(const double* x, std::size_t own, std::size_t slots, double depth, double* out);
    /// Of the last score: the least b_(n-1)/b_n of a dimension of `own`.
    double own_ratio(std::size_t) const { return own_ratio_; }
    double log_marginal(std::size_t slot) const;
    /// Which dimensions scores and `log_marginal` are of; clusters know all of them.
    void set_included(std::span<const std::uint8_t> included);
    void add_unit_marginals(std::size_t slot, double* out) const;

    /// Rows up to `end`, from where the one before ended, have the same a: one logarithm of their product.
    struct Product {
        std::size_t end;
        double a;
    };

    static void add_scatter(std::span<const double> deviation, double* scatter);

    template <class Archive> void visit(Archive& archive) { archive(sizes_, mean_, b_, weight_, constants_); }
    /// Whether what was read has this many slots.
    bool fits(std::size_t stride) const { return sizes_.size() == stride && tables_fit(stride); }

private:
    void change(std::size_t slot, const double* x, double by);
    void set_constants(std::size_t slot);
    double score_own(std::size_t own);
    /// The gamma parts of one dimension, for n = 0, ..., max_size.
    using GammaTable = std::shared_ptr<const std::vector<double>>;
    GammaTable gamma_table(double a, double c) const;
    void tabulate_dimensions();
    double dimension_marginal(std::size_t row, std::size_t slot, double gamma_part) const;
    double step(std::size_t n) const { return (*gamma_sums_)[n + 1] - (*gamma_sums_)[n]; }

    GammaBase base_;
    std::size_t dims_, max_size_;
    std::vector<std::size_t> order_; // dimensions, sorted by a
    std::vector<double> sorted_;     // the item that was scored last, in this order
    std::vector<Product> products_;
    std::vector<std::uint8_t> included_;     // rows: the others have weight 0, and no part in constants
    GammaTable gamma_sums_;                  // summed over dimensions that are included; copies share it
    std::vector<GammaTable> gammas_;         // of each row, if dimensions are selected
    SlotRows mean_, b_, weight_, constants_; // rows in `order_`; weight = c_n / (c_n + 1) / (2 b_n)
    double own_ratio_ = 1.0;
};

} // namespace partita::models
