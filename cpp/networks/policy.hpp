// The search of a network: every tuning constant with its reason, and the plan that they make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "partition/evolution.hpp"

namespace partita::networks {

/// Where a run starts. Python makes the partitions of the first four kinds; the core makes the others.
enum class StartKind : std::uint8_t { given, spectral, periphery, k_means, communities, annealed, random };

inline bool is_partition(StartKind kind) { return kind <= StartKind::k_means; }

/// New arrangements of clusters end after this many failed attempts per cluster in a row; 0: none are tried.
struct Rearrangements {
    std::size_t of_runs = 0;     // of each run, if runs do not agree
    std::size_t of_children = 0; // of each crossing
    std::size_t of_best = 0;     // of the best, if groups of runs do not agree
    std::size_t clusters = 3;    // taken apart together, at most
};

/// How long a search goes on.
struct Effort {
    std::size_t anneal_sweeps; // of an annealed start
    std::size_t reheat_sweeps; // of children that are not crossings; 0: there are none
    std::size_t trial_runs;    // the first ones, of three kinds: if these agree, the others are left out
    std::size_t patience;      // generations without a better solution
    std::size_t group_runs;    // the least runs of a group: crossings need variety
    Rearrangements rearrange;
};

namespace policy {

inline constexpr std::size_t max_small = 500;   // nodes up to which annealing is cheap
inline constexpr std::size_t max_medium = 3000; // up to which random starts are worth their time, and
                                                // clusters are swept before they are merged

// Clusters of a start: more than are likely to be there, since clusters merge more easily than they split.
// Between these limits 2 sqrt(n): merges take the cube of their number.
inline constexpr std::size_t min_start_clusters = 20, max_start_clusters = 256;
inline constexpr double start_widths[] = {1.0, 0.5, 1.5}; // of spectral starts, in turn, so that they differ
inline constexpr std::size_t max_spectral = 8;            // starts of one kind that differ little
inline constexpr double resolutions[] = {4.0, 1.0, 16.0, 2.0, 0.5}; // of communities, in turn
// Share of the nodes, those of fewest edges, that a periphery start has in a cluster apart, at most, in turn.
inline constexpr double periphery_shares[] = {0.2, 0.1, 0.3};

// How runs start, in turn: what is sure to be good first, and kinds that err in different ways beside each
// other. Uneven: networks of medium size under degree correction. A node of few edges costs little in any
// cluster, so that climbs leave such nodes where they are; in a cluster of their own they may be worth more.
inline constexpr StartKind small_cycle[] = {StartKind::spectral, StartKind::annealed, StartKind::communities,
                                            StartKind::annealed, StartKind::annealed, StartKind::spectral,
                                            StartKind::annealed, StartKind::annealed};
inline constexpr StartKind medium_cycle[] = {StartKind::spectral, StartKind::random, StartKind::communities,
                                             StartKind::random};
inline constexpr StartKind uneven_cycle[] = {StartKind::spectral, StartKind::periphery,
                                             StartKind::communities, StartKind::random};
inline constexpr StartKind large_cycle[] = {StartKind::spectral, StartKind::communities};

// Small networks whose edges have no values but counts cool faster, since further runs gain more than further
// sweeps. Under degree correction one that cools too fast ends as a single cluster; without it, more runs
// must agree, since short ones may meet beside the best.
inline constexpr Effort small{200, 20, 3, 8, 3, {1, 1, 4, 3}};
inline constexpr Effort small_plain{80, 20, 6, 6, 3, {1, 1, 4, 3}};
inline constexpr Effort small_plain_uneven{140, 20, 3, 8, 3, {1, 1, 4, 3}};
inline constexpr Effort medium{200, 0, 3, 3, 10, {2, 2, 16, 5}};
inline constexpr Effort medium_uneven{200, 0, 3, 3, 10, {2, 4, 32, 3}};
inline constexpr Effort large{200, 0, 3, 2, 10, {1, 1, 4, 3}};

inline constexpr std::size_t survivors = 5;         // of a generation, in networks that are not small
inline constexpr std::size_t max_polished = 20'000; // nodes: beyond, all clusters of all nodes cost too much
inline constexpr double arrangement_heat = 2.0;     // at which new arrangements that cost are kept
inline constexpr std::size_t max_communities = 256; // the others are one cluster of the start
inline constexpr std::size_t community_rounds = 30; // of moves at one level; most end after ten

// Clusters near a node: only among this many is a selection worth its cost, if the node's edges lead to at
// most this part of them; with the clusters that link most to these.
inline constexpr std::size_t min_near = 48, near_part = 4, max_links = 3;

inline constexpr std::size_t labelled_start_sweeps = 20; // from random labels, where a labelled chain starts

} // namespace policy

struct RunStart {
    StartKind kind = StartKind::random;
    double resolution = 1.0; // of communities
};

struct SearchPlan {
    models::EvolutionPlan evolution;
    std::size_t max_clusters[2]; // clusters allowed on each side
    std::vector<RunStart> runs;  // those of kinds that are partitions take the given ones in turn
    std::size_t random_clusters; // clusters of a random start
    Effort effort;
    bool merge_first; // merge the clusters of a given start before the first sweep
    bool as_printed;  // only Algorithm 1 of Côme & Latouche, from each start
};

/// What the plan of a search follows from.
struct SearchProblem {
    std::size_t n_nodes, max_clusters[2];
    bool plain;      // edges have no values but counts
    bool uneven;     // nodes of a cluster may differ in degree
    bool as_printed; // Côme & Latouche's algorithm: every run is made
};

/// The kind of each run's start: those that are given, then the kinds of the network's size in turn. A
/// network with nothing to see, of a few nodes or without edges, has only random starts.
std::vector<StartKind> start_kinds(std::size_t n_nodes, std::size_t restarts, std::size_t n_given,
                                   bool partitions, bool uneven);

std::size_t start_clusters(std::size_t n_nodes);

/// Numbers of clusters of the spectral starts.
std::vector<std::size_t> start_widths(std::size_t count, std::size_t n_nodes, std::size_t most);

SearchPlan search_plan(const SearchProblem& problem, const std::vector<StartKind>& kinds, std::uint64_t seed,
                       unsigned threads);

} // namespace partita::networks
