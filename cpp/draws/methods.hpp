// The searches of draws by the names of their methods.
#pragma once

#include <stdexcept>
#include <string>

#include "draws/cell_states.hpp"
#include "draws/search.hpp"
#include "draws/sparse_state.hpp"

namespace partita::search {

/// The runs of a paper's algorithm.
template <class S>
SearchResult run_paper(const std::string& method, const typename S::Setting& problem,
                       const SearchOptions& options, const common::StopFlag& stop, const Progress& progress) {
    if (method != "salso" && method != "greedy")
        throw std::invalid_argument("unknown method " + method);
    const auto one = method == "salso" ? salso_run<S> : greedy_run<S>;
    return each_started(run_all([&](const SearchOptions& own, common::Rng& rng,
                                    const Limits& limits) { return one(problem, own, rng, limits); },
                                options, stop, progress));
}

/// "search", "salso" or "greedy"; the options say how partitions are kept.
template <class Label>
SearchResult run_method(const std::string& method, const Draws<Label>& draws, const LossTables& tables,
                        const SearchOptions& options, const common::StopFlag& stop,
                        const Progress& progress) {
    if (method == "search")
        return search(draws, tables, options, stop, progress);
    if (state_of(draws, tables.loss(), options) == StateKind::sparse) {
        const SparseProblem problem(draws, tables, options.threads, SparseProblem::Order::as_given);
        return run_paper<SparseState>(method, problem, options, stop, progress);
    }
    const Problem problem(draws, tables);
    return with_cell_state(tables.loss(),
                           [&]<class S>() { return run_paper<S>(method, problem, options, stop, progress); });
}

} // namespace partita::search
