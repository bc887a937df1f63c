// Moves that lower the expected loss of a state. Every search is made of these.
//
// A state knows a partition and three verbs: remove(i), score(i), insert(i, k). For draws there are three:
// State counts the cells of every draw's contingency table and serves any loss, SparseState lists those that
// are not empty, MatrixState keeps the co-clustering mass of every item with every cluster and serves
// Binder's loss. ConstrainedState filters what one of them offers.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "common/parallel.hpp"
#include "common/random.hpp"
#include "common/work.hpp"
#include "partition/policy.hpp"
#include "partition/rounding.hpp"

namespace partita::search {

template <class S>
concept SearchState =
    requires(S state, const S fixed, std::size_t i, std::uint32_t k, std::vector<std::uint32_t> labels) {
        { state.score(i) } -> std::same_as<std::span<const double>>;
        { state.score_precisely(i) } -> std::same_as<std::span<const double>>;
        { fixed.tolerance() } -> std::same_as<double>;
        { fixed.score_tolerance() } -> std::same_as<double>;
        { fixed.precise_tolerance() } -> std::same_as<double>;
        { fixed.cancelled(i, k) } -> std::same_as<double>;
        { fixed.value() } -> std::same_as<double>;
        { fixed.exact_value() } -> std::same_as<double>;
        { fixed.rounding() } -> std::same_as<double>;
        { fixed.labels() } -> std::same_as<const std::vector<std::uint32_t>&>;
        { fixed.cluster_of(i) } -> std::same_as<std::uint32_t>;
        { fixed.is_alone(i) } -> std::same_as<bool>;
        { fixed.members(k) } -> std::same_as<std::vector<std::uint32_t>>;
        { fixed.n_clusters() } -> std::same_as<std::uint32_t>;
        { fixed.merge_changes() } -> std::same_as<std::vector<double>>;
        state.insert(i, k);
        state.remove(i);
        state.move(i, k);
        state.merge(k, k);
        state.assign(labels);
        state.refresh();
        state.compact();
    };

/// Whether an item may join a cluster; a state without constraints allows everything.
template <class S> bool allows(S& state, std::size_t i, std::uint32_t cluster) {
    if constexpr (requires { state.allows(i, cluster); })
        return state.allows(i, cluster);
    else
        return true;
}

/// When to end: asked to, or out of time.
class Limits {
public:
    using Clock = std::chrono::steady_clock;
    Limits(const common::StopFlag& stop, double seconds) : stop_(&stop), has_deadline_(seconds < forever) {
        if (has_deadline_)
            deadline_ = Clock::now() +
                        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }

    const common::StopFlag& stop() const { return *stop_; }
    bool reached() const { return *stop_ || (has_deadline_ && Clock::now() >= deadline_); }

private:
    static constexpr double forever = 1e9; // a clock counts no more seconds than about 9e9

    const common::StopFlag* stop_;
    bool has_deadline_;
    Clock::time_point deadline_;
};

/// What a run did.
struct Tally {
    std::uint64_t sweeps = 0, moves = 0;
    std::vector<double> trace; // expected loss after each full sweep, on the draws of its level
    /// The items that lost least by going to another cluster when single moves last came to an end, least
    /// first. More draws, or a chain of moves, change the places of these before those of others.
    std::vector<std::uint32_t> boundary = {};
};

using policy::poll_every, policy::unchecked_sweeps;

/// The least score, and the least of the others than `own`.
struct Choice {
    std::uint32_t best = 0;
    double best_score = std::numeric_limits<double>::infinity();
};

inline Choice best_other(std::span<const double> scores, std::uint32_t own) {
    Choice choice;
    for (std::uint32_t k = 0; k < scores.size(); ++k)
        if (k != own && scores[k] < choice.best_score)
            choice = {k, scores[k]};
    return choice;
}

/// Where an item goes, and the best of the other clusters in use, scored by what it costs beyond that place.
struct Decision {
    std::uint32_t target = 0;
    Choice other = {};
};

/// The cluster where item i costs least. It leaves its own only for a strict gain beyond rounding, so that
/// sweeps end; among equals the first wins. Scores too close to call are computed again in double precision.
template <SearchState S> Decision decide(S& state, std::size_t i) {
    const auto own = state.cluster_of(i);
    auto scores = state.score(i);
    auto other = best_other(scores, own);
    if (own >= scores.size()) // in no cluster yet
        return {other.best};
    auto gain = [&] { return scores[own] - other.best_score; };
    auto magnitude = [&](std::uint32_t k) { return std::abs(scores[k]) + state.cancelled(i, k); };
    auto rounding = [&](double tolerance) {
        return other.best_score < std::numeric_limits<double>::infinity()
                   ? tolerance * std::max(magnitude(own), magnitude(other.best))
                   : 0.0;
    };
    bool leaves = gain() > 0;
    if (!(std::abs(gain()) > rounding(state.score_tolerance()))) {
        scores = state.score_precisely(i);
        other = best_other(scores, own);
        leaves = gain() > rounding(state.precise_tolerance());
    }
    const auto target = leaves ? other.best : own;
    auto second = best_other(scores.first(state.n_clusters()), target);
    second.best_score -= scores[target];
    return {target, second};
}

template <SearchState S> std::uint32_t best_cluster(S& state, std::size_t i) {
    return decide(state, i).target;
}

/// Which items have been scored since the last move: they would stay where they are. And what each would lose
/// in the best of the other clusters.
class StableItems {
public:
    explicit StableItems(std::size_t n_items) : moves_when_scored_(n_items, never), penalties_(n_items) {
        common::count_steps(n_items);
    }

    bool contains(std::size_t i) const { return moves_when_scored_[i] == moves_; }
    void add(std::size_t i, double penalty) {
        moves_when_scored_[i] = moves_;
        penalties_[i] = penalty < never_leaves ? static_cast<float>(penalty) : never_leaves; // nor NaN
    }
    void clear() { ++moves_; }

    /// The part of the items that lose least, least first; all items are stable.
    std::vector<std::uint32_t> boundary() const {
        const auto part = policy::boundary_part;
        const auto n = penalties_.size();
        std::vector<std::uint32_t> items(n);
        std::iota(items.begin(), items.end(), 0u);
        const auto end = items.begin() + static_cast<std::ptrdiff_t>((n + part - 1) / part);
        std::partial_sort(items.begin(), end, items.end(), [&](auto i, auto j) {
            return std::tie(penalties_[i], i) < std::tie(penalties_[j], j);
        });
        items.erase(end, items.end());
        return items;
    }

private:
    static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
    static constexpr float never_leaves = std::numeric_limits<float>::infinity();

    std::vector<std::uint64_t> moves_when_scored_;
    std::vector<float> penalties_;
    std::uint64_t moves_ = 0;
};

/// Calls visit(i), which returns whether it has moved item i, for each item in the given order. Returns the
/// number of moves.
template <class Visit>
std::uint64_t count_moves(std::span<const std::uint32_t> order, Tally& tally, const Limits& limits,
                          Visit visit) {
    std::uint64_t moves = 0;
    for (std::size_t visited = 0; visited < order.size(); ++visited) {
        if (visited % poll_every == 0 && limits.reached())
            break;
        moves += visit(order[visited]);
    }
    tally.moves += moves;
    return moves;
}

/// Moves each item to its best cluster.
template <SearchState S>
std::uint64_t sweep(S& state, std::span<const std::uint32_t> order, Tally& tally, const Limits& limits) {
    return count_moves(order, tally, limits, [&](std::uint32_t i) {
        const auto target = best_cluster(state, i);
        const bool moves = target != state.cluster_of(i);
        if (moves)
            state.move(i, target);
        return moves;
    });
}

/// The same for the items that are not stable. Afterwards all of them are, unless one has moved later.
template <SearchState S>
std::uint64_t sweep(S& state, std::span<const std::uint32_t> order, StableItems& stable, Tally& tally,
                    const Limits& limits) {
    return count_moves(order, tally, limits, [&](std::uint32_t i) {
        if (stable.contains(i))
            return false;
        const auto decision = decide(state, i);
        const bool moves = decision.target != state.cluster_of(i);
        if (moves) {
            state.move(i, decision.target);
            stable.clear();
        }
        stable.add(i, decision.other.best_score);
        return moves;
    });
}

/// Sweeps, each in the order that next_order() gives, until a whole sweep moves nothing. Every move is a gain
/// beyond rounding as far as scores in single precision can tell; that sweeps end does not rest on it: after
/// the first ones, the value falls with each.
template <SearchState S, class NextOrder>
void sweep_until_stable(S& state, NextOrder next_order, Tally& tally, const Limits& limits) {
    MonotoneGuard value;
    StableItems stable(state.labels().size());
    tally.boundary.clear();
    for (std::uint64_t count = 0; !limits.reached(); ++count) {
        const std::vector<std::uint32_t> order = next_order();
        const auto moves = sweep(state, order, stable, tally, limits);
        ++tally.sweeps;
        tally.trace.push_back(state.problem().loss_of(state.value()));
        state.compact();
        if (moves == 0) {
            if (!limits.reached())
                tally.boundary = stable.boundary();
            break;
        }
        if (count >= unchecked_sweeps && !value.falls(state.exact_value(), state.rounding()))
            break;
    }
}

/// Puts items that are in no cluster into their best one, in the given order. A stopped search still needs
/// every item somewhere: the rest then join the first cluster, or are alone if constraints forbid that.
template <SearchState S>
void allocate_in_order(S& state, std::span<const std::uint32_t> order, const Limits& limits) {
    bool hurry = false;
    for (std::size_t visited = 0; visited < order.size(); ++visited) {
        hurry = hurry || (visited % poll_every == 0 && limits.reached());
        const auto i = order[visited];
        state.insert(i, !hurry ? best_cluster(state, i) : allows(state, i, 0) ? 0 : state.n_clusters());
    }
}

struct ClusterMerge {
    std::uint32_t keep = 0, gone = 1;
    double change = std::numeric_limits<double>::infinity();
};

template <SearchState S> ClusterMerge best_merge(const S& state) {
    const auto changes = state.merge_changes();
    const auto clusters = state.n_clusters();
    ClusterMerge best;
    for (std::uint32_t k = 0; k < clusters; ++k)
        for (std::uint32_t l = k + 1; l < clusters; ++l)
            if (const auto change = changes[std::size_t{k} * clusters + l]; change < best.change)
                best = {k, l, change};
    return best;
}

/// Merges the pair of clusters whose merge lowers the value most, as long as there is one: each leaves one
/// cluster less. Returns how many.
template <SearchState S> std::uint32_t merge_best_pairs(S& state, const Limits& limits) {
    std::uint32_t merged = 0;
    while (state.n_clusters() > 1 && !limits.reached()) {
        const auto best = best_merge(state);
        if (!(best.change < -state.tolerance() * std::abs(state.value()) - state.rounding()))
            break;
        state.merge(best.keep, best.gone);
        ++merged;
    }
    return merged;
}

/// Merges the least costly pairs until there are at most `clusters`.
template <SearchState S> void merge_down_to(S& state, std::uint32_t clusters, const Limits& limits) {
    while (state.n_clusters() > clusters) {
        const auto best = limits.reached() ? ClusterMerge{} : best_merge(state);
        state.merge(best.keep, best.gone);
    }
}

} // namespace partita::search
