// The exact ICL of a partition of a network's nodes, as climbs raise it: the likelihood of a block state, the
// prior of the partition, and the limits on clusters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/random.hpp"
#include "networks/dirichlet.hpp"
#include "networks/merge_scores.hpp"
#include "networks/near_clusters.hpp"
#include "networks/network_state.hpp"
#include "partition/climb.hpp"

namespace partita::models {

/// What every search and sampler of one model shares.
template <NetworkState State> struct BlockModelView {
    const Network& network;
    const typename State::Emission& emission;
    const Priors& priors;
    bool degree_corrected;
};

/// A state that holds the labels of each side, from 0 on, with `used` slots and room for `capacity`.
template <NetworkState State>
State make_state(const BlockModelView<State>& model, std::span<const std::uint32_t> labels,
                 const std::size_t (&used)[2], const std::size_t (&capacity)[2]) {
    const auto& network = model.network;
    State state(network, model.emission, model.degree_corrected, capacity[0],
                network.bipartite() ? capacity[1] : 0);
    std::vector<std::uint32_t> slots(labels.begin(), labels.end());
    for (std::size_t i = network.n_rows; i < slots.size(); ++i)
        slots[i] += static_cast<std::uint32_t>(capacity[0]);
    state.assign(slots, used[0], used[1]);
    return state;
}

/// The same with as many slots as there are labels, and `spare` empty ones on each side.
template <NetworkState State>
State make_state(const BlockModelView<State>& model, std::span<const std::uint32_t> labels,
                 std::size_t spare) {
    std::size_t used[2] = {0, 0};
    for (std::size_t i = 0; i < labels.size(); ++i) {
        auto& most = used[model.network.side(i)];
        most = std::max<std::size_t>(most, labels[i] + 1);
    }
    return make_state(model, labels, used, {used[0] + spare, used[1] + spare});
}

/// Items are nodes; a place is a slot of the node's side, counted from its first.
template <NetworkState State> class BlockIcl {
public:
    BlockIcl(const BlockModelView<State>& model, std::span<const std::uint32_t> labels,
             const std::size_t (&max_clusters)[2])
        : model_(&model), max_clusters_{max_clusters[0], max_clusters[1]},
          state_(make_state(model, labels, room_to_grow)) {
        tidy();
        count_filled();
    }

    std::size_t n_items() const { return model_->network.n_nodes; }
    std::size_t n_clusters() const { return filled_[0] + filled_[1]; }
    const std::size_t* max_clusters() const { return max_clusters_; }
    double log_density() const { return state_.log_likelihood() + log_prior(state_, model_->priors); }

    PlaceScores score(std::size_t node) { return score(node, false); }

    /// Slots far from the node are left out.
    PlaceScores score_near(std::size_t node) { return score(node, true); }

    /// The terms that differ between these slots; no cluster is emptied.
    PlaceScores score_among(std::size_t node, std::span<const std::uint32_t> slots) {
        const auto& prior = model_->priors[model_->network.side(node)];
        state_.look(node);
        const auto score = state_.score(slots);
        PlaceScores scored{{}, 0};
        value_.resize(slots.size());
        for (std::size_t at = 0; at < slots.size(); ++at) {
            const bool own = slots[at] == state_.label(node);
            scored.own = own ? at : scored.own;
            value_[at] = score[slots[at]] + prior.join(state_.size(slots[at]) - (own ? 1 : 0));
        }
        scored.scores = value_;
        return scored;
    }

    void put(std::size_t node, std::size_t place) {
        if (const auto to = side_of(node).first + place; to != state_.label(node))
            move_scored(node, to);
    }

    void move_scored(std::size_t node, std::size_t to) {
        const auto s = model_->network.side(node);
        filled_[s] -= state_.size(state_.label(node)) == 1;
        filled_[s] += state_.size(to) == 0;
        state_.move(to);
    }

    void move(std::size_t node, std::size_t to) {
        state_.look(node);
        move_scored(node, to);
    }

    void tidy() { state_.compact(1); }

    /// A cluster that has vanished does not come back.
    void forbid_new_clusters() {
        for (std::size_t s = 0; s < state_.n_sides(); ++s)
            max_clusters_[s] = filled_[s];
    }

    void find_near_clusters() { near_.learn(state_); }
    template <class Visit> void each_neighbour_elsewhere(std::size_t node, Visit visit) const {
        for (std::size_t d = 0; d < model_->network.directions(); ++d)
            model_->network.edges[d].each(node, [&](std::uint32_t other, std::int64_t) {
                if (state_.label(other) != state_.label(node))
                    visit(other);
            });
    }

    Merger<State> merges() const { return Merger<State>(state_, model_->priors); }
    void apply(const Merger<State>& merges) {
        std::vector<std::uint32_t> labels(state_.labels().begin(), state_.labels().end());
        for (auto& label : labels)
            label = merges.into(label);
        set_labels(labels);
        tidy();
    }

    std::vector<std::uint32_t> clusters_to_split() {
        make_room();
        auto all = clusters(0);
        if (state_.n_sides() == 2)
            for (const auto column : clusters(1))
                all.push_back(column);
        return all;
    }
    bool may_split(std::size_t cluster) const {
        return state_.size(cluster) > 1 && may_open(side_of_slot(cluster));
    }
    bool split(std::uint32_t cluster, common::Rng& rng) {
        return split_by_sweeps(*this, cluster, empty_cluster(side_of_slot(cluster)), rng);
    }

    Solution solution() {
        tidy();
        return {state_.relative_labels(), log_density()};
    }

    std::span<const std::uint32_t> labels() const { return state_.labels(); }
    void set_labels(std::span<const std::uint32_t> labels) {
        state_.assign(labels, state_.side(0).used, state_.side(1).used);
        count_filled();
    }
    std::uint32_t cluster_of(std::size_t node) const { return state_.label(node); }
    bool is_alone(std::size_t node) const { return state_.size(state_.label(node)) == 1; }
    std::vector<std::uint32_t> members_of(const std::vector<std::uint32_t>& clusters) const {
        std::vector<std::uint32_t> members;
        for (std::size_t i = 0; i < n_items(); ++i)
            if (std::ranges::find(clusters, state_.label(i)) != clusters.end())
                members.push_back(static_cast<std::uint32_t>(i));
        return members;
    }

    struct Snapshot {
        State state;
        std::size_t filled[2];
    };
    Snapshot snapshot() const { return {state_, {filled_[0], filled_[1]}}; }
    void restore(const Snapshot& kept) {
        state_ = kept.state;
        std::copy(std::begin(kept.filled), std::end(kept.filled), filled_);
    }

    void make_room() { state_.compact(room_to_grow); }
    std::size_t random_side(common::Rng& rng) const { return rng.below(state_.n_sides()); }
    std::vector<std::uint32_t> clusters(std::size_t s) const {
        std::vector<std::uint32_t> filled;
        for (auto k = state_.side(s).first; k < state_.side(s).end(); ++k)
            if (state_.size(k) > 0)
                filled.push_back(static_cast<std::uint32_t>(k));
        return filled;
    }
    bool may_open(std::size_t s) const {
        return filled_[s] < max_clusters_[s] && empty_cluster(s) < state_.side(s).end();
    }
    std::uint32_t empty_cluster(std::size_t s) const {
        auto k = state_.side(s).first;
        while (k < state_.side(s).end() && state_.size(k) > 0)
            ++k;
        return static_cast<std::uint32_t>(k);
    }

    std::vector<std::uint32_t> competitors(std::size_t node, std::size_t wanted) {
        const auto value = score_near(node).scores;
        const auto first = side_of(node).first;
        std::vector<std::uint32_t> near{state_.label(node)};
        while (near.size() < wanted) {
            std::size_t best = near.front();
            double most = -std::numeric_limits<double>::infinity();
            for (std::size_t k = 0; k < value.size(); ++k)
                if (value[k] > most && state_.size(first + k) > 0 &&
                    std::ranges::find(near, first + k) == near.end()) {
                    most = value[k];
                    best = first + k;
                }
            if (best == near.front())
                break;
            near.push_back(static_cast<std::uint32_t>(best));
        }
        return near;
    }

private:
    static constexpr std::size_t room_to_grow = 8;

    const Side& side_of(std::size_t node) const { return state_.side(model_->network.side(node)); }
    std::size_t side_of_slot(std::size_t slot) const {
        return state_.n_sides() == 2 && slot >= state_.side(1).first ? 1 : 0;
    }

    void count_filled() {
        for (std::size_t s = 0; s < state_.n_sides(); ++s)
            filled_[s] = state_.filled(s);
    }

    /// Appendix B of Côme & Latouche: a lone node's cluster vanishes when it leaves, an empty slot is a new
    /// cluster.
    PlaceScores score(std::size_t node, bool only_near) {
        const auto s = model_->network.side(node);
        const auto& prior = model_->priors[s];
        const auto& side = state_.side(s);
        const std::size_t own = state_.label(node);
        state_.look(node);
        const bool some = only_near && near_.find(state_, node);
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
        return {value_, own - side.first};
    }

    /// The prior's term of the number of clusters, remembered.
    double dimension(std::size_t s, std::size_t k) {
        auto& known = dimension_[s];
        while (known.size() <= k)
            known.push_back(model_->priors[s].clusters(known.size()));
        return known[k];
    }

    const BlockModelView<State>* model_;
    std::size_t max_clusters_[2];
    State state_;
    std::size_t filled_[2] = {0, 0};
    std::vector<double> value_, dimension_[2];
    NearClusters near_;
};

} // namespace partita::models
