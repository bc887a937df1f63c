#include "draws/constrained.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "draws/cell_states.hpp"
#include "draws/draw_source.hpp"
#include "draws/policy.hpp"
#include "partition/constrained_state.hpp"
#include "partition/finish.hpp"

namespace partita::search {

namespace {

template <SearchState S>
SearchResult search_on(const DrawSource& draws, const Restrictions& restrictions, std::vector<Run> given,
                       const SearchOptions& options, const Limits& limits, const Progress& progress) {
    auto thorough = options;
    thorough.zealous *= draws::policy::constrained_persistence;
    const Runner runner(thorough, limits, progress);
    const auto problem = draws.problem({});
    const ConstrainedProblem<Problem> constrained(problem, restrictions);
    Level<ConstrainedState<S>> level(constrained, runner);
    const auto random_draw = [&](common::Rng& rng) {
        return constrained.labels_of_atoms(draws.random_draw(rng));
    };
    const auto intensified = [&](auto& state, common::Rng& rng, Tally& tally, const Limits& until) {
        if (options.zealous > 0)
            intensify(state, partita::policy::intensifying_attempts, options.max_clusters, random_draw, rng,
                      tally, until);
    };
    for (auto& run : given)
        run.labels = constrained.labels_of_atoms(run.labels);
    auto stages = runner.run({level.improvements(given, intensified),
                              level.starts(options.runs - given.size(), 0, random_draw, intensified)});
    auto runs = std::move(stages[0]);
    std::move(stages[1].begin(), stages[1].end(), std::back_inserter(runs));
    const auto n_started = runs.size();
    const bool may_intensify = options.runs >= draws::policy::min_intensified_runs &&
                               draws.n_labels() <= draws::policy::max_intensified_labels;
    finish(level, runs, runner, may_intensify,
           [&](auto& own, auto& found) { intensify(own, found, runner, random_draw); });
    for (auto& run : runs) {
        run.labels = constrained.labels_of_items(run.labels);
        renumber(run.labels);
    }
    return {std::move(runs), n_started};
}

} // namespace

template <class Label>
SearchResult search_constrained(const Draws<Label>& draws, const LossTables& tables,
                                const Restrictions& restrictions, std::vector<Run> given,
                                const SearchOptions& options, const common::StopFlag& stop,
                                const Progress& progress) {
    const DrawSource source(draws, tables);
    const Limits limits(stop, options.seconds);
    return with_cell_state(tables.loss(), [&]<class S>() {
        return search_on<S>(source, restrictions, std::move(given), options, limits, progress);
    });
}

#define INSTANTIATE(Label)                                                                                   \
    template SearchResult search_constrained(const Draws<Label>&, const LossTables&, const Restrictions&,    \
                                             std::vector<Run>, const SearchOptions&,                         \
                                             const common::StopFlag&, const Progress&);
PARTITA_FOR_EACH_LABEL(INSTANTIATE)
#undef INSTANTIATE

} // namespace partita::search
