// One draw from unnormalised log probabilities, and bounds that often tell it sooner.
#pragma once

#include <cstddef>
#include <optional>

namespace partita::models {

/// The slot at `uniform` (in [0, 1)) of the cumulated probabilities; `slots` is a multiple of the lanes. The
/// scores are overwritten.
std::size_t pick(double* scores, std::size_t slots, double uniform);

/// The same, if slots were left out (at -infinity) that together have at most this share of the probability
/// of `place`; nothing if one of them might be drawn, or move the limits of the slot at `uniform` beyond it.
std::optional<std::size_t> pick_without_far(double* scores, std::size_t slots, double uniform,
                                            std::size_t place, double share);

/// What the slots before and after one have of the probability, relative to its own: upper bounds, less than
/// 7% too large. Infinite if the slot itself has none.
struct OtherSlots {
    double before, after;

    double total() const { return before + after; }
    /// Whether they lose the draw at `uniform` to the slot, even with other slots that together have at most
    /// `share` of its probability, wherever they are.
    bool lose(double uniform, double share) const {
        constexpr double rounding = 1e-9;
        return uniform * (1.0 + before + share) > before + share + rounding &&
               uniform * (1.0 + after + share) < 1.0 - rounding;
    }
};

OtherSlots other_slots(const double* scores, std::size_t slots, std::size_t place);

} // namespace partita::models
