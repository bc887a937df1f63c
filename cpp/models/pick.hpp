// One draw from unnormalised log probabilities.
#pragma once

#include <cstddef>

namespace partita::models {

/// The slot at `uniform` (in [0, 1)) of the cumulated probabilities; `slots` is a multiple of the lanes. The
/// scores are overwritten.
std::size_t pick(double* scores, std::size_t slots, double uniform);

} // namespace partita::models
