// Expected Binder loss or VI of every draw, through the distinct clusters of all draws.
//
// Both losses are sums over clusters: with F(S) = sum_t w_t sum_{T in x_t} phi(|S n T|), the expected loss of
// y is a E[sum_T phi(|T|)] + sum_{S in y} (b phi(|S|) - (a + b) F(S)), over n (VI) or n^2 (Binder). Draws
// share clusters, and |S n T| of two bit sets is quick, so that all draws are scored at once.
#pragma once

#include <vector>

#include "draws.hpp"
#include "losses.hpp"
#include "parallel.hpp"

namespace partita {

/// One value a distinct draw; none if the clusters need more than `most_steps` operations, if the loss is
/// another one, or if `stop` is set. The draws must have no gaps.
template <class Label>
std::vector<double> expected_losses_of_draws(const Draws<Label>& draws, const LossTables& tables,
                                             double most_steps, unsigned threads, const StopFlag& stop);

} // namespace partita
