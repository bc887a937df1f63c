// Clusters that repeat between draws, each once. A linear loss is a sum over the clusters of all draws, so
// that one row with the summed coefficient stands for the same set of items in any number of draws, without
// loss.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "draws/draws.hpp"

namespace partita::search {

/// The distinct clusters of some draws, numbered by first appearance.
struct DistinctClusters {
    std::vector<double> coefficients; // of each cluster: the sum over the draws that have it
    std::vector<std::size_t> begin;   // clusters of item i: clusters[begin[i]] .. clusters[begin[i + 1] - 1]
    std::vector<std::uint32_t> clusters; // item after item

    std::size_t size() const { return coefficients.size(); }
    std::span<const std::uint32_t> of_item(std::size_t i) const {
        return std::span(clusters).subspan(begin[i], begin[i + 1] - begin[i]);
    }
};

/// Finds them among the chosen draws, which have no gaps; coefficients[t] belongs to draw chosen[t]. Nothing
/// if an item has more distinct clusters than `max_share` times the draws, on average over items: a first
/// part of the draws mostly tells.
template <class Label>
std::optional<DistinctClusters>
find_distinct_clusters(const Draws<Label>& draws, std::span<const std::uint32_t> chosen,
                       std::span<const double> coefficients, double max_share);

} // namespace partita::search
