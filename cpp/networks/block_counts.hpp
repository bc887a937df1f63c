// A partition of a network's nodes with the counts of its blocks. The likelihood of these counts belongs to
// the states that derive from it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "networks/network.hpp"
#include "networks/node_partition.hpp"

namespace partita::models {

/// Block (k, l) holds its edges and its exposure (the number of observed dyads).
class BlockCounts : public NodePartition {
public:
    BlockCounts(const Network& network, bool degree_corrected, std::size_t capacity_rows,
                std::size_t capacity_columns)
        : NodePartition(network, degree_corrected, capacity_rows, capacity_columns) {
        for (std::size_t d = 0; d < network.directions(); ++d) {
            edges_[d].assign(slots_ * slots_, 0);
            exposure_[d].assign(slots_ * slots_, 0);
        }
    }

    std::int64_t edges(std::size_t k, std::size_t l) const { return edges_[0][k * slots_ + l]; }
    std::int64_t exposure(std::size_t k, std::size_t l) const { return exposure_[0][k * slots_ + l]; }

protected:
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

    /// Exchanges the names of two clusters of a side.
    void swap_counts(std::size_t a, std::size_t b) {
        for (std::size_t d = 0; d < network_->directions(); ++d) {
            swap_rows_and_columns(edges_[d], a, b);
            swap_rows_and_columns(exposure_[d], a, b);
        }
        swap_names(a, b);
    }

    /// Adds (sign +1) or takes (−1) the node's dyads to or from cluster k.
    void shift(std::size_t k, std::int64_t sign) {
        const auto& others = other_side();
        for (std::size_t d = 0; d < network_->directions(); ++d)
            for (auto l = others.first; l < others.end(); ++l)
                change(d, k, l, sign * seen_edges_[d][l], sign * seen_exposure(d, l));
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

    /// All blocks afresh.
    void count_blocks() {
        for (std::size_t d = 0; d < network_->directions(); ++d) {
            std::fill(edges_[d].begin(), edges_[d].end(), 0);
            std::fill(exposure_[d].begin(), exposure_[d].end(), 0);
        }
        count_pairs();
        each_dyad(*network_, [&](std::size_t i, std::size_t j, const Dyads& dyads) {
            change(0, label_[i], label_[j], dyads.edges, dyads.exposure);
        });
    }

    // [0](k, l) is the block from k to l; [1](k, l), of directed networks, the block from l to k
    std::vector<std::int64_t> edges_[2], exposure_[2];

private:
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
};

} // namespace partita::models
