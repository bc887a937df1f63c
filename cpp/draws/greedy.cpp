// The greedy algorithm of Rastelli & Friel (2018): a random start, then sweeps until nothing changes.
#include "draws/sparse_moves.hpp"
#include "draws/state.hpp"
#include "partition/run.hpp"

namespace partita::search {

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

template Run greedy_run<State>(const Problem&, const SearchOptions&, common::Rng&, const Limits&);
template Run greedy_run<SparseState>(const SparseProblem&, const SearchOptions&, common::Rng&, const Limits&);

} // namespace partita::search
