// The tuning constants of the algorithms that every kind of problem shares, each with its reason. Those of
// one kind of problem are in the policy file of its folder. Tolerances are no tuning: rounding.hpp has them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace partita::policy {

// --- Climbs of a log density (networks, mixtures) ---

// Both end by themselves long before; they bound the time of a climb on which rounding plays tricks.
inline constexpr std::size_t max_rounds = 50;  // of sweeps, merges and splits
inline constexpr std::size_t max_sweeps = 100; // of one round
// A sweep that moves at most one item in so many ends a round: merges come before the last few moves.
inline constexpr std::size_t items_per_last_move = 1000;
inline constexpr std::size_t max_follows =
    12; // partial sweeps after a complete one: moves that follow die out
// Annealed starts go from where clusters form to where single moves decide; reheated ones keep most clusters.
inline constexpr double hot = 2.0, cold = 0.6;
inline constexpr double warm = 1.0, cool = 0.3;
// Clusters taken apart: with more items than this a climb is cheaper than the sweeps of a region.
inline constexpr std::size_t max_region = 1000;
inline constexpr std::size_t region_sweeps =
    6; // between the clusters of a region; most are stable after four
inline constexpr std::size_t boundary_sweeps = 3; // of its items among all clusters near them
inline constexpr std::size_t split_scans = 6;     // between the halves of a mixture's cluster, as in a region

// --- Populations of solutions (networks, mixtures) ---

inline constexpr std::size_t max_generations = 50; // patience ends nearly all searches before
inline constexpr std::size_t max_groups = 3;     // that cross their runs apart, so that agreement is evidence
inline constexpr std::size_t group_patience = 2; // generations of a group without a better solution
inline constexpr std::size_t max_refinements = 10; // of the best; one that does not help is the last
inline constexpr std::size_t reheat_one_in = 3;    // children; the others are crossings
inline constexpr std::size_t max_parts = 256;      // of a crossing: merges take the square of their number
inline constexpr std::size_t shake_one_in = 4;     // items, of a solution that is crossed with itself

// --- Searches of an expected loss (draws) ---

inline constexpr std::size_t poll_every =
    64; // items between two looks at the clock: well below a millisecond
// Sweeps after which each further one must lower the value, computed anew. Few searches need that many, and
// the check costs about as much as a sweep of few items.
inline constexpr std::uint64_t unchecked_sweeps = 32;
inline constexpr std::size_t boundary_part = 8; // one item in so many is visited first on more draws
// Starts: the best of this many draws. A start from lists takes the first that comes: to score several costs
// more than it gains.
inline constexpr std::size_t draws_per_start = 4, draws_per_sparse_start = 1;
// Rebuilding: attempts end a run when they have allocated each item this often per attempt allowed.
inline constexpr double allocations_per_attempt = 0.3;
inline constexpr std::size_t cheap_merges = 4; // one of these makes room where the limit on clusters binds
// Crossings: pairs (x, y) of the ranks 0, 1, ... with x + y at most this.
inline constexpr std::size_t max_rank_sum = 5;
inline constexpr int max_crossing_rounds = 8; // a round without a better child ends them before
// Large neighbourhoods: consecutive failures that end a partition's turn, clusters dissolved beside one, the
// items at most (this many, or this part of all), and how alike a draw's cluster and an own one may be.
inline constexpr std::uint32_t intensifying_attempts = 24;
inline constexpr std::size_t max_dissolved = 3;
inline constexpr std::size_t few_dissolved_items = 32, dissolved_part = 8;
inline constexpr int draw_cluster_tries = 8;
inline constexpr double alike_share = 0.8; // of the items of both that both have
// Runs disagree if at most this many, or this part of them, led to the best loss. Then so many partitions at
// a time get large neighbourhoods, until so many rounds were in vain.
inline constexpr std::size_t few_at_best = 2;
inline constexpr double part_at_best = 0.125;
inline constexpr std::size_t intensified = 4, fruitless_rounds = 2;
// Tabu search: moves for which an item that has moved is held, and up to this part of the items more, by
// chance.
inline constexpr std::uint64_t least_tenure = 5, tenure_part = 20;
// Exchanges: clusters given up have at most this many items; so many are tried first, each so many steps
// deep.
inline constexpr std::size_t max_given_up = 3, exchange_breadth = 16, exchange_depth = 3;
// Lists of cells (many small clusters): items of a block share what is in the cache; a cluster above this
// size is hardly changed by one item; a partner may be this many times larger; smaller regions moves have
// exhausted.
inline constexpr std::size_t items_per_block = 512;
inline constexpr std::uint32_t large_cluster = 32, times_larger = 4;
inline constexpr std::size_t min_rebuilt = 3;

} // namespace partita::policy
