// Rows that belong nowhere. A row of noise has parameters of its own from the base measure, whatever cluster
// its label names: it adds to the size of that cluster, and nothing to what is known of it. Since sizes
// follow a process without a data part, the clusters of all other rows have the prior that they would have
// without the noise.
//
// The share of noise has a Beta prior and is integrated out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/log_gamma.hpp"

namespace partita::models {

class NoiseRows {
public:
    NoiseRows(std::size_t n_rows, double a, double b)
        : a_(a), b_(b), is_noise_(n_rows, 0), log_alone_(n_rows, 0.0) {}

    bool contains(std::size_t row) const { return is_noise_[row] != 0; }
    std::size_t count() const { return count_; }

    /// `log_alone`: the log density of the row with parameters of its own.
    void add(std::size_t row, double log_alone) { is_noise_[row] = 1, log_alone_[row] = log_alone, ++count_; }
    void remove(std::size_t row) { is_noise_[row] = 0, log_alone_[row] = 0.0, --count_; }

    /// The log odds that a row is noise given the others, of which none is counted twice.
    double log_odds() const {
        const auto s = static_cast<double>(count_), n = static_cast<double>(is_noise_.size());
        return std::log(a_ + s) - std::log(b_ + n - 1.0 - s);
    }

    /// ln p(which rows are noise, and their cells).
    double log_density() const {
        const auto s = static_cast<double>(count_), n = static_cast<double>(is_noise_.size());
        double total = log_beta(a_ + s, b_ + n - s) - log_beta(a_, b_);
        for (const double own : log_alone_)
            total += own;
        return total;
    }

    template <class Archive> void visit(Archive& archive) { archive(is_noise_, log_alone_, count_); }
    bool fits(std::size_t n_rows) const {
        const auto noise = std::count(is_noise_.begin(), is_noise_.end(), std::uint8_t{1});
        return is_noise_.size() == n_rows && log_alone_.size() == n_rows &&
               std::all_of(is_noise_.begin(), is_noise_.end(), [](auto value) { return value <= 1; }) &&
               static_cast<std::size_t>(noise) == count_;
    }

private:
    static double log_beta(double x, double y) {
        return common::log_gamma(x) + common::log_gamma(y) - common::log_gamma(x + y);
    }

    double a_, b_;
    std::vector<std::uint8_t> is_noise_;
    std::vector<double> log_alone_; // 0 of rows that are not noise
    std::size_t count_ = 0;
};

/// A family with rows of noise, if it has any.
template <class Family>
concept MayHaveNoise = requires(Family& family) { family.noise(); };

} // namespace partita::models
