// The search and the starts of mixtures: every tuning constant with its reason, and the plan that they make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "partition/evolution.hpp"

namespace partita::mixtures {

/// Where a run starts: at a given partition, at seeds that are merged, or annealed from seeds.
enum class StartKind : std::uint8_t { given, seeds, annealed };

namespace policy {

inline constexpr std::size_t max_small = 2000;     // items up to which annealing is cheap
inline constexpr std::size_t anneal_sweeps = 100;  // of an annealed start
inline constexpr std::size_t reheat_sweeps = 20;   // of a child that is not a crossing, of few items
inline constexpr std::size_t large_trial_runs = 3; // that end a search of many items if they agree
inline constexpr std::size_t patience = 8, large_patience = 2; // generations without a better solution
inline constexpr std::size_t group_runs = 3;                   // the least runs of a group
// Seeds of runs, in turn. More than there are clusters: these merge more easily than they split.
inline constexpr std::size_t seeds[] = {32, 8, 64, 16, 128};
inline constexpr std::size_t items_per_run_seed = 4; // at least

// Chains 0, 1, 2, ... begin near the mass of the posterior and far from each other; the last of four begins
// with items that join one by one in random order.
inline constexpr std::size_t seeds_of_chains[] = {32, 8, 128, 0};
inline constexpr std::size_t max_seeded_items = 10'000; // the others join one by one
inline constexpr std::size_t items_per_chain_seed = 8;  // fewer say little about a cluster
// Split-merge proposals are worth this share of a sweep, but there is one in every five sweeps at least.
inline constexpr double split_merge_share = 0.2, min_split_merges = 0.2;
inline constexpr std::uint64_t refresh_period =
    64; // sweeps after which rounding of updates is still far away

} // namespace policy

struct RunStart {
    StartKind kind = StartKind::seeds;
    std::size_t seeds = 8;
};

struct SearchPlan {
    models::EvolutionPlan evolution;
    std::size_t max_clusters;
    std::vector<RunStart> runs; // those of kind `given` come first, one for each given partition
    std::size_t anneal_sweeps, reheat_sweeps;
};

/// The given starts come first, then seeds and, of few items, annealing in turn.
SearchPlan search_plan(std::size_t n_items, std::size_t restarts, std::size_t n_given,
                       std::size_t max_clusters, std::uint64_t seed, unsigned threads);

} // namespace partita::mixtures
