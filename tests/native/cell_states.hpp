// The states on cells under every loss, for the native tests.
#pragma once

#include "draws/cell_states.hpp"
#include "random_draws.hpp"

/// Calls check(state) with an empty state on the draws for every loss.
template <class Label, class Check>
void with_each_loss(const RandomDraws<Label>& owned, std::uint32_t max_clusters, Check check) {
    for (const auto& loss : all_losses(owned.n_items)) {
        const partita::LossTables tables(loss, owned.n_items);
        const partita::search::Problem problem(owned.view(), tables);
        partita::search::with_cell_state(loss, [&]<class S>() {
            S state(problem, max_clusters);
            check(state);
        });
    }
}
