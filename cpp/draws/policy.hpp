// The search of draws: every tuning constant with its reason. What its algorithms share with other kinds of
// problems is in partition/policy.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace partita::draws::policy {

// --- Coarse to fine: starts work on few draws, the best go on to more ---

// Draws of the first level: a search of this many finds the clusters. Half as many where few runs are made
// for speed; fewer where there are many items, down to the least with which the groups still differ.
inline constexpr std::size_t max_coarse = 256, min_coarse = 32;
inline constexpr std::size_t coarse_labels = std::size_t{1} << 20; // of the first level together, about
inline constexpr std::size_t few_draws = 64;                       // a level of fewer says too little
inline constexpr std::size_t few_labels = std::size_t{1} << 17;    // of all draws: below, one level is cheap
inline constexpr std::size_t max_groups =
    4; // of starts, each on draws of its own: what they share is no accident
inline constexpr std::size_t kept_per_group = 2; // partitions that go on to the next level
inline constexpr std::size_t finer = 8;          // times more draws on the next level

// --- Where runs disagree ---

inline constexpr std::size_t min_intensified_runs = 8;                      // fewer are requested for speed
inline constexpr std::size_t max_intensified_labels = std::size_t{1} << 20; // of all draws: then it is cheap
// --- Binder's loss on the similarity matrix ---

inline constexpr std::size_t max_matrix_items = 8192;   // 256 megabytes
inline constexpr double max_matrix_weight_ratio = 1e5;  // of the weights: the matrix is in single precision
inline constexpr std::size_t max_tabu_items = 2048;     // with more, it costs too much after every start
inline constexpr std::uint64_t tabu_patience = 200;     // moves without a new best
inline constexpr double matrix_part_at_best = 0.5;      // of runs: to go on costs little here
inline constexpr std::uint32_t further_persistence = 8; // times more attempts in further runs
// The population: partitions, children of a generation, generations without a lower loss that end it, and
// children of other parents at the best loss that do.
inline constexpr std::size_t population = 48, children = 8, fruitless_generations = 18, enough_at_best = 4;

// --- Many small clusters: lists of nonempty cells ---

inline constexpr std::uint32_t first_runs = 4; // one from each kind of start, of a search that adapts
inline constexpr std::size_t max_limited = 4;  // partitions that are merged down to the limit on clusters
// What scoring an item in a draw costs, in units of one vector of eight cells: a list is somewhere in memory,
// and near an optimum it has few entries. Below so many clusters a row of cells is a few vectors, and merges
// are cheap.
inline constexpr double clusters_per_vector = 8, list_cost = 2, entry_cost = 1, entries_of_long_list = 6;
inline constexpr double min_sparse_clusters = 100;
// Beyond so many pairs per entry, Binder's finer graph of components would cost more than a search.
inline constexpr double max_pairs_per_entry = 64;

// --- Constraints ---

// Times more attempts to rebuild clusters: constraints make more local optima, and there are no coarser
// levels.
inline constexpr std::uint32_t constrained_persistence = 4;

// --- Noise: few large clusters, and many items that are alone ---

inline constexpr std::size_t max_noise_cells = std::size_t{1}
                                               << 27; // of all clusters of the estimate: 1.5 gigabytes
inline constexpr std::uint64_t max_noise_sweeps = 100;
inline constexpr double noise_gain =
    1e-11; // of a move: far above the rounding of a score, so that sweeps end

// --- Rows that draws share ---

// Draws share rows if an item then lies in at most this many rows per draw. Searches are faster below
// about 0.55 (2 times at 0.25, 3 times at 0.1); from 0.25 on, lists of 4 bytes per row would take more memory
// than labels of one byte per draw.
inline constexpr double worthwhile_share = 0.25;

} // namespace partita::draws::policy
