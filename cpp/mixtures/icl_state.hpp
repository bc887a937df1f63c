// The exact ICL of a partition of a table's rows, as climbs raise it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "common/random.hpp"
#include "mcmc/split_merge.hpp"
#include "mixtures/cluster_slots.hpp"
#include "mixtures/greedy_merges.hpp"
#include "partition/climb.hpp"
#include "partition/policy.hpp"

namespace partita::models {

/// The items of a mixture, the prior of their clusters and of the partition, as every climb begins with them.
/// The prior is that of Dirichlet proportions of K clusters, none of them empty.
template <MixtureFamily Family> struct MixtureView {
    std::shared_ptr<const typename Family::Table> table;
    Family family; // without clusters
    PartitionPriorSettings prior;
};

/// A place is a slot of the family; the open one stands for a new cluster, and for that of an item which is
/// alone.
template <MixtureFamily Family> class MixtureIcl : public ClusterSlots<Family> {
public:
    using Slots = ClusterSlots<Family>;
    using Slots::n_clusters, Slots::log_density;

    MixtureIcl(const MixtureView<Family>& view, std::span<const std::uint32_t> labels,
               std::size_t max_clusters)
        : Slots(view.table, view.family, view.prior), split_merge_(family_, *table_),
          max_clusters_(max_clusters) {
        this->set_labels(labels);
    }

    const std::size_t* max_clusters() const { return &max_clusters_; }

    /// An item far from the rest of its cluster is taken out. A new cluster beyond the limit is out of reach.
    PlaceScores score(std::size_t i) {
        const std::size_t own = labels_[i];
        const bool alone = family_.size(own) == 1;
        if (!Slots::score(i)) {
            this->take_out(i);
            this->score_newcomer(i);
        }
        if (!alone && n_clusters_ >= max_clusters_)
            scores_[open_] = never;
        return {std::span(scores_).first(used_), alone ? open_ : own};
    }

    void put(std::size_t i, std::size_t target) {
        if (labels_[i] == Slots::unassigned)
            this->join(i, target);
        else
            this->move(i, target);
    }

    void tidy() { this->refresh(); }

    GreedyMerges<Family> merges() const {
        return GreedyMerges<Family>(family_, *table_, prior_, all_items_, labels_, used_);
    }
    void apply(const GreedyMerges<Family>& merges) {
        std::vector<std::uint32_t> labels(labels_);
        for (auto& label : labels)
            label = merges.into(label);
        this->set_labels(labels);
    }

    std::vector<std::uint32_t> clusters_to_split() const {
        std::vector<std::uint32_t> slots(used_);
        std::iota(slots.begin(), slots.end(), 0u);
        return slots;
    }
    bool may_split(std::size_t slot) const { return n_clusters_ < max_clusters_ && family_.size(slot) > 1; }

    /// Cuts a cluster between two items that are far apart, if that raises the ICL.
    bool split(std::uint32_t slot, common::Rng& rng) {
        const auto [i, j] = far_apart(slot, rng);
        const double opened = prior_.log_open(n_clusters_) - prior_.log_w(1);
        if (!(split_merge_.split_gain(family_, prior_, labels_, i, j, policy::split_scans) + opened >
              min_gain))
            return false;
        this->apply_split(split_merge_, slot);
        return true;
    }

    Solution solution() {
        tidy(); // so that the ICL is that of the labels, not of many small steps
        Solution result{std::vector<std::uint32_t>(n_items_), log_density()};
        this->write_labels(result.labels.data());
        return result;
    }

    /// The change of the ICL when an item goes to each cluster, which are in the first slots, or to a new one
    /// in the last entry. The state may not be used afterwards.
    std::vector<double> swap_changes(std::size_t i) {
        const std::size_t own = labels_[i];
        const double now = scores_[score(i).own];
        std::vector<double> changes;
        for (std::size_t slot = 0; slot < n_clusters_; ++slot)
            changes.push_back(slot == own ? 0.0 : scores_[slot] - now);
        changes.push_back(scores_[open_] - now);
        return changes;
    }

private:
    using Slots::table_, Slots::n_items_, Slots::family_, Slots::prior_, Slots::labels_, Slots::all_items_,
        Slots::scores_, Slots::n_clusters_, Slots::used_, Slots::open_, Slots::never;

    /// Two items of a cluster, the second with probability proportional to its distance from the first.
    std::pair<std::uint32_t, std::uint32_t> far_apart(std::uint32_t slot, common::Rng& rng) const {
        auto members = members_of(labels_, slot);
        rng.shuffle(std::span(members));
        const auto one = members.front();
        double total = 0.0;
        for (const auto other : members)
            total += table_->distance(one, other);
        double left = rng.uniform() * total;
        std::size_t at = 1;
        for (; at + 1 < members.size(); ++at)
            if ((left -= table_->distance(one, members[at])) < 0.0)
                break;
        return {one, members[at]};
    }

    SplitMerge<Family> split_merge_;
    std::size_t max_clusters_;
};

} // namespace partita::models
