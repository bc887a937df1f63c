// SALSO, Algorithm 1 of Dahl, Johnson & Müller (2021), line by line.
#include <algorithm>

#include "search/run.hpp"
#include "search/sparse_moves.hpp"

namespace partita::search {
namespace {

/// Destroys cluster after cluster, in random order, and reallocates its items; keeps what is better.
template <SearchState S>
void zealous_updates(S& state, const SearchOptions& options, common::Rng& rng, Tally& tally,
                     const Limits& limits) {
    const auto order = rng.permutation(state.n_clusters());
    // A revert renumbers nothing, so that a number in `order` means the same cluster until an update is kept.
    std::vector<std::uint32_t> marker(state.n_clusters());
    for (std::uint32_t k = 0; k < marker.size(); ++k)
        marker[k] = state.members(k).front();
    const auto attempts = std::min<std::size_t>(options.zealous, order.size());
    for (std::size_t attempt = 0; attempt < attempts && !limits.reached(); ++attempt) {
        const auto before = state.labels();
        state.refresh();
        const auto value = state.value();
        auto items = state.members(state.cluster_of(marker[order[attempt]]));
        rng.shuffle(std::span(items));
        for (const auto i : items)
            state.remove(i);
        allocate_in_order(state, items, limits);
        state.refresh();
        tally.moves += items.size();
        if (!(state.value() < value))
            state.assign(before);
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

template Run salso_run<State>(const Problem&, const SearchOptions&, common::Rng&, const Limits&);
template Run salso_run<SparseState>(const SparseProblem&, const SearchOptions&, common::Rng&, const Limits&);

} // namespace partita::search
