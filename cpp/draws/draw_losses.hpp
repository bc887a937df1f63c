// Expected Binder loss or VI of every draw, through the distinct clusters of all draws.
//
// Both losses are sums over clusters: with F(S) = sum_t w_t sum_{T in x_t} phi(|S n T|), the expected loss of
// y is a E[sum_T phi(|T|)] + sum_{S in y} (b phi(|S|) - (a + b) F(S)), over n (VI) or n^2 (Binder). Draws
// share clusters, and |S n T| of two bit sets is fast, so that all draws are scored at once.
#pragma once

#include <vector>

#include "common/parallel.hpp"
#include "draws/draws.hpp"
#include "draws/losses.hpp"

namespace partita {

/// One value per distinct draw; empty if the clusters need more than `max_steps` operations, if the loss is
/// neither Binder nor VI, or if `stop` is set. The draws must have no missing labels.
template <class Label>
std::vector<double> expected_losses_of_draws(const Draws<Label>& draws, const LossTables& tables,
                                             double max_steps, unsigned threads,
                                             const common::StopFlag& stop);

} // namespace partita
