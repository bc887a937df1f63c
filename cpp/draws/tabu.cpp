#include "draws/tabu.hpp"

#include <limits>

#include "draws/policy.hpp"

namespace partita::search {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

} // namespace

Tabu::Tabu(MatrixState& state, std::uint32_t max_clusters)
    : state_(&state), max_clusters_(max_clusters), per_item_(state.cost(2, 0)), per_mass_(state.cost(0, 2)),
      other_cost_(state.labels().size()), other_(state.labels().size()), free_at_(state.labels().size()),
      best_labels_(state.labels()), best_value_(state.value()) {
    find_all();
}

void Tabu::find_best_other(std::size_t i) {
    const auto own = state_->cluster_of(i);
    double least = infinite;
    std::uint32_t best = 0;
    for (std::uint32_t k = 0; k < state_->n_clusters(); ++k)
        if (const auto cost = cost_in(i, k); cost < least && k != own) {
            least = cost;
            best = k;
        }
    other_cost_[i] = least;
    other_[i] = best;
}

void Tabu::find_all() {
    for (std::size_t i = 0; i < other_.size(); ++i)
        find_best_other(i);
}

Tabu::Move Tabu::best_move() const {
    const bool may_open = state_->n_clusters() < max_clusters_;
    const auto to_beat = best_value_ - state_->rounding() - state_->value();
    Move best{0, 0, infinite};
    for (std::uint32_t i = 0; i < other_.size(); ++i) {
        const bool opens = may_open && other_cost_[i] > 0 && !state_->is_alone(i);
        const auto change = (opens ? 0 : other_cost_[i]) - cost_at_home(i);
        if (change < best.change && (free_at_[i] <= step_ || change < to_beat))
            best = {i, opens ? state_->n_clusters() : other_[i], change};
    }
    return best;
}

void Tabu::make(const Move& move, std::uint64_t tenure) {
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

/// After a move: only these two clusters cost anything else than before.
void Tabu::update(std::uint32_t item, std::uint32_t from, std::uint32_t to) {
    auto offer = [&](std::size_t i, std::uint32_t cluster) {
        if (const auto cost = cost_in(i, cluster);
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

void Tabu::run(std::uint64_t patience, common::Rng& rng, Tally& tally, const Limits& limits) {
    const auto spread = other_.size() / draws::policy::tenure_part + 1;
    for (auto end = step_ + patience; step_ < end; ++step_) {
        if (step_ % poll_every == 0 && limits.reached())
            break;
        const auto move = best_move();
        if (!(move.change < infinite))
            continue;
        const auto least = best_value_;
        make(move, draws::policy::least_tenure + rng.below(spread));
        ++tally.moves;
        if (best_value_ < least)
            end = step_ + patience;
    }
    state_->assign(best_labels_);
}

} // namespace partita::search
