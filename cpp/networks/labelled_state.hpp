// Blocks that each have a prior of their own: clusters have names, and are not exchangeable.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/log_gamma.hpp"
#include "networks/block_counts.hpp"
#include "networks/network.hpp"

namespace partita::models {

/// The prior of each block (k, l) of K clusters: Beta(first, second) of edge probabilities, or Gamma(first,
/// second) of rates. `unit` is the exposure of one dyad over its count, as in PoissonBlocks.
class LabelledBlocks {
public:
    LabelledBlocks(bool counts, std::size_t n_clusters, std::vector<double> first, std::vector<double> second,
                   double unit)
        : n_clusters(n_clusters), counts_(counts), first_(std::move(first)), second_(std::move(second)),
          unit_(unit), constant_(first_.size()) {
        for (std::size_t at = 0; at < constant_.size(); ++at)
            constant_[at] = counts_ ? first_[at] * std::log(second_[at]) - common::log_gamma(first_[at])
                                    : common::log_gamma(first_[at] + second_[at]) -
                                          common::log_gamma(first_[at]) - common::log_gamma(second_[at]);
    }

    /// The log marginal likelihood of block k * K + l, its parameter integrated out.
    double cell(std::size_t at, const Dyads& dyads) const {
        if (dyads.exposure == 0 && dyads.edges == 0)
            return 0.0;
        const auto edges = static_cast<double>(dyads.edges), exposure = static_cast<double>(dyads.exposure);
        if (counts_)
            return constant_[at] + common::log_gamma(first_[at] + edges) -
                   (first_[at] + edges) * std::log(second_[at] + unit_ * exposure);
        return constant_[at] + common::log_gamma(first_[at] + edges) +
               common::log_gamma(second_[at] + exposure - edges) -
               common::log_gamma(first_[at] + second_[at] + exposure);
    }

    const std::size_t n_clusters;

private:
    bool counts_;
    std::vector<double> first_, second_;
    double unit_;
    std::vector<double> constant_;
};

/// Labels of a network of one kind of node under LabelledBlocks. look(node) and remove(), then score(h) of
/// any cluster, then insert(h). Blocks hold whole numbers, so nothing drifts.
class LabelledState : public BlockCounts {
public:
    LabelledState(const Network& network, const LabelledBlocks& blocks, bool degree_corrected)
        : BlockCounts(network, degree_corrected, blocks.n_clusters, 0), blocks_(&blocks),
          value_(slots_ * slots_) {}

    void assign(std::span<const std::uint32_t> labels) {
        take_labels(labels, slots_, 0);
        count_nodes();
        count_blocks();
        for (std::size_t k = 0; k < slots_; ++k)
            refresh(k);
    }

    /// Takes the dyads of the node that was looked at out of their blocks.
    void remove() { shift_and_refresh(label_[node_], -1); }

    /// log p(X | node in h) − log p(X without the node's dyads), after remove().
    double score(std::size_t h) const {
        double total = degree_corrected_ ? degree_gain(h) : 0.0;
        for (std::size_t d = 0; d < network_->directions(); ++d)
            for (std::size_t l = 0; l < slots_; ++l)
                if (l != h) {
                    const auto at = d == 0 ? h * slots_ + l : l * slots_ + h;
                    total += value_with(at, {seen_edges_[d][l], seen_exposure(d, l)}) - value_[at];
                }
        const auto at = h * slots_ + h;
        return total + value_with(at, seen_inside(h)) - value_[at];
    }

    /// Puts the node that was removed into h.
    void insert(std::size_t h) {
        shift_and_refresh(h, +1);
        relabel(h);
    }

    double log_likelihood() const {
        double total = 0.0;
        for (std::size_t k = 0; k < slots_; ++k)
            for (std::size_t l = network_->directed ? 0 : k; l < slots_; ++l)
                total += value_[k * slots_ + l];
        return with_degree_terms(total);
    }

private:
    double value_with(std::size_t at, const Dyads& more) const {
        return blocks_->cell(at, Dyads{edges_[0][at], exposure_[0][at]} + more);
    }

    void shift_and_refresh(std::size_t h, std::int64_t sign) {
        shift(h, sign);
        refresh(h);
    }
    void refresh(std::size_t k) {
        for (std::size_t l = 0; l < slots_; ++l)
            for (const auto at : {k * slots_ + l, l * slots_ + k})
                value_[at] = value_with(at, {});
    }

    const LabelledBlocks* blocks_;
    std::vector<double> value_; // of block (k, l)
};

} // namespace partita::models
