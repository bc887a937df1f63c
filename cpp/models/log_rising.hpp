// Logarithms of rising factorials, log Γ(x + n) − log Γ(x), the one special function of the conjugate block
// models.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace partita {

/// log Γ(x) by Stirling's series; below 1e-15 relative error for x >= 16.
inline double log_gamma_stirling(double x) {
    const double inverse = 1.0 / x, square = inverse * inverse;
    const double series = inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square / 1680)));
    return (x - 0.5) * std::log(x) - x + 0.5 * std::log(2 * std::numbers::pi) + series;
}

/// n -> log Γ(x + n) − log Γ(x): a table for the counts a graph can show, Stirling's series above it.
class LogRising {
public:
    LogRising(double x, std::int64_t largest)
        : x_(x), log_gamma_x_(std::lgamma(x)), table_(table_size(largest)) {
        for (std::size_t n = 0; n < table_.size(); ++n)
            table_[n] = log_gamma(static_cast<double>(n));
        table_[0] = 0.0;
    }

    double operator()(std::int64_t n) const {
        if (static_cast<std::size_t>(n) < table_.size()) [[likely]]
            return table_[static_cast<std::size_t>(n)];
        return log_gamma(static_cast<double>(n));
    }

private:
    static constexpr std::int64_t largest_table = std::int64_t{1} << 20;

    static std::size_t table_size(std::int64_t largest) {
        return static_cast<std::size_t>(largest < largest_table ? largest + 1 : largest_table);
    }

    double log_gamma(double n) const {
        const double argument = x_ + n;
        return (argument < 16 ? std::lgamma(argument) : log_gamma_stirling(argument)) - log_gamma_x_;
    }

    double x_, log_gamma_x_;
    std::vector<double> table_;
};

} // namespace partita
