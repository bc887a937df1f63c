// A partition of a network's nodes that sums the marks of one node's edges by cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "networks/network.hpp"
#include "networks/node_partition.hpp"

namespace partita::models {

/// Sums of marks are `width_` numbers each, the first the number of edges. Their likelihood belongs
/// to the states that derive from it.
template <class MarkModel> class MarkedPartition : public NodePartition {
public:
    MarkedPartition(const Network& network, const MarkModel& marks, std::size_t capacity_rows,
                    std::size_t capacity_columns)
        : NodePartition(network, false, capacity_rows, capacity_columns), marks_(&marks),
          width_(marks.width()), inside_(width_) {
        for (auto& seen : seen_)
            seen.assign(slots_ * width_, 0.0);
    }

    const MarkModel& marks() const { return *marks_; }
    std::size_t width() const { return width_; }

    /// Sums the marks of a node's edges by cluster. Every score and move that follows is about this node.
    void look(std::size_t node) {
        for (std::size_t d = 0; d < network_->directions(); ++d) {
            for (const auto slot : met_[d])
                std::fill_n(seen_[d].begin() + static_cast<std::ptrdiff_t>(slot * width_), width_, 0.0);
            met_[d].clear();
            network_->each_mark(d, node, [&](std::uint32_t other, double mark) {
                const auto slot = label_[other];
                if (seen(d, slot)[0] == 0.0)
                    met_[d].push_back(slot);
                marks_->add(mark, 1.0, seen_[d].data() + slot * width_);
            });
        }
        node_ = node;
    }

protected:
    const double* seen(std::size_t d, std::size_t slot) const { return seen_[d].data() + slot * width_; }

    /// Adds what the node brings inside cluster h, times `sign`: its edges with the others there, and its
    /// loop.
    void add_inside(std::size_t h, double sign, double* sums) const {
        for (std::size_t d = 0; d < network_->directions(); ++d)
            add(seen(d, h), sign, sums);
        if (network_->loop_edges(node_) > 0)
            marks_->add(network_->loop_mark[node_], sign, sums);
    }

    void add(const double* more, double sign, double* sums) const {
        for (std::size_t at = 0; at < width_; ++at)
            sums[at] += sign * more[at];
    }

    const MarkModel* marks_;
    std::size_t width_;
    std::vector<double> seen_[2];        // by direction: sums of the node's edges with each slot
    std::vector<std::uint32_t> met_[2];  // slots where they are not empty
    mutable std::vector<double> inside_; // scratch
};

} // namespace partita::models
