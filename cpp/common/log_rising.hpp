// Logarithms of rising factorials, log Γ(x + n) − log Γ(x), the only special function of the conjugate block
// models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/log_gamma.hpp"

namespace partita::common {

/// n -> log Γ(x + n) − log Γ(x): a table for the counts of a graph, Stirling's series beyond it.
class LogRising {
public:
    LogRising(double x, std::int64_t largest)
        : x_(x), log_gamma_x_(log_gamma(x)), table_(table_size(largest)) {
        for (std::size_t n = 0; n < table_.size(); ++n)
            table_[n] = direct(static_cast<double>(n));
        table_[0] = 0.0;
    }

    [[gnu::always_inline]] double operator()(std::int64_t n) const {
        if (static_cast<std::size_t>(n) < table_.size()) [[likely]]
            return table_[static_cast<std::size_t>(n)];
        return direct(static_cast<double>(n));
    }

private:
    static constexpr std::int64_t largest_table = std::int64_t{1} << 20;

    static std::size_t table_size(std::int64_t largest) {
        return static_cast<std::size_t>(largest < largest_table ? largest + 1 : largest_table);
    }

    // apart, so that the table is read inline
    [[gnu::noinline]] double direct(double n) const { return log_gamma(x_ + n) - log_gamma_x_; }

    double x_, log_gamma_x_;
    std::vector<double> table_;
};

} // namespace partita::common
