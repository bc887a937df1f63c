// Tabu search: the best of all single moves is made even if it costs, and the item may not move again for a
// while, so that the search climbs out of a local optimum instead of falling back into it.
//
// A move between two clusters changes what any item costs in these two only. For each item the best of the
// other clusters is kept, so that a step takes O(items), and O(clusters) more for the few items whose best
// cluster was one of the two.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "partition/moves.hpp"
#include "partition/policy.hpp"

namespace partita::search {

/// A state that knows what an item costs in one cluster in O(1), whatever cluster it is in.
template <class S>
concept TabuState = SearchState<S> && requires(const S& state, std::size_t i, std::uint32_t k) {
    { state.cost_in(i, k) } -> std::same_as<double>;   // if it joined; in its own, as if it were there twice
    { state.cost_at_home(i) } -> std::same_as<double>; // in its own; 0 alone
};

template <TabuState S> class Tabu {
public:
    struct Move {
        std::uint32_t item, target; // the target may be n_clusters(): a new one
        double change;              // of the value
    };

    /// The state must have every item in a cluster, and change only through this search until that is done.
    Tabu(S& state, std::uint32_t max_clusters)
        : state_(&state), max_clusters_(max_clusters), other_cost_(state.labels().size()),
          other_(state.labels().size()), free_at_(state.labels().size()), best_labels_(state.labels()),
          best_value_(state.value()) {
        find_all();
    }

    /// The best move of an item that is free at this step, or of any that leads below the least value so far.
    /// Its change is infinite if there is none.
    Move best_move() const {
        const bool may_open = state_->n_clusters() < max_clusters_;
        const auto to_beat = best_value_ - state_->rounding() - state_->value();
        Move best{0, 0, infinite};
        for (std::uint32_t i = 0; i < other_.size(); ++i) {
            const bool opens = may_open && other_cost_[i] > 0 && !state_->is_alone(i);
            const auto change = (opens ? 0 : other_cost_[i]) - state_->cost_at_home(i);
            if (change < best.change && (free_at_[i] <= step_ || change < to_beat))
                best = {i, opens ? state_->n_clusters() : other_[i], change};
        }
        return best;
    }

    /// Makes the move and holds the item for `tenure` steps.
    void make(const Move& move, std::uint64_t tenure) {
        const auto from = state_->cluster_of(move.item);
        const bool renumbers = state_->is_alone(move.item) || move.target == state_->n_clusters();
        state_->move(move.item, move.target);
        free_at_[move.item] = step_ + tenure;
        if (renumbers)
            find_all();
        else
            update(move.item, from, move.target);
        if (state_->value() < best_value_ - state_->rounding()) {
            best_value_ = state_->value();
            best_labels_ = state_->labels();
        }
    }

    /// Makes best moves until `patience` in a row have not led below the least value, and returns to where
    /// that was reached.
    void run(std::uint64_t patience, common::Rng& rng, Tally& tally, const Limits& limits) {
        const auto spread = other_.size() / policy::tenure_part + 1;
        for (auto end = step_ + patience; step_ < end; ++step_) {
            if (step_ % poll_every == 0 && limits.reached())
                break;
            const auto move = best_move();
            if (!(move.change < infinite))
                continue;
            const auto least = best_value_;
            make(move, policy::least_tenure + rng.below(spread));
            ++tally.moves;
            if (best_value_ < least)
                end = step_ + patience;
        }
        state_->assign(best_labels_);
    }

private:
    static constexpr double infinite = std::numeric_limits<double>::infinity();

    void find_best_other(std::size_t i) {
        const auto own = state_->cluster_of(i);
        double least = infinite;
        std::uint32_t best = 0;
        for (std::uint32_t k = 0; k < state_->n_clusters(); ++k)
            if (const auto cost = state_->cost_in(i, k); cost < least && k != own) {
                least = cost;
                best = k;
            }
        other_cost_[i] = least;
        other_[i] = best;
    }
    void find_all() {
        for (std::size_t i = 0; i < other_.size(); ++i)
            find_best_other(i);
    }

    /// After a move: only these two clusters cost anything else than before.
    void update(std::uint32_t item, std::uint32_t from, std::uint32_t to) {
        const auto offer = [&](std::size_t i, std::uint32_t cluster) {
            if (const auto cost = state_->cost_in(i, cluster);
                cost < other_cost_[i] && state_->cluster_of(i) != cluster) {
                other_cost_[i] = cost;
                other_[i] = cluster;
            }
        };
        for (std::size_t i = 0; i < other_.size(); ++i)
            if (i == item || other_[i] == from || other_[i] == to) {
                find_best_other(i);
            } else {
                offer(i, from);
                offer(i, to);
            }
    }

    S* state_;
    std::uint32_t max_clusters_;
    std::vector<double> other_cost_;     // of each item in the best of the other clusters,
    std::vector<std::uint32_t> other_;   // and which that is
    std::vector<std::uint64_t> free_at_; // the step from which on the item may move
    std::uint64_t step_ = 0;
    std::vector<std::uint32_t> best_labels_;
    double best_value_;
};

} // namespace partita::search
