// The default search: many starts on few draws, their optima crossed, the best refined on all draws.
#pragma once

#include "draws/draws.hpp"
#include "draws/losses.hpp"
#include "partition/labels.hpp"
#include "partition/run.hpp"

namespace partita::search {

/// How partitions are kept in a search of the draws, by what each way would cost.
template <class Label> StateKind choose_state(const Draws<Label>& draws, const Loss& loss);

/// The same, unless the options say.
template <class Label>
StateKind state_of(const Draws<Label>& draws, const Loss& loss, const SearchOptions& options) {
    return options.state == StateKind::where_it_pays ? choose_state(draws, loss) : options.state;
}

/// All runs, starts and crossings, with their values on all draws; the best partition is among them.
template <class Label>
SearchResult search(const Draws<Label>& draws, const LossTables& tables, const SearchOptions& options,
                    const common::StopFlag& stop, const Progress& progress);

/// Refines partitions by single moves, merges and crossings. Items labelled no_cluster first join the
/// cluster that suits them best; the other labels must be 0..K-1, each in use.
template <class Label>
std::vector<Run> refine(const Draws<Label>& draws, const LossTables& tables, const SearchOptions& options,
                        std::vector<Run> starts, const common::StopFlag& stop, const Progress& progress);

} // namespace partita::search
