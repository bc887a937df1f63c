// The likelihood of a partition whose blocks have a parameter each: look at a node, score every cluster,
// move it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/work.hpp"
#include "networks/block_counts.hpp"
#include "networks/block_merges.hpp"
#include "networks/network.hpp"

namespace partita::models {

/// Block (k, l) holds its edges and its exposure (the number of observed dyads). All scores are changes of
/// log p(X | z); the prior of the partition belongs to the search and to the sampler.
///
/// What makes it fast: a node with no edge to cluster l still adds |l| empty dyads to block (h, l) when it
/// joins h. What that costs does not depend on the node, so it is kept, summed over l, in `base_`; a node
/// then pays only for the clusters that it has edges with, for its own cluster, and for the diagonal. Where
/// slots are many, what a node without edges to l takes along when it leaves h is kept in the same way.
template <class EdgeModel> class BlockState : public BlockCounts {
public:
    using Emission = EdgeModel;
    using Merges = BlockMerges<BlockState>;

    BlockState(const Network& network, const Emission& emission, bool degree_corrected,
               std::size_t capacity_rows, std::size_t capacity_columns = 0)
        : BlockCounts(network, degree_corrected, capacity_rows, capacity_columns), emission_(&emission),
          many_slots_(slots_ >= many), base_(slots_), leave_base_(slots_) {
        for (std::size_t d = 0; d < network.directions(); ++d) {
            gain_[d].assign(slots_ * slots_, 0.0);
            value_[d].assign(slots_ * slots_, 0.0);
            floor_[d].assign(slots_ * slots_, 0.0);
            one_edge_[d].assign(slots_ * slots_, 0.0);
            leave_[d].assign(many_slots_ ? slots_ * slots_ : 0, 0.0);
        }
    }

    /// What merges add up: edges and exposure.
    using Number = std::int64_t;
    static constexpr std::size_t width() { return 2; }
    std::array<Number, 2> block(std::size_t k, std::size_t l) const { return {edges(k, l), exposure(k, l)}; }
    double value(const Number* block) const { return emission_->cell(block[0], block[1]); }
    double joined(const Number* one, const Number* other, double of_one, double of_other) const {
        return emission_->cell(one[0] + other[0], one[1] + other[1]) - of_one - of_other;
    }

    /// Declares how many slots of a side are candidates; those above must be empty. An empty cluster changes
    /// no sum.
    void set_used(std::size_t s, std::size_t used) {
        const auto old = sides_[s].end();
        sides_[s].used = used;
        for (auto slot = old; slot < sides_[s].end(); ++slot)
            refresh(slot);
    }

    /// Exchanges the names of two clusters of a side.
    void swap_slots(std::size_t a, std::size_t b) {
        if (a == b)
            return;
        for (std::size_t d = 0; d < network_->directions(); ++d) {
            swap_rows_and_columns(gain_[d], a, b);
            swap_rows_and_columns(value_[d], a, b);
            swap_rows_and_columns(floor_[d], a, b);
            swap_rows_and_columns(one_edge_[d], a, b);
            if (many_slots_)
                swap_rows_and_columns(leave_[d], a, b);
        }
        std::swap(base_[a], base_[b]);
        std::swap(leave_base_[a], leave_base_[b]);
        swap_counts(a, b);
    }

    /// Takes labels (slots of the node's side) and counts everything afresh.
    void assign(std::span<const std::uint32_t> labels, std::size_t used_rows, std::size_t used_columns = 0) {
        take_labels(labels, used_rows, used_columns);
        recount();
    }

    /// Renumbers the filled clusters of every side from its first slot on and keeps `spare` empty slots after
    /// them.
    void compact(std::size_t spare) {
        renumber(spare);
        recount();
    }

    /// For each slot of the node's side: log p(X | node in the slot) − log p(X without the node's dyads).
    std::span<const double> score() { return score_all(own_slots()); }

    /// The same for some slots of the node's side, its own among them: O(clusters of its neighbours) for
    /// each slot.
    std::span<const double> score(std::span<const std::uint32_t> slots) { return score_all(slots); }
    template <class Slots> std::span<const double> score_all(const Slots& slots) {
        const auto own = label_[node_];
        for (const auto h : slots)
            score_[h] = base_[h];
        for (std::size_t d = 0; d < network_->directions(); ++d)
            common::count_steps((touched_[d].size() + 1) * slots.size());
        for (std::size_t d = 0; d < network_->directions(); ++d)
            for (const auto l : touched_[d])
                if (network_->bipartite() || l != own)
                    add_touched(d, l, slots);
        if (!network_->bipartite())
            for (const auto h : slots)
                score_[h] += own_and_diagonal(h);
        score_[own] = stay();
        if (degree_corrected_)
            for (const auto h : slots)
                score_[h] += degree_gain(h);
        return score_;
    }

    /// The score of one slot, in O(clusters).
    double score(std::size_t h) const {
        const double degrees = degree_corrected_ ? degree_gain(h) : 0.0;
        if (h == label_[node_])
            return stay() + degrees;
        double total = degrees;
        const auto& others = other_side();
        for (std::size_t d = 0; d < network_->directions(); ++d)
            for (auto l = others.first; l < others.end(); ++l) {
                if (!network_->bipartite() && (l == h || l == label_[node_]))
                    continue;
                const auto at = h * slots_ + l;
                total += emission_->cell(edges_[d][at] + seen_edges_[d][l],
                                         exposure_[d][at] + seen_exposure(d, l)) -
                         value_[d][at];
            }
        if (network_->bipartite())
            return total;
        for (std::size_t d = 0; d < network_->directions(); ++d)
            total += own_cell(d, h);
        return total + diagonal(h);
    }

    /// Moves the node that was looked at.
    void move(std::size_t to) {
        const auto from = label_[node_];
        shift(from, -1);
        shift(to, +1);
        relabel(to);
        refresh(from);
        refresh(to);
    }

    /// log p(X | z), without the constants that no partition changes.
    double log_likelihood() const {
        double total = 0.0;
        for (auto k = sides_[0].first; k < sides_[0].end(); ++k)
            for (auto l = first_facing(k); l < facing(k).end(); ++l)
                total += emission_->cell(edges(k, l), exposure(k, l));
        return with_degree_terms(total);
    }

    /// Recounts the sums that moves keep up to date, so that rounding does not build up.
    void rebuild_gains() {
        std::fill(base_.begin(), base_.end(), 0.0);
        std::fill(leave_base_.begin(), leave_base_.end(), 0.0);
        for (std::size_t m = 0; m < network_->directions(); ++m) {
            std::fill(gain_[m].begin(), gain_[m].end(), 0.0);
            std::fill(leave_[m].begin(), leave_[m].end(), 0.0);
        }
        for (std::size_t s = 0; s < n_sides(); ++s)
            for (auto l = sides_[s].first; l < sides_[s].end(); ++l)
                refresh(l);
    }

private:
    template <class Slots> void add_touched(std::size_t d, std::size_t l, const Slots& slots) {
        const auto m = along(d);
        const auto* edges = edges_[m].data() + l * slots_;
        const auto* exposure = exposure_[m].data() + l * slots_;
        const auto* floor = floor_[m].data() + l * slots_;
        const auto* one_edge = one_edge_[m].data() + l * slots_;
        const auto more = seen_edges_[d][l], full = network_->pair_exposure * size_[l];
        if (seen_missing_[d][l] == 0 && more == 1) { // most of what a sparse network has
            for (const auto h : slots)
                score_[h] += one_edge[h];
            return;
        }
        if (seen_missing_[d][l] == 0) {
            for (const auto h : slots)
                score_[h] += h == l ? 0.0 : emission_->top(edges[h], exposure[h] + full, more) - floor[h];
            return;
        }
        const auto seen = seen_exposure(d, l);
        for (const auto h : slots)
            if (h != l)
                score_[h] += emission_->cell(edges[h] + more, exposure[h] + seen) -
                             emission_->cell(edges[h], exposure[h] + full);
    }

    /// Corrects base_ for slot h: the node's own cluster has lost the node, and block (h, h) is its own
    /// dyad set.
    double own_and_diagonal(std::size_t h) const {
        const auto own = label_[node_];
        if (h == own)
            return 0.0;
        double total = diagonal(h);
        for (std::size_t d = 0; d < network_->directions(); ++d)
            total += own_cell(d, h) - gain_[along(d)][own * slots_ + h];
        return total;
    }

    /// Block (h, own cluster) in direction d: first without the node, then with it in h.
    double own_cell(std::size_t d, std::size_t h) const {
        const auto own = label_[node_];
        const auto back = network_->directed ? 1 - d : 0;
        const auto at = h * slots_ + own;
        const auto edges = edges_[d][at] - seen_edges_[back][h];
        const auto exposure = exposure_[d][at] - seen_exposure(back, h);
        return emission_->cell(edges + seen_edges_[d][own], exposure + seen_exposure(d, own)) -
               emission_->cell(edges, exposure);
    }

    double diagonal(std::size_t h) const {
        const auto at = h * slots_ + h;
        const auto more = seen_inside(h);
        return emission_->cell(edges_[0][at] + more.edges, exposure_[0][at] + more.exposure) - value_[0][at];
    }

    /// The score of the node's own cluster: with the node minus without it.
    double stay() const {
        const std::size_t own = label_[node_];
        double total = many_slots_ ? stay_beside_touched() : stay_beside_all();
        if (network_->bipartite())
            return total;
        const auto at = own * slots_ + own;
        const auto less = seen_inside(own);
        return total + value_[0][at] -
               emission_->cell(edges_[0][at] - less.edges, exposure_[0][at] - less.exposure);
    }

    /// The log likelihood of block (own, l), in direction d, with the node minus without it.
    double own_block(std::size_t d, std::size_t l) const {
        const auto at = label_[node_] * slots_ + l;
        return value_[d][at] -
               emission_->cell(edges_[d][at] - seen_edges_[d][l], exposure_[d][at] - seen_exposure(d, l));
    }

    double stay_beside_all() const {
        double total = 0.0;
        const auto& others = other_side();
        for (std::size_t d = 0; d < network_->directions(); ++d)
            for (auto l = others.first; l < others.end(); ++l)
                if (l != label_[node_])
                    total += own_block(d, l);
        return total;
    }

    double stay_beside_touched() const {
        const std::size_t own = label_[node_];
        double total = leave_base_[own];
        for (std::size_t d = 0; d < network_->directions(); ++d)
            for (const auto l : touched_[d])
                if (l != own)
                    total += own_block(d, l) - leave_[along(d)][l * slots_ + own];
        return total;
    }

    /// Brings gain_ and base_ up to date after the blocks or the size of cluster a changed.
    void refresh(std::size_t a) {
        const auto& others = facing(a);
        for (std::size_t m = 0; m < network_->directions(); ++m)
            for (auto b = others.first; b < others.end(); ++b) {
                if (a == b) {
                    value_[m][a * slots_ + a] =
                        emission_->cell(edges_[m][a * slots_ + a], exposure_[m][a * slots_ + a]);
                    continue;
                }
                update_gain(m, a, b);
                update_gain(m, b, a);
            }
    }

    /// gain_[m](l, h): the change of block (h, l) when a node without edges to l joins h.
    void update_gain(std::size_t m, std::size_t l, std::size_t h) {
        const auto at = l * slots_ + h;
        const auto edges = edges_[m][at], exposure = exposure_[m][at];
        const auto full = exposure + network_->pair_exposure * size_[l];
        value_[m][at] = emission_->cell(edges, exposure);
        floor_[m][at] = emission_->floor(edges, full);
        one_edge_[m][at] = emission_->top(edges, full, 1) - floor_[m][at];
        const double gain = emission_->cell(edges, full) - value_[m][at];
        base_[h] += gain - gain_[m][at];
        gain_[m][at] = gain;
        if (many_slots_)
            update_leave(m, l, h);
    }

    /// leave_[m](l, h): the log likelihood of block (h, l) with a node of h that has no edges to l minus
    /// without it; 0 if h can have no such node.
    void update_leave(std::size_t m, std::size_t l, std::size_t h) {
        const auto at = l * slots_ + h;
        const auto rest = exposure_[m][at] - network_->pair_exposure * size_[l];
        const bool possible = rest >= 0 && size_[h] > 0 && emission_->allows(edges_[m][at], rest);
        const double leave = possible ? value_[m][at] - emission_->cell(edges_[m][at], rest) : 0.0;
        leave_base_[h] += leave - leave_[m][at];
        leave_[m][at] = leave;
    }

    void recount() {
        count_nodes();
        count_blocks();
        rebuild_gains();
    }

    static constexpr std::size_t many = 32;

    const Emission* emission_;
    bool many_slots_;
    std::vector<double> value_[2];           // cell(edges, exposure) of each block, laid out like edges_
    std::vector<double> gain_[2], floor_[2]; // what a node without edges to row l adds; see add_touched
    std::vector<double> one_edge_[2];        // what its first edge adds to that; 0 on the diagonal
    std::vector<double> leave_[2];           // kept only if slots are many; see update_leave
    std::vector<double> base_, leave_base_;
};

} // namespace partita::models
