// A partition of a network's nodes: labels, sizes and degrees of clusters, and what one node has with each
// cluster. The likelihood of its blocks belongs to the states that derive from it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <vector>

#include "common/log_gamma.hpp"
#include "networks/network.hpp"

namespace partita::models {

/// Clusters of one kind of node: slots first .. first + used - 1, of which some may be empty. An ordinary
/// network has one side; a bipartite one has rows (0) and columns (1), and a node of one side meets the
/// clusters of the other.
struct Side {
    std::size_t first = 0, used = 0, capacity = 0;
    std::size_t end() const { return first + used; }
};

/// log Γ(n) − log Γ(n + d) + d log n: the degrees d of a cluster of n nodes, shares ~ Dirichlet(1, …, 1).
inline double degree_term(std::int64_t size, std::int64_t degree) {
    if (size == 0)
        return 0.0;
    const auto n = static_cast<double>(size), d = static_cast<double>(degree);
    return common::log_gamma(n) - common::log_gamma(n + d) + d * std::log(n);
}

class NodePartition {
public:
    NodePartition(const Network& network, bool degree_corrected, std::size_t capacity_rows,
                  std::size_t capacity_columns)
        : network_(&network), degree_corrected_(degree_corrected), slots_(capacity_rows + capacity_columns),
          label_(network.n_nodes), size_(slots_), score_(slots_) {
        sides_[0] = {0, 0, capacity_rows};
        sides_[1] = {capacity_rows, 0, capacity_columns};
        for (std::size_t d = 0; d < network.directions(); ++d) {
            degree_[d].assign(slots_, 0);
            seen_edges_[d].assign(slots_, 0);
            seen_missing_[d].assign(slots_, 0);
        }
    }

    const Network& network() const { return *network_; }
    bool degree_corrected() const { return degree_corrected_; }
    std::size_t slots() const { return slots_; }
    std::size_t n_sides() const { return network_->bipartite() ? 2 : 1; }
    const Side& side(std::size_t s) const { return sides_[s]; }
    std::span<const std::uint32_t> labels() const { return label_; }
    std::uint32_t label(std::size_t node) const { return label_[node]; }
    /// The slots of each side from 0 on.
    std::vector<std::uint32_t> relative_labels() const {
        auto labels = label_;
        for (std::size_t i = network_->n_rows; i < labels.size(); ++i)
            labels[i] -= static_cast<std::uint32_t>(sides_[1].first);
        return labels;
    }
    std::int64_t size(std::size_t slot) const { return size_[slot]; }
    /// Ends of edges in a cluster, by direction; counted only if the model is degree-corrected.
    std::int64_t degree(std::size_t d, std::size_t slot) const { return degree_[d][slot]; }

    std::size_t filled(std::size_t s) const {
        std::size_t count = 0;
        for (auto k = sides_[s].first; k < sides_[s].end(); ++k)
            count += size_[k] > 0;
        return count;
    }

    /// Counts the edges of a node by cluster. Every score and move that follows is about this node.
    void look(std::size_t node) {
        forget();
        node_ = node;
        for (std::size_t d = 0; d < network_->directions(); ++d) {
            network_->edges[d].each(node, [&](std::uint32_t other, std::int64_t count) {
                touch(d, label_[other]);
                seen_edges_[d][label_[other]] += count;
                seen_degree_[d] += count;
            });
            if (!network_->missing[d].empty())
                network_->missing[d].each(node, [&](std::uint32_t other, std::int64_t) {
                    touch(d, label_[other]);
                    seen_missing_[d][label_[other]] += 1;
                });
            seen_degree_[d] += network_->loop_ends(node);
        }
    }

    /// Clusters with which the node that was looked at has edges or missing dyads, both directions counted.
    std::size_t n_touched() const { return touched_[0].size() + touched_[1].size(); }
    template <class Visit> void each_touched(Visit visit) const {
        for (const auto& slots : touched_)
            for (const auto slot : slots)
                visit(slot);
    }

protected:
    void take_labels(std::span<const std::uint32_t> labels, std::size_t used_rows, std::size_t used_columns) {
        label_.assign(labels.begin(), labels.end());
        sides_[0].used = used_rows;
        sides_[1].used = used_columns;
    }

    /// Renumbers the filled clusters of every side from its first slot on and keeps `spare` empty slots after
    /// them.
    void renumber(std::size_t spare) {
        std::vector<std::uint32_t> slot_of(slots_);
        for (std::size_t s = 0; s < n_sides(); ++s) {
            auto next = sides_[s].first;
            for (auto k = sides_[s].first; k < sides_[s].end(); ++k)
                if (size_[k] > 0)
                    slot_of[k] = static_cast<std::uint32_t>(next++);
            sides_[s].used = std::min(next - sides_[s].first + spare, sides_[s].capacity);
        }
        for (auto& label : label_)
            label = slot_of[label];
    }

    /// Sizes and degrees afresh.
    void count_nodes() {
        forget();
        std::fill(size_.begin(), size_.end(), 0);
        for (const auto label : label_)
            size_[label] += 1;
        for (std::size_t d = 0; degree_corrected_ && d < network_->directions(); ++d) {
            std::fill(degree_[d].begin(), degree_[d].end(), 0);
            for (std::size_t i = 0; i < network_->n_nodes; ++i) {
                auto& degree = degree_[d][label_[i]];
                network_->edges[d].each(i, [&](std::uint32_t, std::int64_t count) { degree += count; });
                degree += network_->loop_ends(i);
            }
        }
    }

    void swap_names(std::size_t a, std::size_t b) {
        std::swap(size_[a], size_[b]);
        for (std::size_t d = 0; d < network_->directions(); ++d)
            std::swap(degree_[d][a], degree_[d][b]);
        for (auto& label : label_)
            label = label == a   ? static_cast<std::uint32_t>(b)
                    : label == b ? static_cast<std::uint32_t>(a)
                                 : label;
        forget();
    }

    /// Sizes, degrees and the label of the node that was looked at.
    void relabel(std::size_t to) {
        const auto from = label_[node_];
        size_[from] -= 1;
        size_[to] += 1;
        for (std::size_t d = 0; degree_corrected_ && d < network_->directions(); ++d) {
            degree_[d][from] -= seen_degree_[d];
            degree_[d][to] += seen_degree_[d];
        }
        label_[node_] = static_cast<std::uint32_t>(to);
    }

    /// The slots of the side of the node that was looked at.
    auto own_slots() const {
        const auto& side = sides_[network_->side(node_)];
        return std::views::iota(side.first, side.end());
    }

    void forget() {
        for (std::size_t d = 0; d < network_->directions(); ++d) {
            for (const auto slot : touched_[d])
                seen_edges_[d][slot] = seen_missing_[d][slot] = 0;
            touched_[d].clear();
            seen_degree_[d] = 0;
        }
    }

    /// Observed dyads between the node and the other nodes of cluster l.
    std::int64_t seen_exposure(std::size_t d, std::size_t l) const {
        const auto others = size_[l] - (l == label_[node_] ? 1 : 0);
        return network_->pair_exposure * (others - seen_missing_[d][l]);
    }

    /// What the node adds inside cluster h: its dyads with the others there, both ways, and its loop.
    Dyads seen_inside(std::size_t h) const {
        const bool both = network_->directed;
        return {seen_edges_[0][h] + (both ? seen_edges_[1][h] : 0) + network_->loop_edges(node_),
                seen_exposure(0, h) + (both ? seen_exposure(1, h) : 0) + network_->loop_dyad(node_)};
    }

    /// The change of the degree terms when the node, in no cluster, joins h.
    double degree_gain(std::size_t h) const {
        const std::int64_t here = h == label_[node_] ? 1 : 0;
        double total = 0.0;
        for (std::size_t d = 0; d < network_->directions(); ++d) {
            const auto others = degree_[d][h] - here * seen_degree_[d];
            total += degree_term(size_[h] - here + 1, others + seen_degree_[d]) -
                     degree_term(size_[h] - here, others);
        }
        return total;
    }

    /// The degree terms of all clusters, added to `total` one by one.
    double with_degree_terms(double total) const {
        for (std::size_t d = 0; degree_corrected_ && d < network_->directions(); ++d)
            for (std::size_t k = 0; k < slots_; ++k)
                total += degree_term(size_[k], degree_[d][k]);
        return total;
    }

    const Network* network_;
    bool degree_corrected_;
    std::size_t slots_;
    Side sides_[2];
    std::vector<std::uint32_t> label_;
    std::vector<std::int64_t> size_, degree_[2];

    std::size_t node_ = 0;
    std::vector<std::int64_t> seen_edges_[2], seen_missing_[2];
    std::vector<std::uint32_t> touched_[2];
    std::int64_t seen_degree_[2] = {0, 0};
    std::vector<double> score_; // by slot

private:
    void touch(std::size_t d, std::uint32_t slot) {
        if (seen_edges_[d][slot] == 0 && seen_missing_[d][slot] == 0)
            touched_[d].push_back(slot);
    }
};

/// What states share that count everything afresh by recount(). `Derived` has score_of_slot(), a function of
/// the slot for the node that was looked at, unless it scores slots in a way of its own.
template <class Derived, class Base> class CountedState : public Base {
public:
    using Base::Base;

    /// Declares how many slots of a side are candidates; those above must be empty.
    void set_used(std::size_t s, std::size_t used) { this->sides_[s].used = used; }

    /// Takes labels (slots of the node's side).
    void assign(std::span<const std::uint32_t> labels, std::size_t used_rows, std::size_t used_columns = 0) {
        this->take_labels(labels, used_rows, used_columns);
        own().recount();
    }

    /// Renumbers the filled clusters, as renumber does.
    void compact(std::size_t spare) {
        this->renumber(spare);
        own().recount();
    }

    std::span<const double> score() { return own().score_all(this->own_slots()); }
    std::span<const double> score(std::span<const std::uint32_t> slots) { return own().score_all(slots); }
    template <class Slots> std::span<const double> score_all(const Slots& slots) {
        const auto score = own().score_of_slot();
        for (const auto h : slots)
            this->score_[h] = score(h);
        return this->score_;
    }
    double score(std::size_t h) const { return static_cast<const Derived&>(*this).score_of_slot()(h); }

private:
    Derived& own() { return static_cast<Derived&>(*this); }
};

} // namespace partita::models
