// Greedy ascent of the exact ICL of a mixture from one partition: sweeps over items, merges of clusters,
// splits of clusters.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "common/parallel.hpp"
#include "common/random.hpp"
#include "common/variates.hpp"
#include "mcmc/split_merge.hpp"
#include "mixtures/cluster_slots.hpp"
#include "mixtures/greedy_merges.hpp"
#include "partition/solution.hpp"

namespace partita::models {

/// The items of a mixture, the prior of their clusters and of the partition, as every climb begins with them.
/// The prior is that of Dirichlet proportions of K clusters, none of them empty.
template <MixtureFamily Family> struct MixtureView {
    std::shared_ptr<const typename Family::Table> table;
    Family family; // without clusters
    PartitionPriorSettings prior;
};

template <MixtureFamily Family> class MixtureClimber : public ClusterSlots<Family> {
public:
    using Slots = ClusterSlots<Family>;

    MixtureClimber(const MixtureView<Family>& view, std::span<const std::uint32_t> labels,
                   std::size_t max_clusters, common::Rng& rng, const common::StopFlag& stop)
        : Slots(view.table, view.family, view.prior), split_merge_(family_, *table_),
          max_clusters_(max_clusters), rng_(rng), stop_(stop) {
        this->set_labels(labels);
    }

    /// Sweeps, merges and splits in turns, until none of them helps. `merge_first`: the start has too many
    /// clusters on purpose.
    Solution climb(bool merge_first) {
        if (merge_first)
            merge_clusters();
        for (std::size_t round = 0; round < max_rounds && !stop_; ++round) {
            sweep_to_rest(n_items_ / 1000);
            const bool merged = merge_clusters(), split = split_clusters();
            if (!merged && !split)
                break;
        }
        return solution();
    }

    /// Simulated annealing from hot to cold, then a climb.
    Solution anneal(double hot, double cold, std::size_t sweeps) {
        cool(hot, cold, sweeps, stop_, [&](double heat) { heated_sweep(heat); });
        return climb(false);
    }

    /// Sweeps until no item moves, for the solution that a search returns.
    Solution polish() {
        sweep_to_rest(0);
        return solution();
    }

    /// The change of the ICL when an item goes to each cluster, which are in the first slots, or to a new one
    /// in the last entry. The state may not be used afterwards.
    std::vector<double> swap_changes(std::size_t i) {
        const std::size_t own = labels_[i];
        const double now = scores_[weigh_moves(i)];
        std::vector<double> changes;
        for (std::size_t slot = 0; slot < n_clusters_; ++slot)
            changes.push_back(slot == own ? 0.0 : scores_[slot] - now);
        changes.push_back(scores_[open_] - now);
        return changes;
    }

    GreedyMerges<Family> merges() const {
        return GreedyMerges<Family>(family_, *table_, prior_, all_items_, labels_, used_);
    }

private:
    using Slots::table_, Slots::n_items_, Slots::family_, Slots::prior_, Slots::labels_, Slots::all_items_,
        Slots::scores_, Slots::n_clusters_, Slots::used_, Slots::open_, Slots::never;

    static constexpr std::size_t max_rounds = 50, max_sweeps = 100, split_scans = 6;

    Solution solution() {
        this->refresh(); // so that the ICL is that of the labels, not of many small steps
        Solution result{std::vector<std::uint32_t>(n_items_), this->log_density()};
        this->write_labels(result.labels.data());
        return result;
    }

    /// Scores of all slots for item i, which is in none of them if it had to be taken out. A new cluster
    /// beyond the limit is out of reach. Returns where the item is.
    std::size_t weigh_moves(std::size_t i) {
        const std::size_t own = labels_[i];
        const bool alone = family_.size(own) == 1;
        if (!this->score(i)) {
            this->take_out(i);
            this->score_newcomer(i);
        }
        if (!alone && n_clusters_ >= max_clusters_)
            scores_[open_] = never;
        return alone ? open_ : own;
    }

    void put(std::size_t i, std::size_t target) {
        if (labels_[i] == Slots::nobody)
            this->join(i, target);
        else
            this->move(i, target);
    }

    /// Every item goes to its best cluster; returns how many went.
    std::size_t sweep() {
        std::size_t moves = 0;
        for (const auto i : rng_.permutation(n_items_)) {
            const auto now = weigh_moves(i);
            const auto first = scores_.begin();
            const auto best = std::max_element(first, first + static_cast<std::ptrdiff_t>(used_)) - first;
            const bool better = scores_[static_cast<std::size_t>(best)] > scores_[now] + min_gain;
            moves += better;
            put(i, better ? static_cast<std::size_t>(best) : now);
        }
        this->refresh();
        return moves;
    }

    /// Sweeps until (almost) no item moves: in a large table the last few are left to the next round.
    void sweep_to_rest(std::size_t few) {
        for (std::size_t round = 0; round < max_sweeps && !stop_ && sweep() > few; ++round) {
        }
    }

    /// A Gibbs sweep of the ICL to the power 1 / heat.
    void heated_sweep(double heat) {
        for (std::size_t i = 0; i < n_items_; ++i) {
            weigh_moves(i);
            put(i, common::draw_from_logs(rng_, std::span(scores_).first(used_), heat));
        }
        this->refresh();
    }

    /// Merges while the ICL grows, and as long as there are more clusters than allowed.
    bool merge_clusters() {
        auto merging = merges();
        if (!merging.run(max_clusters_))
            return false;
        std::vector<std::uint32_t> labels(labels_);
        for (auto& label : labels)
            label = merging.into(label);
        this->set_labels(labels);
        return true;
    }

    /// Tries to cut each cluster in two; keeps what raises the ICL.
    bool split_clusters() {
        bool improved = false;
        const auto slots = used_;
        for (std::uint32_t slot = 0; slot < slots && n_clusters_ < max_clusters_ && !stop_; ++slot)
            if (family_.size(slot) > 1)
                improved |= split(slot);
        return improved;
    }

    bool split(std::uint32_t slot) {
        const auto [i, j] = far_apart(slot);
        const double opened = prior_.log_open(n_clusters_) - prior_.log_w(1);
        if (!(split_merge_.split_gain(family_, prior_, labels_, i, j, split_scans) + opened > min_gain))
            return false;
        const auto fresh = static_cast<std::uint32_t>(open_);
        split_merge_.apply_split(family_, labels_, fresh, slot);
        ++n_clusters_;
        this->weigh(fresh);
        this->weigh(slot);
        this->choose_open();
        return true;
    }

    /// Two items of a cluster, the second with probability proportional to its distance from the first.
    std::pair<std::uint32_t, std::uint32_t> far_apart(std::uint32_t slot) {
        std::vector<std::uint32_t> members;
        for (std::uint32_t i = 0; i < n_items_; ++i)
            if (labels_[i] == slot)
                members.push_back(i);
        rng_.shuffle(std::span(members));
        const auto one = members.front();
        double total = 0.0;
        for (const auto other : members)
            total += table_->distance(one, other);
        double left = rng_.uniform() * total;
        std::size_t at = 1;
        for (; at + 1 < members.size(); ++at)
            if ((left -= table_->distance(one, members[at])) < 0.0)
                break;
        return {one, members[at]};
    }

    SplitMerge<Family> split_merge_;
    std::size_t max_clusters_;
    common::Rng& rng_;
    const common::StopFlag& stop_;
};

} // namespace partita::models
