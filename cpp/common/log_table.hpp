// Logarithms of counts, from a table.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace partita::common {

/// log(base + n): for small n from a table, so that a sweep computes no logarithms; larger n are computed.
class LogTable {
public:
    LogTable() = default;
    LogTable(double base, std::size_t n_max) : base_(base), values_(std::min(n_max + 1, limit)) {
        for (std::size_t n = 0; n < values_.size(); ++n)
            values_[n] = std::log(base + static_cast<double>(n));
    }
    double operator()(std::uint32_t n) const {
        return n < values_.size() ? values_[n] : std::log(base_ + static_cast<double>(n));
    }

private:
    static constexpr std::size_t limit = std::size_t{1} << 17;

    double base_ = 0.0;
    std::vector<double> values_;
};

} // namespace partita::common
