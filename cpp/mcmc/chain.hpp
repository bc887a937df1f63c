// What every chain offers, whatever it samples; and the plan loop, warm-up and thinning, that all of them
// share.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/watched_stop.hpp"

namespace partita::common {

/// A chain is made unstarted, which costs little: its first `sweep` finds the start, unless `restore` has put
/// a state in its place. What it samples is read only after one of the two.
template <class C>
concept MarkovChain =
    requires(C& chain, const C& seen, std::string bytes, std::uint32_t* labels, std::vector<double>& stats) {
        { seen.sweeps() } -> std::same_as<std::uint64_t>;                // sweeps done since the start
        { seen.n_items() } -> std::same_as<std::size_t>;                 // labels of a draw
        { seen.stat_names() } -> std::same_as<std::vector<std::string>>; // numbers that go with a draw
        { seen.log_density() } -> std::same_as<double>;                  // of the target, up to a constant
        chain.sweep(); // leaves the target invariant; throws Stopped if a watched stop comes in the middle
        seen.write_labels(labels); // canonical labels of the draw, n_items of them
        chain.append_stats(stats); // one number for each name; counts since the last draw start again
        { chain.state() } -> std::same_as<std::string>; // everything that the next sweep depends on
        chain.restore(std::move(bytes));                // goes back to a state; throws if it does not fit
    };

/// Which sweeps are draws: every `thin`-th after the warm-up.
struct DrawPlan {
    std::uint64_t warmup = 0, thin = 1;
    std::uint64_t draws_after(std::uint64_t sweeps) const {
        return sweeps > warmup ? (sweeps - warmup) / thin : 0;
    }
};

/// One row per draw: labels (draws, items) and statistics (draws, names).
struct ChainDraws {
    std::size_t n_draws, n_items, n_stats;
    std::vector<std::uint32_t> labels;
    std::vector<double> stats;
};

/// Sweeps on, and keeps what the plan keeps. A stop throws Stopped, and the chain must not be used then.
template <MarkovChain C>
ChainDraws advance(C& chain, std::uint64_t sweeps, DrawPlan plan, const StopFlag* stop = nullptr) {
    const WatchedStop watched(stop);
    const auto n_draws = plan.draws_after(chain.sweeps() + sweeps) - plan.draws_after(chain.sweeps());
    ChainDraws draws{n_draws, chain.n_items(), chain.stat_names().size(), {}, {}};
    draws.labels.resize(draws.n_draws * draws.n_items);
    draws.stats.reserve(draws.n_draws * draws.n_stats);
    auto* next = draws.labels.data();
    for (std::uint64_t s = 0; s < sweeps; ++s) {
        const auto drawn = plan.draws_after(chain.sweeps());
        chain.sweep();
        if (plan.draws_after(chain.sweeps()) == drawn)
            continue;
        chain.write_labels(next);
        next += draws.n_items;
        chain.append_stats(draws.stats);
    }
    return draws;
}

} // namespace partita::common
