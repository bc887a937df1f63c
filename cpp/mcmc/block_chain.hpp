// Collapsed sampling of block models, K unknown: Gibbs over nodes, empty clusters that come and go, splits
// and merges.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/archive.hpp"
#include "common/random.hpp"
#include "common/variates.hpp"
#include "common/watched_stop.hpp"
#include "networks/dirichlet.hpp"
#include "networks/icl_state.hpp"
#include "networks/network_state.hpp"
#include "partition/crossing.hpp"
#include "partition/first_appearance.hpp"
#include "partition/labels.hpp"

namespace partita::models {

struct ChainPlan {
    std::vector<double> log_k[2];       // log p(K) for K = 1, 2, ... on each side; impossible above
    double split_merge_rate = 0.1;      // probability of a split–merge proposal, per sweep and side
    std::uint32_t restricted_scans = 2; // Gibbs scans that prepare a split
    std::uint32_t resizes = 1;          // proposals per sweep and side to add or drop an empty cluster
    std::size_t start_clusters = 1;     // of the random partition that the start climbs from
    std::uint64_t seed = 0, stream = 0;
};

/// The target is p(K) p(z | K) p(X | z) over labelled z; clusters of z may be empty (McDaid et al. 2013; Wyse
/// & Friel 2012). Slots 0 .. K-1 of a side are its clusters: the target is invariant under relabelling, so
/// the last slot takes the place of one that is dropped.
template <NetworkState State> class BlockChain {
public:
    BlockChain(const BlockModelView<State>& model, ChainPlan plan)
        : model_(model), plan_(std::move(plan)), rng_(plan_.seed, plan_.stream),
          state_(make_state(model_, std::vector<std::uint32_t>(n_items(), 0u), spare)) {}

    std::uint64_t sweeps() const { return sweeps_; }
    std::size_t n_items() const { return model_.network.n_nodes; }
    std::size_t clusters(std::size_t s) const { return state_.side(s).used; }
    std::size_t filled(std::size_t s) const { return state_.filled(s); }

    void sweep() {
        if (!started_)
            start();
        state_.rebuild_gains(); // from integers: what follows depends on the state alone, as resuming needs
        gibbs_sweep(*this, n_items(), rng_);
        for (std::size_t s = 0; s < state_.n_sides(); ++s) {
            for (std::uint32_t t = 0; t < plan_.resizes; ++t)
                resize(s);
            if (rng_.uniform() < plan_.split_merge_rate)
                accepted_ += split_or_merge(s);
        }
        ++sweeps_;
    }

    /// log p(X, z, K) with a node in each slot of its side, up to a constant; then `put`.
    PlaceScores score(std::size_t node) {
        const auto s = model_.network.side(node);
        const auto& side = state_.side(s);
        const std::size_t own = state_.label(node);
        state_.look(node);
        const auto score = state_.score();
        weight_.resize(side.used);
        for (std::size_t k = 0; k < side.used; ++k) {
            const auto h = side.first + k;
            weight_[k] = score[h] + model_.priors[s].join(state_.size(h) - (h == own ? 1 : 0));
        }
        return {weight_, own - side.first};
    }
    void put(std::size_t node, std::size_t place) {
        if (const auto to = state_.side(model_.network.side(node)).first + place; to != state_.label(node))
            state_.move(to);
    }

    /// log p(X, z, K), up to constants of the data.
    double log_density() const {
        double total = state_.log_likelihood();
        for (std::size_t s = 0; s < state_.n_sides(); ++s)
            total += log_prior_of(s);
        return total;
    }

    /// Canonical labels of filled clusters, each side from 0.
    void write_labels(std::uint32_t* out) const {
        common::FirstAppearance name[2] = {common::FirstAppearance(state_.slots()),
                                           common::FirstAppearance(state_.slots())};
        for (std::size_t i = 0; i < n_items(); ++i)
            out[i] = name[model_.network.side(i)](state_.label(i));
    }

    std::vector<std::string> stat_names() const {
        if (model_.network.bipartite())
            return {"log_density", "n_clusters", "n_column_clusters", "k_rows", "k_columns", "split_merges"};
        return {"log_density", "n_clusters", "k", "split_merges"};
    }

    /// `split_merges` counts the proposals that were accepted since the last call.
    void append_stats(std::vector<double>& out) {
        out.push_back(log_density());
        for (std::size_t s = 0; s < state_.n_sides(); ++s)
            out.push_back(static_cast<double>(filled(s)));
        for (std::size_t s = 0; s < state_.n_sides(); ++s)
            out.push_back(static_cast<double>(clusters(s)));
        out.push_back(static_cast<double>(std::exchange(accepted_, 0)));
    }

    std::string state() {
        if (!started_)
            start();
        common::StateWriter writer;
        auto labels = state_.relative_labels();
        std::size_t used[2] = {state_.side(0).used, state_.side(1).used};
        auto random = rng_.state();
        writer(sweeps_, accepted_, random, used[0], used[1], labels);
        return std::move(writer).bytes();
    }

    void restore(const std::string& bytes) {
        common::StateReader reader(bytes);
        std::vector<std::uint32_t> labels;
        std::size_t used[2];
        auto random = rng_.state();
        reader(sweeps_, accepted_, random, used[0], used[1], labels);
        if (!reader.at_end() || labels.size() != n_items() || !allowed(0, used[0]) ||
            !(model_.network.bipartite() ? allowed(1, used[1]) : used[1] == 0))
            throw std::invalid_argument("the state does not fit this network");
        for (std::size_t i = 0; i < labels.size(); ++i)
            if (labels[i] >= used[model_.network.side(i)])
                throw std::invalid_argument("the state does not fit this network");
        rng_.restore(random);
        place(labels, used);
        started_ = true;
    }

private:
    static constexpr std::size_t spare = 8;

    /// One greedy climb from a random partition, with random numbers of its own beside the chain's.
    void start() {
        started_ = true;
        const auto& stop = common::WatchedStop::flag();
        common::Rng rng(~plan_.seed, plan_.stream);
        const std::size_t max_clusters[2] = {plan_.log_k[0].size(),
                                             std::max<std::size_t>(plan_.log_k[1].size(), 1)};
        const auto labels = random_labels(model_.network, plan_.start_clusters, max_clusters, rng);
        const auto found =
            Climber(BlockIcl<State>(model_, labels, max_clusters), rng, stop).climb_by_complete_sweeps();
        common::end_if_stopped();
        begin_at(found.labels);
    }

    void begin_at(std::span<const std::uint32_t> labels) {
        state_ = make_state(model_, labels, spare);
        for (std::size_t s = 0; s < state_.n_sides(); ++s) {
            const auto filled = state_.filled(s);
            if (filled > plan_.log_k[s].size() || filled != state_.side(s).used)
                throw std::invalid_argument(
                    "the start has more clusters than the prior of K allows, or gaps");
            while (!allowed(s, state_.side(s).used)) // the prior's last K is allowed
                open(s);
        }
    }

    double log_prior_of(std::size_t s) const {
        const auto k = state_.side(s).used;
        double total = log_k(s, k) + model_.priors[s].clusters(k);
        for (auto h = state_.side(s).first; h < state_.side(s).end(); ++h)
            total += model_.priors[s].cluster(state_.size(h));
        return total;
    }

    double log_k(std::size_t s, std::size_t k) const {
        return k >= 1 && k <= plan_.log_k[s].size() ? plan_.log_k[s][k - 1]
                                                    : -std::numeric_limits<double>::infinity();
    }

    bool allowed(std::size_t s, std::size_t k) const {
        return log_k(s, k) > -std::numeric_limits<double>::infinity();
    }

    /// The next K that the prior allows above or below k; the neighbour of k if there is none.
    std::size_t next_above(std::size_t s, std::size_t k) const {
        for (auto larger = k + 1; larger <= plan_.log_k[s].size(); ++larger)
            if (allowed(s, larger))
                return larger;
        return k + 1;
    }
    std::size_t next_below(std::size_t s, std::size_t k) const {
        for (auto smaller = k - 1; smaller >= 1; --smaller)
            if (allowed(s, smaller))
                return smaller;
        return k - 1;
    }

    bool accept(double log_ratio) { return log_ratio >= 0 || rng_.uniform() < std::exp(log_ratio); }

    /// Goes to the next K that the prior allows: adds d empty clusters, or drops d random ones if all of them
    /// are empty. New labels have C(K + d, d) sets of places, and one of C(K + d, d) sets of labels is picked
    /// to be dropped: the proposals cancel.
    void resize(std::size_t s) {
        const auto k = state_.side(s).used;
        if (rng_.below(2) == 0) {
            const auto larger = next_above(s, k);
            if (accept(log_ratio_of_k(s, k, larger)))
                while (state_.side(s).used < larger)
                    open(s);
            return;
        }
        const auto smaller = next_below(s, k);
        const auto slots = pick_slots(s, k - smaller);
        const auto is_empty = [&](std::size_t slot) { return state_.size(slot) == 0; };
        if (k == 1 || !std::all_of(slots.begin(), slots.end(), is_empty))
            return;
        if (accept(log_ratio_of_k(s, k, smaller)))
            for (const auto slot : slots)
                close(s, slot);
    }

    double log_ratio_of_k(std::size_t s, std::size_t from, std::size_t to) const {
        const auto& prior = model_.priors[s];
        return log_k(s, to) - log_k(s, from) + prior.clusters(to) - prior.clusters(from);
    }

    /// A random set of `count` slots of a side (Floyd's algorithm), the last slot first.
    std::vector<std::size_t> pick_slots(std::size_t s, std::size_t count) {
        const auto& side = state_.side(s);
        std::vector<std::size_t> slots;
        for (auto last = side.used - count; last < side.used; ++last) {
            const auto slot = side.first + rng_.below(last + 1);
            const bool taken = std::find(slots.begin(), slots.end(), slot) != slots.end();
            slots.push_back(taken ? side.first + last : slot);
        }
        std::sort(slots.rbegin(), slots.rend());
        return slots;
    }

    /// Makes room for one more cluster and gives its slot.
    std::size_t open(std::size_t s) {
        const auto& side = state_.side(s);
        if (side.used == side.capacity)
            grow();
        state_.set_used(s, state_.side(s).used + 1);
        return state_.side(s).end() - 1;
    }

    void close(std::size_t s, std::size_t slot) {
        state_.swap_slots(slot, state_.side(s).end() - 1);
        state_.set_used(s, state_.side(s).used - 1);
    }

    void grow() {
        const std::size_t used[2] = {state_.side(0).used, state_.side(1).used};
        place(state_.relative_labels(), used);
    }

    /// A fresh state with room to grow by half.
    void place(const std::vector<std::uint32_t>& labels, const std::size_t (&used)[2]) {
        const auto room = [](std::size_t k) { return k + k / 2 + spare; };
        state_ = make_state(model_, labels, used, {room(used[0]), room(used[1])});
    }

    /// Jain & Neal (2004) with labelled clusters: two nodes of one cluster propose its split, of two clusters
    /// their merge. A split puts the new label in one of K + 1 places; a merge has no choice to make.
    bool split_or_merge(std::size_t s) {
        const auto begin = s == 0 ? 0 : model_.network.n_rows;
        const auto count = s == 0 ? model_.network.n_rows : n_items() - begin;
        if (count < 2)
            return false;
        const auto [one, other] = rng_.two_below(count);
        const auto i = begin + one, j = begin + other;
        return state_.label(i) == state_.label(j) ? split(s, i, j) : merge(s, i, j);
    }

    /// The other nodes of the clusters of two, in random order.
    void gather(std::size_t i, std::size_t j) {
        movers_ = items_with(state_.labels(), i, j);
        rng_.shuffle(std::span(movers_));
    }

    bool split(std::size_t s, std::size_t i, std::size_t j) {
        const auto k = state_.side(s).used;
        if (!allowed(s, k + 1))
            return false;
        const double before = log_density();
        const auto other = open(s);
        const std::size_t own = state_.label(i); // after open, which may renumber
        gather(i, j);
        look_and_move(j, other);
        scatter(own, other);
        const double log_q = scan(own, other, nullptr);
        if (accept(log_density() - before - log_q + std::log(static_cast<double>(k + 1))))
            return true;
        look_and_move(j, own);
        for (const auto v : movers_)
            if (state_.label(v) != own)
                look_and_move(v, own);
        state_.set_used(s, k);
        return false;
    }

    bool merge(std::size_t s, std::size_t i, std::size_t j) {
        const auto k = state_.side(s).used;
        if (!allowed(s, k - 1))
            return false;
        const double before = log_density();
        const std::size_t a = state_.label(i), b = state_.label(j);
        gather(i, j);
        std::vector<std::uint32_t> home;
        for (const auto v : movers_)
            home.push_back(state_.label(v));
        scatter(a, b);
        const double log_q = scan(a, b, home.data()); // back home
        look_and_move(j, a);
        for (const auto v : movers_)
            if (state_.label(v) != a)
                look_and_move(v, a);
        // the emptied cluster is not yet dropped: its prior terms are those of K
        const auto& prior = model_.priors[s];
        const double after =
            log_density() + log_k(s, k - 1) - log_k(s, k) + prior.clusters(k - 1) - prior.clusters(k);
        if (accept(after - before + log_q - std::log(static_cast<double>(k)))) {
            close(s, b);
            return true;
        }
        look_and_move(j, b);
        for (std::size_t at = 0; at < movers_.size(); ++at)
            if (home[at] != a)
                look_and_move(movers_[at], home[at]);
        return false;
    }

    /// The launch state: a coin for each node, then restricted Gibbs scans.
    void scatter(std::size_t a, std::size_t b) {
        for (const auto v : movers_) {
            const auto to = rng_.below(2) == 0 ? a : b;
            if (to != state_.label(v))
                look_and_move(v, to);
        }
        for (std::uint32_t t = 0; t < plan_.restricted_scans; ++t)
            scan(a, b, nullptr);
    }

    /// A Gibbs scan between two clusters, or with `forced` to given ends; the log probability of what it did.
    double scan(std::size_t a, std::size_t b, const std::uint32_t* forced) {
        const auto& stop = common::WatchedStop::flag();
        double log_q = 0.0;
        for (std::size_t at = 0; at < movers_.size(); ++at) {
            common::end_if_stopped(stop);
            const auto v = movers_[at];
            const auto& prior = model_.priors[model_.network.side(v)];
            const std::size_t own = state_.label(v);
            state_.look(v);
            const double to_a = state_.score(a) + prior.join(state_.size(a) - (own == a ? 1 : 0));
            const double to_b = state_.score(b) + prior.join(state_.size(b) - (own == b ? 1 : 0));
            const double p_a = 1.0 / (1.0 + std::exp(to_b - to_a)), p_b = 1.0 / (1.0 + std::exp(to_a - to_b));
            const auto to = forced ? std::size_t{forced[at]} : (rng_.uniform() < p_a ? a : b);
            log_q += std::log(to == a ? p_a : p_b);
            if (to != own)
                state_.move(to);
        }
        return log_q;
    }

    void look_and_move(std::size_t node, std::size_t to) {
        state_.look(node);
        state_.move(to);
    }

    BlockModelView<State> model_;
    ChainPlan plan_;
    common::Rng rng_;
    State state_;
    std::uint64_t sweeps_ = 0, accepted_ = 0;
    bool started_ = false;
    std::vector<double> weight_;
    std::vector<std::uint32_t> movers_;
};

} // namespace partita::models
