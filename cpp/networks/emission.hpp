// The log marginal likelihood of a block of dyads, its parameter integrated out. A new edge model is one
// struct here: cell(edges, exposure) with cell(0, 0) = 0, and top(edges, exposure, more) - floor(edges,
// exposure), the change of the cell when it gains `more` edges at the same exposure; allows(edges, exposure),
// whether this many edges are possible.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "common/log_rising.hpp"

namespace partita::models {

/// Binary edges, probability ~ Beta(eta0, zeta0): log B(eta0 + e, zeta0 + m − e) / B(eta0, zeta0).
class BernoulliBlocks {
public:
    BernoulliBlocks(double eta0, double zeta0, std::int64_t max_edges, std::int64_t max_exposure)
        : edges_(eta0, max_edges), gaps_(zeta0, max_exposure), dyads_(eta0 + zeta0, max_exposure) {}

    [[gnu::always_inline]] double cell(std::int64_t edges, std::int64_t exposure) const {
        return edges_(edges) + gaps_(exposure - edges) - dyads_(exposure);
    }

    bool allows(std::int64_t edges, std::int64_t exposure) const { return edges <= exposure; }

    [[gnu::always_inline]] double floor(std::int64_t edges, std::int64_t exposure) const {
        return edges_(edges) + gaps_(exposure - edges);
    }
    [[gnu::always_inline]] double top(std::int64_t edges, std::int64_t exposure, std::int64_t more) const {
        return edges_(edges + more) + gaps_(exposure - edges - more);
    }

private:
    common::LogRising edges_, gaps_, dyads_;
};

/// Counted edges, rate ~ Gamma(a0, b0): log Γ(a0 + e)/Γ(a0) + a0 log b0 − (a0 + e) log(b0 + m).
/// The factorials of the counts do not depend on the partition and stay outside.
class PoissonBlocks {
public:
    PoissonBlocks(double a0, double b0, double unit, std::int64_t max_edges)
        : a0_(a0), b0_(b0), unit_(unit), log_b0_(std::log(b0)), edges_(a0, max_edges), logs_(table_size) {
        for (std::size_t m = 0; m < logs_.size(); ++m)
            logs_[m] = std::log(b0 + unit * static_cast<double>(m)) - log_b0_;
    }

    double cell(std::int64_t edges, std::int64_t exposure) const {
        const auto count = static_cast<double>(edges);
        return edges_(edges) - (a0_ + count) * log_exposure_ratio(exposure) - count * log_b0_;
    }

    bool allows(std::int64_t, std::int64_t) const { return true; }

    double floor(std::int64_t edges, std::int64_t) const { return edges_(edges); }
    double top(std::int64_t edges, std::int64_t exposure, std::int64_t more) const {
        return edges_(edges + more) - static_cast<double>(more) * (log_exposure_ratio(exposure) + log_b0_);
    }

private:
    static constexpr std::size_t table_size = std::size_t{1} << 16;

    /// log((b0 + m) / b0)
    double log_exposure_ratio(std::int64_t exposure) const {
        if (static_cast<std::size_t>(exposure) < logs_.size())
            return logs_[static_cast<std::size_t>(exposure)];
        return std::log(b0_ + unit_ * static_cast<double>(exposure)) - log_b0_;
    }

    double a0_, b0_, unit_, log_b0_;
    common::LogRising edges_;
    std::vector<double> logs_;
};

} // namespace partita::models
