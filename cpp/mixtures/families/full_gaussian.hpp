// Clusters of Gaussians with any covariance, the parameters integrated out under a Normal-Inverse-Wishart
// base.
//
// A cluster of n items has kappa = kappa0 + n, nu = nu0 + n, a mean m and a scale Psi = L L'. With
// q = (x - m)' Psi^-1 (x - m) the matrix determinant lemma gives both predictive densities that a sweep
// needs:
//   of a new item:        ln p = c(n)   - ln|Psi|/2 - (nu + 1)/2 ln(1 + q kappa/(kappa + 1))
//   of one of its items:  ln p = c(n-1) - ln|Psi|/2 + (nu - 1)/2 ln(1 - q kappa/(kappa - 1))   (given the
//   others)
// with c(n) = d/2 ln(kappa/(kappa+1)) + ln G((nu+1)/2) - ln G((nu+1-d)/2) - d/2 ln pi. So an item that stays
// where it is costs no update, and one that moves costs two rank-one changes of L.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mixtures/moments.hpp"
#include "mixtures/number_table.hpp"
#include "mixtures/slot_family.hpp"

namespace partita::models {

/// The parameters of the base measure. Each list is a grid; a single value is fixed.
struct WishartBase {
    std::vector<double> mean;
    std::vector<double> kappas;  // precision of a cluster's mean, in units of its covariance
    std::vector<double> nus;     // degrees of freedom
    std::vector<double> scale;   // d x d; used when `spreads` is empty
    std::vector<double> spreads; // v of scale = nu v I
};

class FullGaussian : public SlotFamily<FullGaussian> {
public:
    using Table = NumberTable; // without gaps
    using Summaries = Moments<FullGaussian>;

    FullGaussian(WishartBase base, std::size_t max_size);

    std::size_t dims() const { return dims_; }
    std::size_t scatter_size() const { return dims_ * (dims_ + 1) / 2; }
    static auto tables() {
        return std::array{&FullGaussian::mean_, &FullGaussian::factor_, &FullGaussian::inverse_diagonal_,
                          &FullGaussian::constants_};
    }
    void widen(std::size_t stride);

    void clear(std::size_t slot);
    void insert(std::size_t slot, const double* x) { change(slot, x, 1.0); }
    void remove(std::size_t slot, const double* x) {
        sizes_[slot] == 1 ? clear(slot) : change(slot, x, -1.0);
    }
    /// From the items' number, mean and scatter about it (lower triangle by rows).
    void assign(std::size_t slot, std::uint32_t size, const double* mean, const double* scatter);
    void copy_slot(const FullGaussian& from, std::size_t source, std::size_t target);

    /// Adds to out[slot] the log predictive density of x, for every slot; `own` holds x and is scored without
    /// it.
    void score(const double* x, std::size_t own, std::size_t slots, double* out);
    /// Of the last score: |Psi without x| / |Psi| of `own`. Near zero the formula above loses its digits.
    double own_ratio(std::size_t own) const { return ratios_[own]; }
    double log_marginal(std::size_t slot) const;

    static void add_scatter(std::span<const double> deviation, double* scatter);

    const WishartBase& base() const { return base_; }
    /// Places on the three grids; every cluster must be assigned anew after a change.
    std::vector<std::uint32_t> grid_place() const { return {kappa_, nu_, spread_}; }
    void set_grid_place(std::span<const std::uint32_t> place);
    /// Adds to the scores of one parameter's grid (0: kappa, 1: nu, 2: spread) a cluster's log marginal
    /// likelihood there, up to a constant; the other parameters are at `place`.
    void add_grid_scores(std::size_t parameter, std::span<const std::uint32_t> place, std::uint32_t size,
                         const double* mean, const double* scatter, std::span<double> scores);

    template <class Archive> void visit(Archive& archive) {
        archive(kappa_, nu_, spread_, prior_factor_, prior_log_det_, sizes_, mean_, factor_,
                inverse_diagonal_, constants_, log_det_, ratios_);
    }
    /// Whether what was read is of this base, and has this many slots.
    bool fits(std::size_t stride) const;

private:
    void change(std::size_t slot, const double* x, double by);
    void set_constants(std::size_t slot);
    void rotate_factor(std::size_t slot, double sign, double* w);
    double gamma_term(std::uint32_t nu, std::size_t n) const {
        return (*gamma_sums_)[nu * (max_size_ + 1) + n];
    }
    double posterior_factor(std::uint32_t size, const double* mean, const double* scatter);

    WishartBase base_;
    std::size_t dims_, max_size_;
    std::uint32_t kappa_ = 0, nu_ = 0, spread_ = 0;
    /// [nu on the grid][n]: ln G_d((nu + n)/2) - ln G_d(nu/2); copies share it.
    std::shared_ptr<const std::vector<double>> gamma_sums_;
    std::vector<double> prior_factor_;
    double prior_log_det_ = 0.0;

    SlotRows mean_, factor_, inverse_diagonal_, constants_;
    std::vector<double> log_det_, ratios_, scratch_, triangle_, grid_work_;
};

} // namespace partita::models
