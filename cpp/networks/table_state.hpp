// The columns of a table of the nodes, as one layer beside their networks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/lanes.hpp"
#include "mixtures/families/product.hpp"
#include "mixtures/slots.hpp"
#include "networks/merging_clusters.hpp"
#include "networks/network.hpp"
#include "networks/node_partition.hpp"

namespace partita::models {

/// A row of cells for each node, and the families of its columns.
struct NodeTable {
    std::shared_ptr<const ProductTable> table;
    Product family;
};

class TableMerges;

/// log p(X | z): the log marginal likelihood of the rows of each cluster, summed. The family has a slot more
/// than the partition, without items: slot 0 scores a row by the prior alone.
class TableState : public CountedState<TableState, NodePartition> {
    friend CountedState;

public:
    using Emission = NodeTable;
    using Merges = TableMerges;

    TableState(const Network& network, const NodeTable& table, bool, std::size_t capacity, std::size_t = 0)
        : CountedState(network, false, capacity, 0), table_(table.table.get()), family_(table.family),
          value_(common::round_to_lanes(capacity + 1)) {
        family_.widen(value_.size());
    }

    const ProductTable& table() const { return *table_; }
    const Product& family() const { return family_; }

    void look(std::size_t node) {
        node_ = node;
        const std::size_t own = label_[node] + 1;
        score_slots(own);
        outlying_ = family_.size(own) > 1 && family_.own_ratio(own) < min_own_ratio;
        if (outlying_) { // to take its row out of the sums would leave rounding
            recompute(own - 1, node);
            score_slots(no_slot);
            family_.insert(own, table_->item(node));
        }
        if (family_.size(own) == 1)
            value_[own] = value_[0];
    }

    void swap_slots(std::size_t a, std::size_t b) {
        if (a == b)
            return;
        swap_names(a, b);
        recount();
    }

    void move(std::size_t to) {
        const auto from = label_[node_];
        relabel(to);
        if (outlying_)
            recompute(from, node_);
        else
            family_.remove(from + 1, table_->item(node_));
        family_.insert(to + 1, table_->item(node_));
    }

    double log_likelihood() const {
        double total = table_->log_carrier();
        for (std::size_t h = 0; h < slots_; ++h)
            if (size_[h] > 0)
                total += family_.log_marginal(h + 1);
        return total;
    }

    /// Afresh, so that rounding does not build up.
    void rebuild_gains() { recount(); }

private:
    auto score_of_slot() const {
        return [this](std::size_t h) { return value_[h + 1]; };
    }

    void score_slots(std::size_t own) {
        const auto slots = common::round_to_lanes(sides_[0].used + 1);
        std::fill_n(value_.begin(), slots, 0.0);
        family_.score(table_->item(node_), own, slots, value_.data());
    }

    /// The sums of a cluster from its rows, without that of one node.
    void recompute(std::size_t h, std::size_t without) {
        std::vector<std::uint32_t> rest;
        for (std::uint32_t i = 0; i < label_.size(); ++i)
            if (label_[i] == h && i != without)
                rest.push_back(i);
        summaries_.compute(family_, *table_, rest, std::vector<std::uint32_t>(rest.size(), 0u), 1);
        summaries_.assign_to(family_, h + 1, 0);
    }

    void recount() {
        count_nodes();
        summaries_.compute(family_, *table_, all_places(label_.size()), label_, slots_);
        for (std::size_t h = 0; h < slots_; ++h)
            summaries_.assign_to(family_, h + 1, h);
    }

    const ProductTable* table_;
    Product family_;
    Product::Summaries summaries_;
    std::vector<double> value_; // of the node that was looked at, by slot of the family
    bool outlying_ = false;
};

/// Clusters are merged by their summaries; the rows are read once.
class TableMerges {
public:
    TableMerges(const TableState& state, const MergingClusters& clusters)
        : clusters_(clusters), family_(state.family()), n_(clusters.slot.size()), gain_(n_ * n_) {
        std::vector<std::uint32_t> place(state.slots()), labels;
        for (std::uint32_t a = 0; a < n_; ++a)
            place[clusters.slot[a]] = a;
        for (const auto label : state.labels())
            labels.push_back(place[label]);
        family_.widen(common::lanes);
        summaries_.compute(family_, state.table(), all_places(labels.size()), labels, n_ + 1);
        for (std::size_t a = 0; a < n_; ++a)
            value_.push_back(value(a));
        for (std::size_t a = 0; a < n_; ++a)
            for (std::size_t b = 0; b < a; ++b)
                score(a, b);
    }

    double change(std::size_t a, std::size_t b) const { return gain_[a * n_ + b]; }

    /// Cluster g has gone into cluster h. Those that went before have their rows still, which are in others
    /// too.
    void merge(std::size_t g, std::size_t h) {
        summaries_.join(h, g, h);
        value_[h] = value(h);
        for (std::size_t other = 0; other < n_; ++other)
            if (other != h && clusters_.alive[other])
                score(h, other);
    }

private:
    double value(std::size_t a) {
        summaries_.assign_to(family_, 0, a);
        return family_.log_marginal(0);
    }

    void score(std::size_t a, std::size_t b) {
        summaries_.join(a, b, n_);
        gain_[a * n_ + b] = gain_[b * n_ + a] = value(n_) - value_[a] - value_[b];
    }

    const MergingClusters& clusters_;
    Product family_;
    Product::Summaries summaries_; // the last one is for a pair
    std::size_t n_;
    std::vector<double> value_, gain_;
};

} // namespace partita::models
