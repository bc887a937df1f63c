// Binder's loss and the variation of information as what they have in common.
#pragma once

#include <optional>

#include "draws/losses.hpp"

namespace partita::search {

/// L = unit * [a (draw - joint) + b (estimate - joint)] / divisor: linear in every sum.
struct LinearLoss {
    double a, b, unit;
    bool is_binder;

    /// Of a draw that labels n items; one that labels none has sums of zero.
    double divisor(double n) const { return n == 0 ? 1 : is_binder ? n * n : n; }
};

inline std::optional<LinearLoss> as_linear(const Loss& loss) {
    if (const auto* binder = std::get_if<Binder>(&loss))
        return LinearLoss{binder->a, binder->b, binder->unit, true};
    if (const auto* vi = std::get_if<VI>(&loss))
        return LinearLoss{vi->a, vi->b, vi->unit, false};
    return std::nullopt;
}

} // namespace partita::search
