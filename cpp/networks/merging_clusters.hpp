// The filled clusters of a state, numbered 0, 1, ... in the order of their slots, as merges leave them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "networks/node_partition.hpp"

namespace partita::models {

struct MergingClusters {
    std::vector<std::uint32_t> slot;
    std::vector<std::size_t> side;
    std::vector<std::int64_t> nodes;
    std::vector<bool> alive;

    bool may_merge(std::size_t a, std::size_t b) const { return alive[a] && alive[b] && side[a] == side[b]; }
};

/// The degrees of the clusters and what they change; nothing unless the model corrects for them.
class MergingDegrees {
public:
    MergingDegrees(const NodePartition& state, const MergingClusters& clusters) : clusters_(clusters) {
        for (std::size_t d = 0; state.degree_corrected() && d < state.network().directions(); ++d)
            for (const auto slot : clusters.slot)
                degree_[d].push_back(state.degree(d, slot));
    }

    /// The change when a and b become one, from that of everything else.
    double added_to(double change, std::size_t a, std::size_t b) const {
        const auto& nodes = clusters_.nodes;
        for (const auto& degree : degree_)
            if (!degree.empty())
                change += degree_term(nodes[a] + nodes[b], degree[a] + degree[b]) -
                          degree_term(nodes[a], degree[a]) - degree_term(nodes[b], degree[b]);
        return change;
    }

    void merge(std::size_t g, std::size_t h) {
        for (auto& degree : degree_)
            if (!degree.empty())
                degree[h] += degree[g];
    }

private:
    const MergingClusters& clusters_;
    std::vector<std::int64_t> degree_[2]; // by direction
};

} // namespace partita::models
