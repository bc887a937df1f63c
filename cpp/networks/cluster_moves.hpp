// Moves of whole clusters of a network that raise the exact ICL: cuts in two, and new arrangements of a few.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "networks/block_moves.hpp"

namespace partita::models {

template <NetworkState State> class ClusterMoves : public NodeMoves<State> {
public:
    double icl() const { return state_.log_likelihood() + log_prior(state_, model_.priors); }

protected:
    using NodeMoves<State>::NodeMoves;
    using NodeMoves<State>::model_, NodeMoves<State>::max_clusters_, NodeMoves<State>::rng_,
        NodeMoves<State>::stop_, NodeMoves<State>::state_, NodeMoves<State>::filled_,
        NodeMoves<State>::value_, NodeMoves<State>::move, NodeMoves<State>::weigh;

    static constexpr std::size_t room_to_grow = 8;

    /// Tries to cut each cluster in two; keeps what raises the ICL.
    bool split_clusters() {
        bool improved = false;
        state_.compact(room_to_grow);
        for (std::size_t s = 0; s < state_.n_sides(); ++s) {
            const auto clusters = filled_[s];
            for (std::size_t k = 0; k < clusters && filled_[s] < max_clusters_[s] && !stop_; ++k)
                improved |= split(s, state_.side(s).first + k);
        }
        return improved;
    }

    /// Takes up to `clusters` clusters apart that compete for the same nodes and puts their nodes together
    /// anew, until this many attempts in a row find nothing better than the best. With heat, an attempt that
    /// lowers the ICL by d is kept with probability exp(−d / heat); the best partition is the one that stays.
    void rearrange_clusters(std::size_t patience, double heat, std::size_t clusters) {
        state_.compact(room_to_grow);
        this->learn_near();
        Kept now{state_, {filled_[0], filled_[1]}, icl()};
        std::vector<std::uint32_t> best(state_.labels().begin(), state_.labels().end());
        double most = now.icl;
        for (std::size_t idle = 0; idle < patience && !stop_; ++idle)
            if (rearrange(now, heat, clusters) && now.icl > most + min_gain) {
                most = now.icl;
                best.assign(state_.labels().begin(), state_.labels().end());
                idle = 0;
            }
        state_.assign(best, state_.side(0).used, state_.side(1).used);
        this->count_filled();
    }

private:
    static constexpr std::size_t split_sweeps = 6, max_split_nodes = 1000, free_sweeps = 3;

    bool split(std::size_t s, std::size_t cluster) {
        const auto empty = state_.side(s).first + filled_[s];
        if (state_.size(cluster) < 2 || empty >= state_.side(s).end() || state_.size(empty) != 0)
            return false;
        auto members = members_of(std::vector{static_cast<std::uint32_t>(cluster)});
        const double before = icl();
        rng_.shuffle(std::span(members));
        members.resize(std::min(members.size(), max_split_nodes)); // the sweeps take the others along
        for (std::size_t at = 0; at < members.size() / 2; ++at)
            look_and_move(members[at], empty);
        const std::uint32_t both[2] = {static_cast<std::uint32_t>(cluster),
                                       static_cast<std::uint32_t>(empty)};
        for (std::size_t sweep = 0; sweep < split_sweeps && sweep_among(members, both) > 0; ++sweep) {
        }
        if (icl() > before + min_gain)
            return true;
        for (const auto node : members)
            if (state_.label(node) != cluster)
                look_and_move(node, cluster);
        return false;
    }

    /// A partition to go back to: copying a state is cheaper than moving its nodes back.
    struct Kept {
        State state;
        std::size_t filled[2];
        double icl;
    };

    /// One attempt: whether it was kept.
    bool rearrange(Kept& now, double heat, std::size_t most) {
        const auto s = rng_.below(state_.n_sides());
        const auto clusters = competitors(random_member(s), most);
        const auto places = new_places(s, clusters);
        auto members = members_of(clusters);
        if (members.size() > max_split_nodes || places.empty())
            return false;
        rng_.shuffle(std::span(members));
        for (const auto node : members)
            if (const auto to = places[rng_.below(places.size())]; to != state_.label(node))
                look_and_move(node, to);
        for (std::size_t sweep = 0; sweep < split_sweeps && sweep_among(members, places) > 0; ++sweep) {
        }
        for (std::size_t sweep = 0; sweep < free_sweeps; ++sweep)
            if (this->sweep(members, true, [](std::uint32_t) {}) == 0)
                break;
        const double found = icl();
        if (found > now.icl + (heat > 0.0 ? heat * std::log(rng_.uniform()) : min_gain)) {
            now = {state_, {filled_[0], filled_[1]}, found};
            return true;
        }
        state_ = now.state;
        std::copy(std::begin(now.filled), std::end(now.filled), filled_);
        return false;
    }

    /// A node of a cluster of side s, every cluster with the same chance.
    std::uint32_t random_member(std::size_t s) {
        std::vector<std::uint32_t> filled;
        for (auto k = state_.side(s).first; k < state_.side(s).end(); ++k)
            if (state_.size(k) > 0)
                filled.push_back(static_cast<std::uint32_t>(k));
        const auto cluster = filled[rng_.below(filled.size())];
        const auto members = members_of(std::vector{cluster});
        return members[rng_.below(members.size())];
    }

    /// The node's own cluster and others that would have it, the best first: `most` in all, or fewer.
    std::vector<std::uint32_t> competitors(std::uint32_t node, std::size_t most) {
        weigh(node, true);
        const auto first = state_.side(model_.network.side(node)).first;
        std::vector<std::uint32_t> near{state_.label(node)};
        const auto wanted = 1 + rng_.below(most);
        while (near.size() < wanted) {
            std::size_t best = near.front();
            double most = -std::numeric_limits<double>::infinity();
            for (std::size_t k = 0; k < value_.size(); ++k)
                if (value_[k] > most && state_.size(first + k) > 0 &&
                    std::ranges::find(near, first + k) == near.end()) {
                    most = value_[k];
                    best = first + k;
                }
            if (best == near.front())
                break;
            near.push_back(static_cast<std::uint32_t>(best));
        }
        return near;
    }

    /// Slots for the nodes of these clusters: as many, one more or one less, but never a single cluster as it
    /// is. None if there is no room.
    std::vector<std::uint32_t> new_places(std::size_t s, const std::vector<std::uint32_t>& clusters) {
        auto places = clusters;
        const auto choice = rng_.below(3);
        if (clusters.size() == 1 || choice == 2) {
            const auto empty = empty_slot(s);
            if (filled_[s] >= max_clusters_[s] || empty >= state_.side(s).end())
                return {};
            places.push_back(static_cast<std::uint32_t>(empty));
        } else if (choice == 1) {
            places.pop_back();
        }
        return places;
    }

    std::size_t empty_slot(std::size_t s) const {
        auto k = state_.side(s).first;
        while (k < state_.side(s).end() && state_.size(k) > 0)
            ++k;
        return k;
    }

    std::vector<std::uint32_t> members_of(const std::vector<std::uint32_t>& clusters) const {
        std::vector<std::uint32_t> members;
        for (std::size_t i = 0; i < model_.network.n_nodes; ++i)
            if (std::ranges::find(clusters, state_.label(i)) != clusters.end())
                members.push_back(static_cast<std::uint32_t>(i));
        return members;
    }

    void look_and_move(std::size_t node, std::size_t to) {
        state_.look(node);
        move(node, to);
    }

    /// A sweep over some nodes with some clusters to choose from; no cluster is emptied.
    std::size_t sweep_among(std::span<const std::uint32_t> nodes, std::span<const std::uint32_t> slots) {
        std::size_t moves = 0;
        for (const auto node : nodes) {
            const auto own = state_.label(node);
            if (state_.size(own) == 1)
                continue;
            const auto& prior = model_.priors[model_.network.side(node)];
            state_.look(node);
            const auto score = state_.score(slots);
            auto to = own;
            double best = score[own] + prior.join(state_.size(own) - 1) + min_gain;
            for (const auto slot : slots)
                if (const double value = score[slot] + prior.join(state_.size(slot));
                    slot != own && value > best) {
                    best = value;
                    to = slot;
                }
            if (to == own)
                continue;
            move(node, to);
            ++moves;
        }
        return moves;
    }
};

} // namespace partita::models
