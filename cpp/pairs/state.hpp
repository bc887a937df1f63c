// A partition of the nodes of one component under search.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/random.hpp"
#include "pairs/gains.hpp"
#include "pairs/local.hpp"
#include "pairs/rules.hpp"
#include "partition/first_appearance.hpp"
#include "partition/rounding.hpp"

namespace partita::pairs {

struct Choice {
    std::uint32_t cluster;
    double change; // against being alone
};

/// Callers take a node out with `detach`, look with `best`, and put it somewhere with `attach`. Clusters have
/// numbers below the number of nodes; one of them is always empty while a node is out.
template <class Objective> class State {
public:
    /// `nodes` are sets of items; all items of a node must have the same label.
    State(const Local& local, const Objective& objective, const Lists& nodes,
          std::span<const std::uint32_t> labels)
        : nodes_(&nodes), labels_(labels.size(), nothing), sizes_(nodes.size()), members_(nodes.size()),
          place_(nodes.size()), node_of_(labels.size()), gains_(local, objective, nodes.size()),
          rules_(local, nodes.size()), local_(&local) {
        common::FirstAppearance number(labels.size());
        for (std::uint32_t v = 0; v < nodes.size(); ++v) {
            put(v, number(labels[nodes[v].front()]));
            for (const auto i : nodes[v])
                node_of_[i] = v;
        }
        for (auto k = static_cast<std::uint32_t>(nodes.size()); k-- > number.n_names();)
            empty_.push_back(k);
        gains_.reset(labels_);
    }

    std::uint32_t n_nodes() const { return nodes_->size(); }
    std::uint32_t cluster_of(std::uint32_t node) const { return labels_[(*nodes_)[node].front()]; }
    const std::vector<std::uint32_t>& labels() const { return labels_; }
    const std::vector<std::uint32_t>& members(std::uint32_t cluster) const { return members_[cluster]; }

    /// Calls visit(other) for the nodes in other clusters that have a pair with this one.
    template <class Visit> void each_follower(std::uint32_t node, Visit visit) const {
        for (const auto i : (*nodes_)[node])
            for (const auto j : local_->neighbours[i])
                if (labels_[j] != labels_[i])
                    visit(node_of_[j]);
    }
    /// A cluster that has a pair with the given one, or the given one itself.
    std::uint32_t near_cluster(std::uint32_t cluster, common::Rng& rng) const {
        const auto& nodes = members_[cluster];
        const auto items = (*nodes_)[nodes[rng.below(nodes.size())]];
        const auto near = local_->neighbours[items[rng.below(items.size())]];
        return near.empty() ? cluster : labels_[near[rng.below(near.size())]];
    }

    void detach(std::uint32_t node) {
        const auto items = (*nodes_)[node];
        const auto cluster = labels_[items.front()];
        for (const auto i : items)
            labels_[i] = nothing;
        sizes_[cluster] -= static_cast<double>(items.size());
        auto& there = members_[cluster];
        place_[there.back()] = place_[node];
        there[place_[node]] = there.back();
        there.pop_back();
        if (there.empty())
            empty_.push_back(cluster);
        gains_.leaves(items, cluster, labels_);
        rules_.left(items, cluster);
    }

    void attach(std::uint32_t node, std::uint32_t cluster) {
        gains_.joins((*nodes_)[node], cluster, labels_);
        put(node, cluster);
    }

    /// Looks at the clusters that a node, which is out, has neighbours in; the others are no better than an
    /// empty one.
    void look(std::uint32_t node) {
        gains_.look((*nodes_)[node], labels_);
        rules_.ask((*nodes_)[node], labels_);
    }
    /// The change when the node that was looked at joins a cluster.
    double change(std::uint32_t cluster) const {
        return members_[cluster].empty() ? 0.0 : gains_.change(cluster, sizes_[cluster]);
    }
    /// Whether the constraints let the node that was looked at join a cluster.
    bool allows(std::uint32_t cluster) const { return rules_.allows(cluster); }
    /// The best cluster for the node that was looked at; an empty one among equals.
    Choice best() {
        Choice choice{empty_cluster(), 0.0};
        for (const auto k : gains_.candidates())
            if (const auto change = gains_.change(k, sizes_[k]); change < choice.change && rules_.allows(k))
                choice = {k, change};
        return choice;
    }

    /// A cluster without nodes, while a node is out. Numbers of clusters that were filled again are thrown
    /// away when they are met.
    std::uint32_t empty_cluster() {
        while (!members_[empty_.back()].empty())
            empty_.pop_back();
        return empty_.back();
    }

    /// Moves a node to its best cluster if that is a strict gain; returns the change, 0 if it stays.
    double improve(std::uint32_t node) {
        const auto own = cluster_of(node);
        const auto stay = lift(node);
        const auto choice = best();
        const bool goes = choice.change < stay - min_gain; // strict, so that searches end
        attach(node, goes ? choice.cluster : own);
        return goes ? choice.change - stay : 0.0;
    }
    /// Puts a node into a cluster of its own; returns the change.
    double take_out(std::uint32_t node) {
        const auto stay = lift(node);
        attach(node, empty_cluster());
        return -stay;
    }
    void move(std::uint32_t node, std::uint32_t cluster) {
        detach(node);
        attach(node, cluster);
    }

private:
    /// Takes a node out and looks; returns the change when it comes back.
    double lift(std::uint32_t node) {
        const auto own = cluster_of(node);
        detach(node);
        look(node);
        return change(own);
    }

    void put(std::uint32_t node, std::uint32_t cluster) {
        const auto items = (*nodes_)[node];
        for (const auto i : items)
            labels_[i] = cluster;
        sizes_[cluster] += static_cast<double>(items.size());
        place_[node] = static_cast<std::uint32_t>(members_[cluster].size());
        members_[cluster].push_back(node);
        rules_.joined(items, cluster);
    }

    const Lists* nodes_;
    std::vector<std::uint32_t> labels_; // of the items
    std::vector<double> sizes_;         // of the clusters, in items
    std::vector<std::vector<std::uint32_t>> members_;
    std::vector<std::uint32_t> place_, node_of_, empty_;
    Gains<Objective> gains_;
    Rules rules_;
    const Local* local_;
};

/// A component under an objective.
template <class Objective> struct Problem {
    const Local& local;
    const Objective& objective;

    const Lists& nodes() const { return local.atoms; }
    State<Objective> state(const Lists& nodes, std::span<const std::uint32_t> labels) const {
        return {local, objective, nodes, labels};
    }
};

/// The objective of a partition, computed from its definition; its clusters are numbered below the items.
template <class Objective>
double value_of(const Local& local, const Objective& objective, std::span<const std::uint32_t> labels) {
    std::vector<double> sizes(labels.size());
    for (const auto label : labels)
        ++sizes[label];
    double value = 0;
    for (const auto size : sizes)
        value += objective.of_size(size);
    for (std::uint32_t i = 0; i < local.n_items(); ++i) {
        double sum = 0;
        local.each_neighbour(i, [&](std::uint32_t j, double p) {
            sum += labels[j] == labels[i] ? objective.attraction(p) : 0;
        });
        value -= objective.of_attraction(sum);
    }
    return value;
}

} // namespace partita::pairs
