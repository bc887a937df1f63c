// Labels of items in a partition, and the sizes of its clusters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace partita {

/// The label of an item that is in no cluster, and the number of a cluster that does not exist.
inline constexpr auto no_cluster = std::numeric_limits<std::uint32_t>::max();

/// The items of a cluster.
inline std::vector<std::uint32_t> members_of(std::span<const std::uint32_t> labels, std::uint32_t cluster) {
    std::vector<std::uint32_t> items;
    for (std::uint32_t i = 0; i < labels.size(); ++i)
        if (labels[i] == cluster)
            items.push_back(i);
    return items;
}

/// The other items of the clusters of two items.
inline std::vector<std::uint32_t> items_with(std::span<const std::uint32_t> labels, std::size_t one,
                                             std::size_t other) {
    std::vector<std::uint32_t> items;
    for (std::uint32_t i = 0; i < labels.size(); ++i)
        if (i != one && i != other && (labels[i] == labels[one] || labels[i] == labels[other]))
            items.push_back(i);
    return items;
}

namespace search {

/// The labels of a state whose clusters are 0..K-1: the last one takes the number of one that is closed.
/// Items may stand for several, which count in the sizes.
class LabelledItems {
public:
    std::uint32_t max_clusters() const { return max_clusters_; }
    std::uint32_t n_clusters() const { return static_cast<std::uint32_t>(sizes_.size()); }
    std::uint32_t size(std::size_t cluster) const { return sizes_[cluster]; }
    std::uint32_t cluster_of(std::size_t i) const { return labels_[i]; }
    const std::vector<std::uint32_t>& labels() const { return labels_; }
    std::vector<std::uint32_t> members(std::uint32_t cluster) const { return members_of(labels_, cluster); }

protected:
    LabelledItems(std::size_t n_items, std::uint32_t max_clusters)
        : max_clusters_(max_clusters), labels_(n_items, no_cluster) {}

    template <class Copies> void take_labels(std::span<const std::uint32_t> labels, Copies copies) {
        if (labels.data() != labels_.data())
            labels_.assign(labels.begin(), labels.end());
        sizes_.clear();
        for (std::size_t i = 0; i < labels_.size(); ++i)
            if (const auto label = labels_[i]; label != no_cluster) {
                if (label >= sizes_.size())
                    sizes_.resize(label + std::size_t{1});
                sizes_[label] += copies(i);
            }
    }

    /// The items of cluster l join cluster k; l is left empty.
    void join(std::uint32_t k, std::uint32_t l) {
        std::replace(labels_.begin(), labels_.end(), l, k);
        sizes_[k] += sizes_[l];
        sizes_[l] = 0;
    }

    /// Drops an empty cluster.
    void drop(std::uint32_t cluster) {
        if (const auto last = n_clusters() - 1; cluster != last) {
            std::replace(labels_.begin(), labels_.end(), last, cluster);
            sizes_[cluster] = sizes_[last];
        }
        sizes_.pop_back();
    }

    std::uint32_t max_clusters_;
    std::vector<std::uint32_t> labels_, sizes_;
};

} // namespace search

} // namespace partita
