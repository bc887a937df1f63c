// The clusters of a mixture in the slots of its family, with what a move of an item needs. Slots without a
// cluster are empty; one of them, `open_`, stands for a new cluster.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "common/lanes.hpp"
#include "common/work.hpp"
#include "mixtures/mixture_family.hpp"
#include "mixtures/noise_rows.hpp"
#include "mixtures/partition_prior.hpp"
#include "mixtures/selection.hpp"
#include "mixtures/slots.hpp"
#include "partition/first_appearance.hpp"
#include "partition/labels.hpp"

namespace partita::models {

/// Callers may read; samplers and searches, which derive from it, score, move and weigh.
template <MixtureFamily Family> class ClusterSlots {
public:
    using Table = typename Family::Table;

    std::size_t n_items() const { return n_items_; }
    std::size_t n_clusters() const { return n_clusters_; }
    const Family& family() const { return family_; }

    /// ln p(data, partition | prior).
    double log_density() const {
        double total = prior_.log_v(n_clusters_);
        for (std::size_t slot = 0; slot < used_; ++slot)
            if (family_.size(slot) > 0)
                total += prior_.log_w(family_.size(slot)) + family_.log_marginal(slot);
        if constexpr (requires { table_->log_carrier(); })
            total += table_->log_carrier();
        if constexpr (can_select<Family>)
            total += family_.log_shared();
        if (const auto* noise = noise_rows())
            total += noise->log_density();
        return total;
    }

    /// Labels in order of first appearance; a row of noise is alone.
    void write_labels(std::uint32_t* out) const {
        const auto* noise = noise_rows();
        common::FirstAppearance name(used_ + (noise == nullptr ? 0 : n_items_));
        for (std::size_t i = 0; i < n_items_; ++i)
            *out++ = name(noise != nullptr && noise->contains(i) ? used_ + i : labels_[i]);
    }

protected:
    static constexpr std::uint32_t unassigned = std::numeric_limits<std::uint32_t>::max();
    static constexpr double never = -std::numeric_limits<double>::infinity();
    /// ln of a probability below the resolution of uniform numbers with 53 bits, e^-36.7.
    static constexpr double negligible = -45.0;

    /// Without a cluster, until the items are set.
    ClusterSlots(std::shared_ptr<const Table> table, Family family, PartitionPriorSettings prior)
        : table_(std::move(table)), n_items_(table_->n_items()), family_(std::move(family)),
          prior_(std::move(prior), n_items_), labels_(n_items_, unassigned), all_items_(n_items_) {
        std::iota(all_items_.begin(), all_items_.end(), 0u);
        widen(common::lanes);
    }

    auto item(std::size_t i) const { return table_->item(i); }

    NoiseRows* noise_rows() const {
        if constexpr (MayHaveNoise<Family>)
            return family_.noise();
        return nullptr;
    }

    void set_labels(std::span<const std::uint32_t> labels) {
        labels_.assign(labels.begin(), labels.end());
        const auto highest = *std::max_element(labels_.begin(), labels_.end());
        if (highest + 2 > weights_.size())
            widen(common::round_to_lanes(highest + 2));
        used_ = weights_.size();
        refresh();
        n_clusters_ = 0;
        for (std::size_t slot = 0; slot < weights_.size(); ++slot)
            n_clusters_ += family_.size(slot) > 0, weigh(slot);
        choose_open();
    }

    /// The log weight of every slot for item i in `scores_`; for one that is alone, the open slot stands for
    /// its own. False if it lies so far from the rest of its cluster that a downdate would be mostly
    /// rounding: it is to be taken out then, and scored as a newcomer.
    /// Slots below that of its own cluster by more than -depth may be left out, at -infinity.
    bool score(std::size_t i, double depth = never) {
        const std::size_t own = labels_[i];
        const auto n_own = family_.size(own);
        common::count_steps(used_);
        std::copy_n(weights_.begin(), used_, scores_.begin());
        scores_[own] = n_own > 1 ? prior_.log_join(n_own - 1) : never;
        if (n_own == 1)
            scores_[open_] = prior_.log_open(n_clusters_ - 1);
        if constexpr (requires { family_.score_above(item(i), own, used_, depth, nullptr); })
            family_.score_above(item(i), own, used_, depth, scores_.data());
        else
            family_.score(item(i), own, used_, scores_.data());
        return n_own == 1 || family_.own_ratio(own) >= min_own_ratio;
    }

    /// The same for an item without a cluster.
    void score_newcomer(std::size_t i) {
        common::count_steps(used_);
        std::copy_n(weights_.begin(), used_, scores_.begin());
        family_.score(item(i), no_slot, used_, scores_.data());
    }

    void move(std::size_t i, std::size_t target) {
        const std::size_t own = labels_[i];
        const auto n_own = family_.size(own);
        if (target == own || (n_own == 1 && target == open_))
            return;
        family_.remove(own, item(i));
        const bool opened = target == open_;
        place(i, target);
        if (n_own == 1)
            --n_clusters_;
        weigh(own);
        if (n_own == 1 || opened)
            choose_open();
    }

    /// An item without a cluster joins one, or opens one.
    void join(std::size_t i, std::size_t target) {
        const bool opened = target == open_;
        place(i, target);
        if (opened)
            choose_open();
    }

    /// Takes an item out whose cluster need not be recomputed.
    void leave(std::size_t i) {
        const auto own = labels_[i];
        family_.remove(own, item(i));
        labels_[i] = unassigned;
        weigh(own);
        if (family_.size(own) == 0)
            --n_clusters_, choose_open();
    }

    /// Takes an item out by recomputing its cluster.
    void take_out(std::size_t i) {
        const auto own = labels_[i];
        labels_[i] = unassigned;
        common::count_steps(n_items_);
        const auto rest = members_of(labels_, own);
        zeros_.assign(rest.size(), 0u);
        summaries_.compute(family_, *table_, rest, zeros_, 1);
        summaries_.assign_to(family_, own, 0);
        weigh(own);
    }

    void weigh(std::size_t slot) {
        weights_[slot] = family_.size(slot) > 0 ? prior_.log_join(family_.size(slot)) : never;
    }
    void weigh_open() { weights_[open_] = prior_.log_open(n_clusters_); }

    /// The first empty slot stands for a new cluster; the slots after the last one in use are not scored.
    void choose_open() {
        std::size_t first_empty = no_slot, last = 0;
        for (std::size_t slot = 0; slot < weights_.size(); ++slot) {
            if (family_.size(slot) > 0)
                last = slot;
            else if (first_empty == no_slot)
                first_empty = slot;
        }
        if (first_empty == no_slot) {
            first_empty = weights_.size();
            widen(2 * weights_.size());
        }
        if (family_.size(open_) == 0)
            weights_[open_] = never;
        open_ = first_empty;
        used_ = common::round_to_lanes(std::max(last, open_) + 1);
        weigh_open();
    }

    /// Splits a cluster as was proposed.
    template <class SplitMerge> void apply_split(SplitMerge& proposal, std::uint32_t slot) {
        const auto fresh = static_cast<std::uint32_t>(open_);
        proposal.apply_split(family_, labels_, fresh, slot);
        ++n_clusters_;
        weigh(fresh);
        weigh(slot);
        choose_open();
    }

    void widen(std::size_t stride) {
        family_.widen(stride);
        weights_.resize(stride, never), scores_.resize(stride, never);
    }

    void summarise() {
        common::count_steps(n_items_);
        summaries_.compute(family_, *table_, all_items_, labels_, used_);
    }

    void assign_all() {
        for (std::size_t slot = 0; slot < used_; ++slot)
            summaries_.assign_to(family_, slot, slot);
        for (std::size_t slot = used_; slot < weights_.size(); ++slot)
            family_.clear(slot);
    }

    /// Every cluster from its items, so that rounding does not add up.
    void refresh() {
        summarise();
        assign_all();
    }

    std::shared_ptr<const Table> table_;
    std::size_t n_items_;
    Family family_;
    PartitionPrior prior_;
    std::vector<std::uint32_t> labels_; // slot of each item
    std::vector<std::uint32_t> all_items_;
    std::vector<double> weights_,
        scores_; // ln prior weight of joining each slot; -infinity if there is nothing to join
    std::size_t n_clusters_ = 0, used_ = common::lanes, open_ = 0;
    typename Family::Summaries summaries_;

private:
    void place(std::size_t i, std::size_t target) {
        family_.insert(target, item(i));
        labels_[i] = static_cast<std::uint32_t>(target);
        if (family_.size(target) == 1)
            ++n_clusters_;
        weigh(target);
    }

    std::vector<std::uint32_t> zeros_;
};

} // namespace partita::models
