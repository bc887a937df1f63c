// Moves of single nodes that raise the exact ICL: to any cluster, or only to clusters near a node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "common/random.hpp"
#include "networks/dirichlet.hpp"
#include "networks/near_clusters.hpp"
#include "networks/network_state.hpp"
#include "partition/solution.hpp"

namespace partita::models {

/// What every search and sampler of one model shares.
template <NetworkState State> struct BlockModelView {
    const Network& network;
    const typename State::Emission& emission;
    const Priors& priors;
    bool degree_corrected;
};

/// A state with the prior and the limits of a search. Subclasses sweep, merge and split.
template <NetworkState State> class NodeMoves {
public:
    /// A state that holds the labels with `spare` empty slots on each side.
    static State make_state(const BlockModelView<State>& model, std::span<const std::uint32_t> labels,
                            std::size_t spare) {
        const auto& network = model.network;
        std::size_t used[2] = {0, 0};
        for (std::size_t i = 0; i < labels.size(); ++i)
            used[network.side(i)] = std::max<std::size_t>(used[network.side(i)], labels[i] + 1);
        const std::size_t columns = network.bipartite() ? used[1] + spare : 0;
        State state(network, model.emission, model.degree_corrected, used[0] + spare, columns);
        std::vector<std::uint32_t> slots(labels.begin(), labels.end());
        for (std::size_t i = network.n_rows; i < slots.size(); ++i)
            slots[i] += static_cast<std::uint32_t>(used[0] + spare);
        state.assign(slots, used[0], used[1]);
        return state;
    }

protected:
    NodeMoves(const BlockModelView<State>& model, std::span<const std::uint32_t> labels,
              const std::size_t (&max_clusters)[2], common::Rng& rng, const common::StopFlag& stop,
              std::size_t room)
        : model_(model), max_clusters_{max_clusters[0], max_clusters[1]}, rng_(rng), stop_(stop),
          state_(make_state(model, labels, room)) {
        state_.compact(1);
        count_filled();
    }

    void count_filled() {
        for (std::size_t s = 0; s < state_.n_sides(); ++s)
            filled_[s] = state_.filled(s);
    }

    /// Moves each of the nodes to its best cluster, in their order; `moved(node)` is called after each move.
    template <class Moved> std::size_t sweep(std::span<const std::uint32_t> nodes, bool near, Moved moved) {
        std::size_t moves = 0;
        for (const auto node : nodes) {
            if (stop_)
                break;
            weigh(node, near);
            const auto to = best_slot(node);
            if (to == state_.label(node))
                continue;
            move(node, to);
            moved(node);
            ++moves;
        }
        return moves;
    }

    /// Sweeps over all nodes until (almost) none moves. After each sweep, the nodes beside those that moved
    /// are visited again, and those beside them, so that few sweeps are complete ones.
    void settle(std::size_t few) {
        for (std::size_t round = 0; round < max_sweeps && !stop_; ++round) {
            learn_near();
            const auto moves = sweep_and_follow(rng_.permutation(model_.network.n_nodes));
            state_.compact(1);
            if (moves <= few)
                break;
        }
    }

    /// Notes which clusters are near which, for sweeps that look only at those near a node.
    void learn_near() { near_.learn(state_); }

    void move(std::size_t node, std::size_t to) {
        const auto s = model_.network.side(node);
        filled_[s] -= state_.size(state_.label(node)) == 1;
        filled_[s] += state_.size(to) == 0;
        state_.move(to);
    }

    /// Looks at a node and sets value_ to the ICL with the node in each slot of its side, up to a constant;
    /// with `near`, slots far from the node are left out. Appendix B of Côme & Latouche: a lone node's
    /// cluster vanishes when it leaves, an empty slot is a new cluster.
    void weigh(std::size_t node, bool near = false) {
        const auto s = model_.network.side(node);
        const auto& prior = model_.priors[s];
        const auto& side = state_.side(s);
        const std::size_t own = state_.label(node);
        state_.look(node);
        const bool some = near && near_.find(state_, node);
        const auto score = some ? state_.score(near_.slots()) : state_.score();
        const bool alone = state_.size(own) == 1;
        const auto joined = dimension(s, filled_[s] - (alone ? 1 : 0));
        bool may_open = !alone && filled_[s] < max_clusters_[s];
        value_.assign(side.used, -std::numeric_limits<double>::infinity());
        const auto set = [&](std::size_t h) {
            const bool empty = state_.size(h) == 0;
            if (empty && !may_open)
                return;
            may_open = may_open && !empty; // one empty slot stands for all
            value_[h - side.first] =
                score[h] + prior.join(state_.size(h)) + (empty ? dimension(s, filled_[s] + 1) : joined);
        };
        if (some)
            for (const auto h : near_.slots())
                set(h);
        else
            for (auto h = side.first; h < side.end(); ++h)
                set(h);
        value_[own - side.first] = score[own] + prior.join(state_.size(own) - 1) + dimension(s, filled_[s]);
    }

    /// The best slot of the node that was weighed; its own unless another is better by more than rounding.
    std::size_t best_slot(std::size_t node) const {
        const auto first = state_.side(model_.network.side(node)).first;
        std::size_t best = state_.label(node);
        double best_value = value_[best - first] + min_gain;
        for (std::size_t k = 0; k < value_.size(); ++k)
            if (value_[k] > best_value) {
                best_value = value_[k];
                best = first + k;
            }
        return best;
    }

    /// The prior's term of the number of clusters, remembered.
    double dimension(std::size_t s, std::size_t k) {
        auto& known = dimension_[s];
        while (known.size() <= k)
            known.push_back(model_.priors[s].clusters(known.size()));
        return known[k];
    }

    const BlockModelView<State>& model_;
    std::size_t max_clusters_[2];
    common::Rng& rng_;
    const common::StopFlag& stop_;
    State state_;
    std::size_t filled_[2] = {0, 0};
    std::vector<double> value_;
    static constexpr std::size_t max_sweeps = 100;

private:
    /// The moves of a complete sweep; those that follow from it are not counted.
    std::size_t sweep_and_follow(std::vector<std::uint32_t> nodes) {
        std::vector<std::uint8_t> waits(model_.network.n_nodes, 0);
        std::size_t moves = 0;
        for (std::size_t round = 0; round < max_follows && !nodes.empty() && !stop_; ++round) {
            std::vector<std::uint32_t> next;
            for (const auto node : nodes)
                waits[node] = 0;
            const auto found = sweep(nodes, true, [&](std::uint32_t node) {
                for (std::size_t d = 0; d < model_.network.directions(); ++d)
                    model_.network.edges[d].each(node, [&](std::uint32_t other, std::int64_t) {
                        if (!waits[other] && state_.label(other) != state_.label(node)) {
                            waits[other] = 1;
                            next.push_back(other);
                        }
                    });
            });
            moves += round == 0 ? found : 0;
            nodes = std::move(next);
        }
        return moves;
    }

    static constexpr std::size_t max_follows = 12;
    std::vector<double> dimension_[2];
    NearClusters near_;
};

} // namespace partita::models
