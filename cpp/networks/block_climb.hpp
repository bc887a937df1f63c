// Greedy ascent of the exact ICL from one partition: sweeps over nodes, merges of clusters, splits of
// clusters.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "common/random.hpp"
#include "common/variates.hpp"
#include "networks/cluster_moves.hpp"
#include "networks/merges.hpp"
#include "partition/solution.hpp"

namespace partita::models {

template <NetworkState State> class Climber : public ClusterMoves<State> {
public:
    Climber(const BlockModelView<State>& model, std::span<const std::uint32_t> labels,
            const std::size_t (&max_clusters)[2], common::Rng& rng, const common::StopFlag& stop)
        : ClusterMoves<State>(model, labels, max_clusters, rng, stop, room_to_grow) {}

    /// Complete sweeps, merges and splits in turns, until none of them helps.
    Solution run() {
        return in_turns([&] { sweep_to_rest(); });
    }

    /// The same with sweeps that follow the moves and, among many clusters, look only at those near a node.
    /// `merge_first`: the start has too many clusters on purpose.
    Solution climb(bool merge_first) {
        if (merge_first)
            merge_clusters();
        return in_turns([&] { this->settle(n_nodes() / 1000); });
    }

    /// Sweeps over all nodes and all clusters until none moves, for the solution that a search returns.
    Solution polish() {
        sweep_to_rest(0);
        return solution();
    }

    /// Algorithm 1 of Côme & Latouche as printed: sweeps in random order, each node to the cluster of the
    /// largest gain, never to a new one, until a sweep moves none; then the merges of their Section 3.3.
    Solution as_printed() {
        for (std::size_t moves = 1; moves > 0 && !stop_;) {
            limit_clusters();
            moves = this->sweep(rng_.permutation(n_nodes()), false, [&](std::uint32_t) { limit_clusters(); });
            state_.compact(1);
        }
        merge_clusters();
        return solution();
    }

    /// Simulated annealing from hot to cold, then a climb.
    Solution anneal(double hot, double cold, std::size_t sweeps) {
        cool(hot, cold, sweeps, stop_, [&](double heat) { heated_sweep(heat); });
        return climb(false);
    }

    /// New arrangements of up to `clusters` clusters at a time, then a climb.
    Solution rearrange(std::size_t patience, double heat, std::size_t clusters) {
        this->rearrange_clusters(patience * (filled_[0] + filled_[1]), heat, clusters);
        return climb(false);
    }

private:
    using NodeMoves<State>::model_, NodeMoves<State>::max_clusters_, NodeMoves<State>::rng_,
        NodeMoves<State>::stop_, NodeMoves<State>::state_, NodeMoves<State>::filled_,
        NodeMoves<State>::value_, NodeMoves<State>::move, NodeMoves<State>::weigh,
        NodeMoves<State>::count_filled, ClusterMoves<State>::icl, ClusterMoves<State>::room_to_grow;

    static constexpr std::size_t max_rounds = 50;

    Solution solution() {
        state_.compact(1);
        Solution result{{state_.labels().begin(), state_.labels().end()}, icl()};
        for (std::size_t i = model_.network.n_rows; i < result.labels.size(); ++i)
            result.labels[i] -= static_cast<std::uint32_t>(state_.side(1).first);
        return result;
    }

    std::size_t n_nodes() const { return model_.network.n_nodes; }

    /// A cluster that has vanished does not come back.
    void limit_clusters() {
        for (std::size_t s = 0; s < state_.n_sides(); ++s)
            max_clusters_[s] = filled_[s];
    }

    template <class Rest> Solution in_turns(Rest rest) {
        for (std::size_t round = 0; round < max_rounds && !stop_; ++round) {
            rest();
            const bool merged = merge_clusters();
            const bool split = this->split_clusters();
            if (!merged && !split)
                break;
        }
        return solution();
    }

    /// Sweeps until (almost) no node moves: in a large network the last few are left to the next round.
    void sweep_to_rest() { sweep_to_rest(n_nodes() / 1000); }

    void sweep_to_rest(std::size_t few) {
        for (std::size_t round = 0; round < this->max_sweeps && !stop_; ++round) {
            const auto moves = this->sweep(rng_.permutation(n_nodes()), false, [](std::uint32_t) {});
            state_.compact(1);
            if (moves <= few)
                break;
        }
    }

    /// A Gibbs sweep of the ICL to the power 1 / heat.
    void heated_sweep(double heat) {
        for (std::size_t node = 0; node < model_.network.n_nodes; ++node) {
            weigh(node);
            const auto to =
                state_.side(model_.network.side(node)).first + common::draw_from_logs(rng_, value_, heat);
            if (to != state_.label(node))
                move(node, to);
        }
        state_.compact(1);
    }

    /// Appendix C: merges while the ICL grows, and as long as a side has more clusters than allowed.
    bool merge_clusters() {
        Merger<State> merger(state_, model_.priors);
        std::vector<std::uint32_t> into(state_.slots());
        for (std::size_t k = 0; k < into.size(); ++k)
            into[k] = static_cast<std::uint32_t>(k);
        bool merged = false;
        while (!stop_) {
            const std::size_t crowded = merger.clusters(0) > max_clusters_[0]   ? 0
                                        : merger.clusters(1) > max_clusters_[1] ? 1
                                                                                : 2;
            const bool forced = crowded != 2;
            const auto best = merger.best(crowded);
            if (best.from == best.into || (!forced && best.change <= min_gain))
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
};

} // namespace partita::models
