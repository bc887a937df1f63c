// Algorithms as their papers have them, line by line: SALSO (Dahl, Johnson & Müller 2022) and the greedy
// search of Rastelli & Friel (2018), a random start and then sweeps until nothing changes.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "draws/cell_states.hpp"
#include "draws/sparse_state.hpp"
#include "partition/candidate_moves.hpp"
#include "partition/run.hpp"

namespace partita::search {
namespace {

/// Whether these items are a cluster; in increasing order, as members are.
template <SearchState S> bool are_cluster(const S& state, const std::vector<std::uint32_t>& items) {
    return state.members(state.cluster_of(items.front())) == items;
}

/// Destroys cluster after cluster, in random order, and reallocates its items; keeps what is better.
template <SearchState S>
void zealous_updates(S& state, const SearchOptions& options, common::Rng& rng, Tally& tally,
                     const Limits& limits) {
    const auto order = rng.permutation(state.n_clusters());
    // Updates renumber the clusters: an item stands for the one that it is in.
    std::vector<std::uint32_t> marker(state.n_clusters());
    for (std::uint32_t k = 0; k < marker.size(); ++k)
        marker[k] = state.members(k).front();
    const auto attempts = std::min<std::size_t>(options.zealous, order.size());
    state.refresh();
    auto least = state.value();
    for (std::size_t attempt = 0; attempt < attempts && !limits.reached(); ++attempt) {
        const auto items = state.members(state.cluster_of(marker[order[attempt]]));
        auto shuffled = items;
        rng.shuffle(std::span(shuffled));
        const auto before = state.value();
        for (const auto i : shuffled)
            state.remove(i);
        allocate_in_order(state, shuffled, limits);
        tally.moves += items.size();
        if (are_cluster(state, items))
            continue;
        const auto rise = state.value() - before;
        const bool is_worse = rise > state.tolerance() * std::abs(before) + state.rounding();
        if (!is_worse)
            state.refresh();
        if (!is_worse && state.value() < least)
            least = state.value();
        else
            restore(state, {items});
    }
}

} // namespace

template <SearchState S>
Run salso_run(const typename S::Setting& problem, const SearchOptions& options, common::Rng& rng,
              const Limits& limits) {
    Run run;
    S state(problem, options.max_clusters);
    if (!options.starts.empty()) {
        run.start = "given";
        state.assign(options.starts[rng.below(options.starts.size())]);
    } else if (rng.uniform() < options.p_sequential) {
        run.start = "sequential";
        allocate_in_order(state, rng.permutation(problem.n_items()), limits);
    } else {
        run.start = "random";
        state.assign(random_labels(problem.n_items(), options.start_groups, rng));
    }
    sweep_until_stable(state, [&] { return rng.permutation(problem.n_items()); }, run.tally, limits);
    zealous_updates(state, options, rng, run.tally, limits);
    run.finish(state);
    return run;
}

template <SearchState S>
Run greedy_run(const typename S::Setting& problem, const SearchOptions& options, common::Rng& rng,
               const Limits& limits) {
    Run run;
    run.start = options.starts.empty() ? "random" : "given";
    S state(problem, options.max_clusters);
    state.assign(options.starts.empty() ? random_labels(problem.n_items(), options.start_groups, rng)
                                        : options.starts[rng.below(options.starts.size())]);
    sweep_until_stable(state, [&] { return rng.permutation(problem.n_items()); }, run.tally, limits);
    run.finish(state);
    return run;
}

#define INSTANTIATE(S)                                                                                       \
    template Run salso_run<S>(const S::Setting&, const SearchOptions&, common::Rng&, const Limits&);         \
    template Run greedy_run<S>(const S::Setting&, const SearchOptions&, common::Rng&, const Limits&);
INSTANTIATE(LinearState)
INSTANTIATE(RatioState)
INSTANTIATE(CustomState)
INSTANTIATE(SparseState)
#undef INSTANTIATE

} // namespace partita::search
