// Exchanges where the limit on clusters binds: a small cluster is given up, and an item elsewhere becomes a
// cluster of its own. Either step alone is no improvement or not allowed, so that single moves and merges
// find none; several exchanges may be needed before the loss falls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "partition/labels.hpp"
#include "partition/moves.hpp"

namespace partita::search {

/// Moves that can be undone, also where they open and close clusters.
template <SearchState S> class Undoable {
public:
    explicit Undoable(S& state) : state_(&state) {}

    void move(std::uint32_t item, std::uint32_t target) {
        steps_.push_back({item, companion(item)});
        state_->move(item, target);
    }

    /// Undoes the moves after the first `kept` ones.
    void undo(std::size_t kept = 0) {
        for (; steps_.size() > kept; steps_.pop_back()) {
            const auto [item, companion] = steps_.back();
            state_->move(item,
                         companion == no_cluster ? state_->n_clusters() : state_->cluster_of(companion));
        }
    }

    S& state() const { return *state_; }
    std::size_t size() const { return steps_.size(); }

private:
    /// Another item of the item's cluster: numbers of clusters change, and `no_cluster` is a cluster of its
    /// own.
    std::uint32_t companion(std::uint32_t item) const {
        const auto& labels = state_->labels();
        for (std::uint32_t i = 0; i < labels.size(); ++i)
            if (i != item && labels[i] == labels[item])
                return i;
        return no_cluster;
    }

    struct Step {
        std::uint32_t item, companion;
    };
    S* state_;
    std::vector<Step> steps_;
};

/// Items with what they lose, least first.
using Priced = std::pair<double, std::uint32_t>;

inline std::vector<std::uint32_t> cheapest(std::vector<Priced> items, std::size_t most) {
    std::sort(items.begin(), items.end());
    std::vector<std::uint32_t> chosen;
    for (std::size_t place = 0; place < std::min(most, items.size()); ++place)
        chosen.push_back(items[place].second);
    return chosen;
}

/// What item i loses in the best of the other clusters.
template <SearchState S> double loss_elsewhere(S& state, std::uint32_t i) {
    const auto scores = state.score(i).first(state.n_clusters());
    const auto own = state.cluster_of(i);
    return best_other(scores, own).best_score - scores[own];
}

/// What item i loses as a cluster of its own; there is room for one, and the item is not alone.
template <SearchState S> double loss_alone(S& state, std::uint32_t i) {
    const auto scores = state.score(i);
    return scores[state.n_clusters()] - scores[state.cluster_of(i)];
}

inline bool contains(const std::vector<std::uint32_t>& items, std::uint32_t i) {
    return std::find(items.begin(), items.end(), i) != items.end();
}

/// Of each small cluster the first item, unless it is held; the clusters that cost least to give up first:
/// the sum of what their items lose elsewhere.
template <SearchState S>
std::vector<std::uint32_t> clusters_to_give_up(S& state, std::size_t most,
                                               const std::vector<std::uint32_t>& held = {}) {
    std::vector<std::vector<std::uint32_t>> members(state.n_clusters());
    for (std::uint32_t i = 0; i < state.labels().size(); ++i)
        members[state.cluster_of(i)].push_back(i);
    std::vector<Priced> priced;
    for (const auto& items : members) {
        if (items.size() > policy::max_given_up || contains(held, items.front()))
            continue;
        double cost = 0;
        for (const auto i : items)
            cost += loss_elsewhere(state, i);
        priced.emplace_back(cost, items.front());
    }
    return cheapest(std::move(priced), most);
}

/// The items that lose least as clusters of their own; there is room for one.
template <SearchState S>
std::vector<std::uint32_t> items_to_single_out(S& state, std::size_t most, const Limits& limits) {
    std::vector<Priced> priced;
    for (std::uint32_t i = 0; i < state.labels().size(); ++i) {
        if (i % poll_every == 0 && limits.reached())
            break;
        if (!state.is_alone(i))
            priced.emplace_back(loss_alone(state, i), i);
    }
    return cheapest(std::move(priced), most);
}

/// Gives up the cluster of an item: each of its items goes to the best of the other clusters.
template <SearchState S> void give_up(Undoable<S>& moves, std::uint32_t item) {
    auto& state = moves.state();
    for (const auto i : state.members(state.cluster_of(item))) {
        const auto scores = state.score(i).first(state.n_clusters());
        moves.move(i, best_other(scores, state.cluster_of(i)).best);
    }
}

/// Makes the one of the items that loses least a cluster of its own, unless it is held, and holds it; false
/// if there is none.
template <SearchState S>
bool single_out(Undoable<S>& moves, const std::vector<std::uint32_t>& items,
                std::vector<std::uint32_t>& held) {
    auto& state = moves.state();
    std::vector<Priced> priced;
    for (const auto i : items)
        if (!state.is_alone(i) && !contains(held, i))
            priced.emplace_back(loss_alone(state, i), i);
    const auto best = cheapest(std::move(priced), 1);
    if (best.empty())
        return false;
    moves.move(best.front(), state.n_clusters());
    held.push_back(best.front());
    return true;
}

/// Chains of exchanges, one beginning with each of the small clusters that cost least to give up; the first
/// that lowers the value is kept. The limit on clusters binds. Returns whether there is one.
template <SearchState S> bool try_exchanges(S& state, Tally& tally, const Limits& limits) {
    const auto breadth = policy::exchange_breadth, depth = policy::exchange_depth;
    const auto firsts = clusters_to_give_up(state, breadth);
    if (firsts.empty() || state.n_clusters() < 3)
        return false;
    const auto value = state.exact_value();
    Undoable<S> moves(state);
    give_up(moves, firsts.front());
    const auto singles = items_to_single_out(state, breadth, limits);
    moves.undo();
    for (const auto first : firsts) {
        std::vector<std::uint32_t> held; // what has been given up stays so, and what has been singled out
        for (std::size_t length = 0; length < depth && !limits.reached(); ++length) {
            const auto next = length == 0 ? std::vector{first} : clusters_to_give_up(state, 1, held);
            if (next.empty())
                break;
            held.push_back(next.front());
            give_up(moves, next.front());
            if (!single_out(moves, singles, held))
                break;
            if (state.exact_value() < value - state.rounding()) {
                tally.moves += moves.size();
                return true;
            }
        }
        moves.undo();
    }
    return false;
}

} // namespace partita::search
