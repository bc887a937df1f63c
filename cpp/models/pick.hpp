// One draw from unnormalised log probabilities, and whether it is almost certain.
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

/// Whether `place` has all but this share of the probability. False may also be said of less than the share.
bool towers(const double* scores, std::size_t slots, std::size_t place, double share);

} // namespace partita::models
