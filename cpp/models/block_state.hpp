// A partition of a network's nodes with the counts of its blocks. Look at a node, score every cluster, move
// it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "log_gamma.hpp"
#include "network.hpp"

namespace partita {

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
    return log_gamma(n) - log_gamma(n + d) + d * std::log(n);
}

/// Block (k, l) holds its edges and its exposure (the number of observed dyads). All scores are changes of
/// log p(X | z); the prior of the partition belongs to the search and to the sampler.
///
/// The trick of speed: a node with no edge to cluster l still adds |l| empty dyads to block (h, l) when it
/// joins h. What that costs does not depend on the node, so it is kept, summed over l, in `base_`; a node
/// then pays only for the clusters that it has edges with, for its own cluster, and for the diagonal.
template <class Emission> class BlockState {
public:
    BlockState(const Network& network, const Emission& emission, bool degree_corrected,
               std::size_t capacity_rows, std::size_t capacity_columns = 0)
        : network_(&network), emission_(&emission), degree_corrected_(degree_corrected),
          slots_(capacity_rows + capacity_columns), label_(network.n_nodes), size_(slots_), base_(slots_),
          score_(slots_) {
        sides_[0] = {0, 0, capacity_rows};
        sides_[1] = {capacity_rows, 0, capacity_columns};
        for (std::size_t d = 0; d < network.directions(); ++d) {
            edges_[d].assign(slots_ * slots_, 0);
            exposure_[d].assign(slots_ * slots_, 0);
            gain_[d].assign(slots_ * slots_, 0.0);
            value_[d].assign(slots_ * slots_, 0.0);
            floor_[d].assign(slots_ * slots_, 0.0);
            degree_[d].assign(slots_, 0);
            seen_edges_[d].assign(slots_, 0);
            seen_missing_[d].assign(slots_, 0);
        }
    }

    const Network& network() const { return *network_; }
    std::size_t slots() const { return slots_; }
    std::size_t n_sides() const { return network_->bipartite() ? 2 : 1; }
    const Side& side(std::size_t s) const { return sides_[s]; }
    std::span<const std::uint32_t> labels() const { return label_; }
    std::uint32_t label(std::size_t node) const { return label_[node]; }
    std::int64_t size(std::size_t slot) const { return size_[slot]; }
    std::int64_t edges(std::size_t k, std::size_t l) const { return edges_[0][k * slots_ + l]; }
    std::int64_t exposure(std::size_t k, std::size_t l) const { return exposure_[0][k * slots_ + l]; }
    std::int64_t degree(std::size_t d, std::size_t slot) const { return degree_[d][slot]; }
    bool degree_corrected() const { return degree_corrected_; }
    const Emission& emission() const { return *emission_; }

    std::size_t filled(std::size_t s) const {
        std::size_t count = 0;
        for (auto k = sides_[s].first; k < sides_[s].end(); ++k)
            count += size_[k] > 0;
        return count;
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
            swap_rows_and_columns(edges_[d], a, b);
            swap_rows_and_columns(exposure_[d], a, b);
            swap_rows_and_columns(gain_[d], a, b);
            swap_rows_and_columns(value_[d], a, b);
            swap_rows_and_columns(floor_[d], a, b);
            std::swap(degree_[d][a], degree_[d][b]);
        }
        std::swap(size_[a], size_[b]);
        std::swap(base_[a], base_[b]);
        for (auto& label : label_)
            label = label == a   ? static_cast<std::uint32_t>(b)
                    : label == b ? static_cast<std::uint32_t>(a)
                                 : label;
        forget();
    }

    /// Takes labels (slots of the node's side) and counts everything afresh.
    void assign(std::span<const std::uint32_t> labels, std::size_t used_rows, std::size_t used_columns = 0) {
        label_.assign(labels.begin(), labels.end());
        sides_[0].used = used_rows;
        sides_[1].used = used_columns;
        recount();
    }

    /// Renumbers the filled clusters of every side from its first slot on and keeps `spare` empty slots after
    /// them.
    void compact(std::size_t spare) {
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
        recount();
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
            // a loop is one edge out and one in; in an undirected network it has both ends here
            seen_degree_[d] += network_->loop_edges(node) * (network_->directed ? 1 : 2);
        }
    }

    /// For each slot of the node's side: log p(X | node in the slot) − log p(X without the node's dyads).
    std::span<const double> score() {
        const auto own = label_[node_];
        const auto& side = sides_[network_->side(node_)];
        for (auto h = side.first; h < side.end(); ++h)
            score_[h] = base_[h];
        for (std::size_t d = 0; d < network_->directions(); ++d)
            for (const auto l : touched_[d])
                if (network_->bipartite() || l != own)
                    add_touched(d, l, side);
        if (!network_->bipartite())
            for (auto h = side.first; h < side.end(); ++h)
                score_[h] += own_and_diagonal(h);
        score_[own] = stay();
        if (degree_corrected_)
            for (auto h = side.first; h < side.end(); ++h)
                score_[h] += degree_gain(h);
        return std::span<const double>(score_);
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
        size_[from] -= 1;
        shift(from, -1);
        shift(to, +1);
        size_[to] += 1;
        label_[node_] = static_cast<std::uint32_t>(to);
        refresh(from);
        refresh(to);
    }

    /// log p(X | z), without the constants that no partition changes.
    double log_likelihood() const {
        double total = 0.0;
        for (auto k = sides_[0].first; k < sides_[0].end(); ++k)
            for (auto l = first_facing(k); l < facing(k).end(); ++l)
                total += emission_->cell(edges(k, l), exposure(k, l));
        if (degree_corrected_)
            for (std::size_t d = 0; d < network_->directions(); ++d)
                for (std::size_t k = 0; k < slots_; ++k)
                    total += degree_term(size_[k], degree_[d][k]);
        return total;
    }

    /// Recounts the sums that moves keep up to date, so that rounding does not build up.
    void rebuild_gains() {
        std::fill(base_.begin(), base_.end(), 0.0);
        for (std::size_t m = 0; m < network_->directions(); ++m)
            std::fill(gain_[m].begin(), gain_[m].end(), 0.0);
        for (std::size_t s = 0; s < n_sides(); ++s)
            for (auto l = sides_[s].first; l < sides_[s].end(); ++l)
                refresh(l);
    }

private:
    const Side& other_side() const { return sides_[network_->bipartite() ? 1 - network_->side(node_) : 0]; }
    const Side& facing(std::size_t slot) const {
        return sides_[network_->bipartite() ? (slot < sides_[1].first ? 1 : 0) : 0];
    }
    /// The first l so that blocks (k, l), (k, l + 1), ... of rows k = 0, 1, ... are all blocks, each once.
    std::size_t first_facing(std::size_t k) const {
        return network_->bipartite() || network_->directed ? facing(k).first : k;
    }
    /// The matrix whose row l lists block (h, l) of direction d over h.
    std::size_t along(std::size_t d) const { return network_->directed ? 1 - d : 0; }

    template <class T> void swap_rows_and_columns(std::vector<T>& matrix, std::size_t a, std::size_t b) {
        for (std::size_t l = 0; l < slots_; ++l)
            std::swap(matrix[a * slots_ + l], matrix[b * slots_ + l]);
        for (std::size_t l = 0; l < slots_; ++l)
            std::swap(matrix[l * slots_ + a], matrix[l * slots_ + b]);
    }

    void touch(std::size_t d, std::uint32_t slot) {
        if (seen_edges_[d][slot] == 0 && seen_missing_[d][slot] == 0)
            touched_[d].push_back(slot);
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

    void add_touched(std::size_t d, std::size_t l, const Side& side) {
        const auto m = along(d);
        const auto* edges = edges_[m].data() + l * slots_;
        const auto* exposure = exposure_[m].data() + l * slots_;
        const auto* floor = floor_[m].data() + l * slots_;
        const auto more = seen_edges_[d][l], full = network_->pair_exposure * size_[l];
        if (seen_missing_[d][l] == 0) {
            for (auto h = side.first; h < side.end(); ++h)
                score_[h] += h == l ? 0.0 : emission_->top(edges[h], exposure[h] + full, more) - floor[h];
            return;
        }
        const auto seen = seen_exposure(d, l);
        for (auto h = side.first; h < side.end(); ++h)
            if (h != l)
                score_[h] += emission_->cell(edges[h] + more, exposure[h] + seen) -
                             emission_->cell(edges[h], exposure[h] + full);
    }

    /// What base_ got wrong for slot h: the node's own cluster has lost the node, and block (h, h) is its own
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

    std::int64_t diagonal_edges(std::size_t h) const {
        return seen_edges_[0][h] + (network_->directed ? seen_edges_[1][h] : 0) + network_->loop_edges(node_);
    }
    std::int64_t diagonal_exposure(std::size_t h) const {
        return seen_exposure(0, h) + (network_->directed ? seen_exposure(1, h) : 0) +
               network_->loop_dyad(node_);
    }

    double diagonal(std::size_t h) const {
        const auto at = h * slots_ + h;
        return emission_->cell(edges_[0][at] + diagonal_edges(h), exposure_[0][at] + diagonal_exposure(h)) -
               value_[0][at];
    }

    /// The score of the node's own cluster: with it, against without it.
    double stay() const {
        const std::size_t own = label_[node_];
        double total = 0.0;
        const auto& others = other_side();
        for (std::size_t d = 0; d < network_->directions(); ++d)
            for (auto l = others.first; l < others.end(); ++l) {
                if (l == own)
                    continue;
                const auto at = own * slots_ + l;
                total += value_[d][at] - emission_->cell(edges_[d][at] - seen_edges_[d][l],
                                                         exposure_[d][at] - seen_exposure(d, l));
            }
        if (network_->bipartite())
            return total;
        const auto at = own * slots_ + own;
        return total + value_[0][at] -
               emission_->cell(edges_[0][at] - diagonal_edges(own),
                               exposure_[0][at] - diagonal_exposure(own));
    }

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

    /// Adds (sign +1) or takes (−1) the node's dyads to or from cluster k; the sizes do not count the node.
    void shift(std::size_t k, std::int64_t sign) {
        const auto& others = other_side();
        for (std::size_t d = 0; d < network_->directions(); ++d) {
            for (auto l = others.first; l < others.end(); ++l) {
                const auto edges = sign * seen_edges_[d][l];
                const auto exposure = sign * network_->pair_exposure * (size_[l] - seen_missing_[d][l]);
                change(d, k, l, edges, exposure);
            }
            degree_[d][k] += sign * seen_degree_[d];
        }
        if (!network_->bipartite())
            change(0, k, k, sign * network_->loop_edges(node_), sign * network_->loop_dyad(node_));
    }

    /// Changes block (k, l), seen from k in direction d, in every place that holds it.
    void change(std::size_t d, std::size_t k, std::size_t l, std::int64_t edges, std::int64_t exposure) {
        edges_[d][k * slots_ + l] += edges;
        exposure_[d][k * slots_ + l] += exposure;
        if (!network_->directed && k == l)
            return;
        const auto mirror = network_->directed ? 1 - d : 0;
        edges_[mirror][l * slots_ + k] += edges;
        exposure_[mirror][l * slots_ + k] += exposure;
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
        const double gain = emission_->cell(edges, full) - value_[m][at];
        base_[h] += gain - gain_[m][at];
        gain_[m][at] = gain;
    }

    void recount() {
        forget();
        std::fill(size_.begin(), size_.end(), 0);
        for (std::size_t d = 0; d < network_->directions(); ++d) {
            std::fill(edges_[d].begin(), edges_[d].end(), 0);
            std::fill(exposure_[d].begin(), exposure_[d].end(), 0);
            std::fill(degree_[d].begin(), degree_[d].end(), 0);
        }
        for (const auto label : label_)
            size_[label] += 1;
        count_pairs();
        for (std::size_t i = 0; i < network_->n_nodes; ++i)
            count_node(i);
        rebuild_gains();
    }

    /// Exposure of complete blocks.
    void count_pairs() {
        for (std::size_t s = 0; s < n_sides(); ++s)
            for (auto k = sides_[s].first; k < sides_[s].end(); ++k)
                for (auto l = facing(k).first; l < facing(k).end(); ++l)
                    for (std::size_t d = 0; d < network_->directions(); ++d) {
                        auto pairs = size_[k] * (size_[l] - (k == l ? 1 : 0));
                        if (k == l && !network_->directed)
                            pairs /= 2;
                        exposure_[d][k * slots_ + l] = network_->pair_exposure * pairs;
                    }
    }

    void count_node(std::size_t i) {
        const auto k = label_[i];
        // an undirected network holds every edge twice: each end counts its own row, and the diagonal counts
        // half
        const auto once = [&](std::uint32_t other) {
            return network_->directed || label_[other] != k || i < other;
        };
        network_->edges[0].each(i, [&](std::uint32_t other, std::int64_t count) {
            if (once(other))
                count_dyad(k, label_[other], count, 0);
            degree_[0][k] += count;
            if (network_->directed)
                degree_[1][label_[other]] += count;
        });
        if (!network_->missing[0].empty())
            network_->missing[0].each(i, [&](std::uint32_t other, std::int64_t) {
                if (once(other))
                    count_dyad(k, label_[other], 0, -network_->pair_exposure);
            });
        if (!network_->bipartite())
            count_dyad(k, k, network_->loop_edges(i), network_->loop_dyad(i));
        for (std::size_t d = 0; d < network_->directions(); ++d)
            degree_[d][k] += network_->loop_edges(i) * (network_->directed ? 1 : 2);
    }

    void count_dyad(std::size_t k, std::size_t l, std::int64_t edges, std::int64_t exposure) {
        edges_[0][k * slots_ + l] += edges;
        exposure_[0][k * slots_ + l] += exposure;
        if (network_->directed) {
            edges_[1][l * slots_ + k] += edges;
            exposure_[1][l * slots_ + k] += exposure;
        }
    }

    const Network* network_;
    const Emission* emission_;
    bool degree_corrected_;
    std::size_t slots_;
    Side sides_[2];
    std::vector<std::uint32_t> label_;
    std::vector<std::int64_t> size_;
    // [0](k, l) is the block from k to l; [1](k, l), of directed networks, the block from l to k
    std::vector<std::int64_t> edges_[2], exposure_[2];
    std::vector<double> value_[2];           // cell(edges, exposure) of the same blocks
    std::vector<double> gain_[2], floor_[2]; // what a node without edges to row l adds; see add_touched
    std::vector<std::int64_t> degree_[2];
    std::vector<double> base_, score_;

    std::size_t node_ = 0;
    std::vector<std::int64_t> seen_edges_[2], seen_missing_[2];
    std::vector<std::uint32_t> touched_[2];
    std::int64_t seen_degree_[2] = {0, 0};
};

} // namespace partita
