// The change of the objective when a node joins a cluster, for each cluster in which it has a neighbour.
//
// A node is a set of items that move together: one item, items that must stay together, or a whole cluster.
// Changes are relative to the node being alone; negative is better. O(neighbours of the node).
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "common/keyed_sums.hpp"
#include "common/work.hpp"
#include "pairs/local.hpp"
#include "pairs/objective.hpp"

namespace partita::pairs {

using common::KeyedSums;

/// The logarithm of a product for each key: one logarithm for many factors.
class LogTally {
public:
    explicit LogTally(std::size_t n_keys) : product_(n_keys, 1.0), logs_(n_keys) {}

    void clear() {
        for (const auto key : logs_.keys())
            product_[key] = 1;
        logs_.clear();
    }
    /// Factors are at least 1, and so few at a time that a product of them is finite between two logarithms.
    void multiply(std::uint32_t key, double factor) {
        product_[key] *= factor;
        if (product_[key] > 1e150) {
            logs_.add(key, std::log2(product_[key]));
            product_[key] = 1;
        } else {
            logs_.add(key, 0);
        }
    }
    double operator[](std::uint32_t key) const { return logs_[key] + std::log2(product_[key]); }
    std::span<const std::uint32_t> keys() const { return logs_.keys(); }

private:
    std::vector<double> product_;
    KeyedSums logs_;
};

/// The neighbours of an item, counted as steps of a search.
template <class Visit> void each_counted(const Local& local, std::uint32_t i, Visit visit) {
    common::count_steps(local.neighbours[i].size());
    local.each_neighbour(i, visit);
}

template <class Objective> class Gains;

template <> class Gains<Threshold> {
public:
    Gains(const Local& local, const Threshold& objective, std::size_t n_clusters)
        : local_(&local), objective_(objective), attraction_(n_clusters) {}

    void reset(std::span<const std::uint32_t>) {}
    void joins(std::span<const std::uint32_t>, std::uint32_t, std::span<const std::uint32_t>) {}
    void leaves(std::span<const std::uint32_t>, std::uint32_t, std::span<const std::uint32_t>) {}

    void look(std::span<const std::uint32_t> node, std::span<const std::uint32_t> labels) {
        attraction_.clear();
        size_ = static_cast<double>(node.size());
        for (const auto i : node)
            each_counted(*local_, i, [&](std::uint32_t j, double probability) {
                if (labels[j] != nothing)
                    attraction_.add(labels[j], objective_.attraction(probability));
            });
    }
    std::span<const std::uint32_t> candidates() const { return attraction_.keys(); }
    double change(std::uint32_t cluster, double cluster_size) const {
        return objective_.repulsion() * size_ * cluster_size - attraction_[cluster];
    }

private:
    const Local* local_;
    Threshold objective_;
    KeyedSums attraction_;
    double size_ = 0;
};

template <> class Gains<LogMass> {
public:
    Gains(const Local& local, const LogMass& objective, std::size_t n_clusters)
        : local_(&local), objective_(objective), mass_(local.n_items(), 1.0), growth_(n_clusters),
          own_(n_clusters), others_(local.n_items()) {}

    /// Masses of the items in their clusters; an item in no cluster has its own mass only.
    void reset(std::span<const std::uint32_t> labels) {
        for (std::uint32_t i = 0; i < labels.size(); ++i) {
            mass_[i] = 1;
            each_counted(*local_, i, [&](std::uint32_t j, double probability) {
                if (labels[i] != nothing && labels[j] == labels[i])
                    mass_[i] += probability;
            });
        }
    }

    /// To be called before the labels of the node change.
    void joins(std::span<const std::uint32_t> node, std::uint32_t cluster,
               std::span<const std::uint32_t> labels) {
        for (const auto i : node)
            each_counted(*local_, i, [&](std::uint32_t j, double probability) {
                if (labels[j] == cluster) {
                    mass_[i] += probability;
                    mass_[j] += probability;
                }
            });
    }

    /// To be called when the labels of the node are `nothing` already.
    void leaves(std::span<const std::uint32_t> node, std::uint32_t cluster,
                std::span<const std::uint32_t> labels) {
        others_.clear();
        for (const auto i : node)
            others_.add(i, 1);
        for (const auto i : node) {
            mass_[i] = 1;
            each_counted(*local_, i, [&](std::uint32_t j, double probability) {
                if (labels[j] == cluster)
                    mass_[j] -= probability;
                else if (others_[j] > 0)
                    mass_[i] += probability;
            });
        }
    }

    void look(std::span<const std::uint32_t> node, std::span<const std::uint32_t> labels) {
        growth_.clear();
        others_.clear();
        size_ = static_cast<double>(node.size());
        for (const auto i : node) {
            own_.clear();
            each_counted(*local_, i, [&](std::uint32_t j, double probability) {
                if (labels[j] != nothing) {
                    own_.add(labels[j], probability);
                    others_.add(j, probability);
                }
            });
            for (const auto k : own_.keys())
                growth_.multiply(k, 1 + own_[k] / mass_[i]);
        }
        for (const auto j : others_.keys())
            growth_.multiply(labels[j], 1 + others_[j] / mass_[j]);
    }
    std::span<const std::uint32_t> candidates() const { return growth_.keys(); }
    double change(std::uint32_t cluster, double cluster_size) const {
        return objective_.of_size(cluster_size + size_) - objective_.of_size(cluster_size) -
               objective_.of_size(size_) - objective_.of_growth(growth_[cluster]);
    }

private:
    const Local* local_;
    LogMass objective_;
    std::vector<double> mass_; // of each item in its cluster, itself included
    LogTally growth_;          // of the masses that grow where the node joins a cluster
    KeyedSums own_, others_;
    double size_ = 0;
};

} // namespace partita::pairs
