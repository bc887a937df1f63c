// The greedy algorithm of Rastelli & Friel (2018): a random start, then sweeps until nothing changes.
#include "search/run.hpp"

namespace partita {

Run greedy_run(const Problem& problem, const SearchOptions& options, Rng& rng, const Limits& limits) {
    Run run;
    run.start = "random";
    State state(problem, options.max_clusters);
    state.assign(random_labels(problem.n_items(), options.start_groups, rng));
    sweeten(state, [&] { return rng.permutation(problem.n_items()); }, run.tally, limits);
    run.finish(state);
    return run;
}

} // namespace partita
