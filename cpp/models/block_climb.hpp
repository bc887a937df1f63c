// Greedy ascent of the exact ICL from one partition: sweeps over nodes, merges of clusters, splits of
// clusters.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "dirichlet.hpp"
#include "draw_log.hpp"
#include "hierarchy.hpp"
#include "network_state.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace partita {

/// What every search and sampler of one model shares.
template <NetworkState State> struct BlockModelView {
    const Network& network;
    const typename State::Emission& emission;
    const Priors& priors;
    bool degree_corrected;
};

/// A partition of all nodes, labels 0-based on each side on its own (columns of a bipartite network start at
/// 0 again).
struct Solution {
    std::vector<std::uint32_t> labels;
    double icl = -std::numeric_limits<double>::infinity();
};

/// Strict, so that sweeps end. Scores of free blocks are exact to less than this. Those of the affiliation
/// model may be less exact, but are differences of one function of whole numbers, which cannot rise for ever.
inline constexpr double least_gain = 1e-9;

template <NetworkState State> class Climber {
public:
    Climber(const BlockModelView<State>& model, std::span<const std::uint32_t> labels,
            const std::size_t (&most)[2], Rng& rng, const StopFlag& stop)
        : model_(model), most_{most[0], most[1]}, rng_(rng), stop_(stop),
          state_(make_state(model, labels, room_to_grow)) {
        state_.compact(1);
        count_filled();
    }

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

    /// Merges first (the start has too many clusters on purpose, or comes from a crossover), then climbs.
    Solution run(bool merge_first) {
        if (merge_first)
            merge_clusters();
        for (std::size_t round = 0; round < most_rounds && !stop_; ++round) {
            sweep_to_rest();
            const bool merged = merge_clusters();
            const bool split = split_clusters();
            if (!merged && !split)
                break;
        }
        return solution();
    }

    /// Simulated annealing from hot to cold, then a climb. On small networks four short runs
    /// find what a hundred climbs miss.
    Solution anneal(std::size_t sweeps) {
        for (std::size_t sweep = 0; sweep < sweeps && !stop_; ++sweep) {
            const double done = static_cast<double>(sweep) / static_cast<double>(sweeps);
            heated_sweep(hot * std::pow(cold / hot, done));
        }
        return run(false);
    }

    double icl() const { return state_.log_likelihood() + log_prior(state_, model_.priors); }

private:
    static constexpr std::size_t most_rounds = 50, most_sweeps = 100, split_sweeps = 6, room_to_grow = 8;
    static constexpr double hot = 2.0, cold = 0.6;

    Solution solution() {
        state_.compact(1);
        Solution result{{state_.labels().begin(), state_.labels().end()}, icl()};
        for (std::size_t i = model_.network.n_rows; i < result.labels.size(); ++i)
            result.labels[i] -= static_cast<std::uint32_t>(state_.side(1).first);
        return result;
    }

    void count_filled() {
        for (std::size_t s = 0; s < state_.n_sides(); ++s)
            filled_[s] = state_.filled(s);
    }

    /// Sweeps until (almost) no node moves: in a large network the last few are left to the next round.
    void sweep_to_rest() {
        const auto few = model_.network.n_nodes / 1000;
        for (std::size_t sweep = 0; sweep < most_sweeps && !stop_; ++sweep) {
            const auto moves = sweep_nodes();
            state_.compact(1);
            if (moves <= few && (moves == 0 || few > 0))
                break;
        }
    }

    std::size_t sweep_nodes() {
        std::size_t moves = 0;
        for (const auto node : rng_.permutation(model_.network.n_nodes)) {
            if (stop_)
                break;
            weigh(node);
            const auto to = best_slot(node);
            if (to == state_.label(node))
                continue;
            move(node, to);
            ++moves;
        }
        return moves;
    }

    /// A Gibbs sweep of the ICL to the power 1 / heat.
    void heated_sweep(double heat) {
        for (std::size_t node = 0; node < model_.network.n_nodes; ++node) {
            weigh(node);
            const auto to = state_.side(model_.network.side(node)).first + draw_log(value_, heat, rng_);
            if (to != state_.label(node))
                move(node, to);
        }
        state_.compact(1);
    }

    void move(std::size_t node, std::size_t to) {
        const auto s = model_.network.side(node);
        filled_[s] -= state_.size(state_.label(node)) == 1;
        filled_[s] += state_.size(to) == 0;
        state_.move(to);
    }

    /// Looks at a node and sets value_ to the ICL with the node in each slot of its side, but for a constant.
    /// Appendix B of Côme & Latouche: a lone node's cluster vanishes when it leaves, an empty slot is a new
    /// cluster.
    void weigh(std::size_t node) {
        const auto s = model_.network.side(node);
        const auto& prior = model_.priors[s];
        const auto& side = state_.side(s);
        const std::size_t own = state_.label(node);
        state_.look(node);
        const auto score = state_.score();
        const bool alone = state_.size(own) == 1;
        const auto joined = dimension(s, filled_[s] - (alone ? 1 : 0));
        bool may_open = !alone && filled_[s] < most_[s];
        value_.assign(side.used, -std::numeric_limits<double>::infinity());
        for (auto h = side.first; h < side.end(); ++h) {
            const bool empty = state_.size(h) == 0;
            if (empty && !may_open)
                continue;
            may_open = may_open && !empty; // one empty slot stands for all
            value_[h - side.first] =
                score[h] + prior.join(state_.size(h)) + (empty ? dimension(s, filled_[s] + 1) : joined);
        }
        value_[own - side.first] = score[own] + prior.join(state_.size(own) - 1) + dimension(s, filled_[s]);
    }

    /// The best slot of the node that was weighed; its own unless another is truly better.
    std::size_t best_slot(std::size_t node) const {
        const auto first = state_.side(model_.network.side(node)).first;
        std::size_t best = state_.label(node);
        double best_value = value_[best - first] + least_gain;
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

    /// Appendix C: merges while the ICL grows, and as long as a side has more clusters than allowed.
    bool merge_clusters() {
        Merger<State> merger(state_, model_.priors);
        std::vector<std::uint32_t> into(state_.slots());
        for (std::size_t k = 0; k < into.size(); ++k)
            into[k] = static_cast<std::uint32_t>(k);
        bool merged = false;
        while (!stop_) {
            const std::size_t crowded = merger.clusters(0) > most_[0]   ? 0
                                        : merger.clusters(1) > most_[1] ? 1
                                                                        : 2;
            const bool forced = crowded != 2;
            const auto best = merger.best(crowded);
            if (best.from == best.into || (!forced && best.change <= least_gain))
                break;
            for (auto& target : into)
                if (target == merger.slot(best.from))
                    target = merger.slot(best.into);
            merger.merge(best);
            merged = true;
        }
        if (merged)
            relabel(into);
        return merged;
    }

    void relabel(std::span<const std::uint32_t> into) {
        std::vector<std::uint32_t> labels(state_.labels().begin(), state_.labels().end());
        for (auto& label : labels)
            label = into[label];
        state_.assign(labels, state_.side(0).used, state_.side(1).used);
        state_.compact(1);
        count_filled();
    }

    /// Tries to cut each cluster in two; keeps what raises the ICL.
    bool split_clusters() {
        bool improved = false;
        state_.compact(room_to_grow);
        for (std::size_t s = 0; s < state_.n_sides(); ++s) {
            const auto clusters = filled_[s];
            for (std::size_t k = 0; k < clusters && filled_[s] < most_[s] && !stop_; ++k)
                improved |= split(s, state_.side(s).first + k);
        }
        return improved;
    }

    bool split(std::size_t s, std::size_t cluster) {
        const auto empty = state_.side(s).first + filled_[s];
        if (state_.size(cluster) < 2 || empty >= state_.side(s).end() || state_.size(empty) != 0)
            return false;
        std::vector<std::uint32_t> members;
        for (std::size_t i = 0; i < model_.network.n_nodes; ++i)
            if (state_.label(i) == cluster)
                members.push_back(static_cast<std::uint32_t>(i));
        const double before = icl();
        rng_.shuffle(std::span(members));
        for (std::size_t at = 0; at < members.size() / 2; ++at)
            look_and_move(members[at], empty);
        for (std::size_t sweep = 0; sweep < split_sweeps && sweep_between(members, cluster, empty) > 0;
             ++sweep) {
        }
        if (icl() > before + least_gain)
            return true;
        for (const auto node : members)
            if (state_.label(node) != cluster)
                look_and_move(node, cluster);
        return false;
    }

    void look_and_move(std::size_t node, std::size_t to) {
        state_.look(node);
        move(node, to);
    }

    /// A sweep over some nodes with two clusters to choose from.
    std::size_t sweep_between(std::span<const std::uint32_t> nodes, std::size_t one, std::size_t other) {
        std::size_t moves = 0;
        for (const auto node : nodes) {
            const std::size_t own = state_.label(node), to = own == one ? other : one;
            if (state_.size(own) == 1)
                continue;
            const auto& prior = model_.priors[model_.network.side(node)];
            state_.look(node);
            const double stay = state_.score(own) + prior.join(state_.size(own) - 1);
            if (state_.score(to) + prior.join(state_.size(to)) > stay + least_gain) {
                move(node, to);
                ++moves;
            }
        }
        return moves;
    }

    const BlockModelView<State>& model_;
    std::size_t most_[2];
    Rng& rng_;
    const StopFlag& stop_;
    State state_;
    std::size_t filled_[2] = {0, 0};
    std::vector<double> dimension_[2], value_;
};

} // namespace partita
