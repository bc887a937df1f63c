// Split-merge proposals with restricted Gibbs scans: Jain & Neal (2004), the conjugate version. Two items are
// chosen; if they share a cluster it may be split between them, else their clusters may be merged.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/random.hpp"
#include "common/watched_stop.hpp"
#include "mcmc/pair_choice.hpp"
#include "mixtures/base_update.hpp"
#include "mixtures/mixture_family.hpp"
#include "mixtures/partition_prior.hpp"
#include "mixtures/selection.hpp"
#include "mixtures/slots.hpp"
#include "partition/labels.hpp"
#include "partition/sweep.hpp"

namespace partita::models {

template <MixtureFamily Family> class SplitMerge {
public:
    using Table = typename Family::Table;

    SplitMerge(const Family& family, const Table& table) : pair_(family), table_(&table) {
        pair_.widen(common::lanes);
    }

    /// True if the proposal for items i and j is accepted; apply_split or apply_merge then makes the change.
    bool propose(const Family& family, const PartitionPrior& prior, std::span<const std::uint32_t> labels,
                 PairChoice now, std::uint32_t i, std::uint32_t j, std::uint32_t scans, common::Rng& rng) {
        gather(family, labels, i, j);
        return labels[i] == labels[j] ? accept_split(family, prior, now, labels[i], scans, rng)
                                      : accept_merge(family, prior, labels, now, scans, rng);
    }

    /// The gain in log density, without the prior's V, of splitting the cluster of items i and j between
    /// them as well as moves of single items can; apply_split then splits it.
    double split_gain(const Family& family, const PartitionPrior& prior,
                      std::span<const std::uint32_t> labels, std::uint32_t i, std::uint32_t j,
                      std::size_t max_scans) {
        gather(family, labels, i, j);
        launch();
        for (std::size_t scan = 0; scan < max_scans && greedy_scan(prior) > 0; ++scan) {
        }
        return log_part(pair_, prior, 0) + log_part(pair_, prior, 1) - log_part(family, prior, labels[i]);
    }

    /// The items of i's side move to an empty slot.
    void apply_split(Family& family, std::vector<std::uint32_t>& labels, std::uint32_t fresh,
                     std::uint32_t kept) {
        family.copy_slot(pair_, 0, fresh);
        family.copy_slot(pair_, 1, kept);
        for (std::size_t p = 0; p < items_.size(); ++p)
            if (sides_[p] == 0)
                labels[items_[p]] = fresh;
    }

    void apply_merge(Family& family, std::vector<std::uint32_t>& labels, std::uint32_t from,
                     std::uint32_t to) {
        family.copy_slot(pair_, 2, to);
        family.clear(from);
        for (const auto item : items_)
            labels[item] = to;
    }

private:
    bool accept_split(const Family& family, const PartitionPrior& prior, PairChoice together,
                      std::uint32_t slot, std::uint32_t scans, common::Rng& rng) {
        launch();
        for (std::uint32_t scan = 0; scan < scans; ++scan)
            restricted_scan(prior, rng);
        const double log_q = restricted_scan(prior, rng);
        const double gain =
            log_part(pair_, prior, 0) + log_part(pair_, prior, 1) - log_part(family, prior, slot);
        const double log_ratio =
            log_opened(prior, together) + gain - log_q + together.log_return(pair_.size(0), pair_.size(1));
        return std::log(common::open_uniform(rng)) < log_ratio;
    }

    bool accept_merge(const Family& family, const PartitionPrior& prior,
                      std::span<const std::uint32_t> labels, PairChoice apart, std::uint32_t scans,
                      common::Rng& rng) {
        const auto from = labels[items_[0]], to = labels[items_[1]];
        const double one = family.size(from), other = family.size(to);
        assign_together();
        const double gain =
            log_part(pair_, prior, 2) - log_part(family, prior, from) - log_part(family, prior, to);
        const PairChoice together = merged(apart, one, other);
        const double most = gain - log_opened(prior, together) - together.log_return(one, other);
        if (refused_at_once(most, scans, rng))
            return false;
        launch();
        for (std::uint32_t scan = 0; scan < scans; ++scan)
            restricted_scan(prior, rng);
        take_original_sides(labels, from);
        const double log_q = restricted_scan(prior, rng, true);
        return std::log(common::open_uniform(rng)) < most + log_q;
    }

    /// Whether a merge is refused even if the split that undoes it were certain: with ln q = 0, its ln ratio
    /// is at most `most`. The random numbers of the scans are passed over then, so that draws are those of a
    /// proposal that was gone through.
    bool refused_at_once(double most, std::uint32_t scans, common::Rng& rng) const {
        constexpr double rounding = 1e-6;
        auto after = rng;
        for (std::size_t left = scans * (items_.size() - 2); left > 0; --left)
            after.uniform();
        if (std::log(common::open_uniform(after)) < most + rounding)
            return false;
        rng = after;
        return true;
    }

    static double log_opened(const PartitionPrior& prior, PairChoice together) {
        return prior.log_open(together.clusters) - prior.log_w(1);
    }

    static PairChoice merged(PairChoice apart, double one, double other) {
        return {apart.clusters - 1, apart.splittable + 1 - (one >= 2.0) - (other >= 2.0)};
    }

    /// Items i, j and everyone with them.
    void gather(const Family& family, std::span<const std::uint32_t> labels, std::uint32_t i,
                std::uint32_t j) {
        items_.assign({i, j});
        const auto others = items_with(labels, i, j);
        items_.insert(items_.end(), others.begin(), others.end());
        if constexpr (has_grids<Family>)
            pair_.set_grid_place(family.grid_place());
        copy_selection(family, pair_);
    }

    /// The launch state: each item on the side of the nearer of the first two. It depends on the data only,
    /// not on where the items are now, so that a split and the merge that undoes it start from the same
    /// state.
    void launch() {
        const auto i = items_[0], j = items_[1];
        sides_.assign({0u, 1u});
        for (std::size_t p = 2; p < items_.size(); ++p)
            sides_.push_back(table_->distance(items_[p], i) <= table_->distance(items_[p], j) ? 0u : 1u);
        summaries_.compute(pair_, *table_, items_, sides_, 2);
        summaries_.assign_to(pair_, 0, 0);
        summaries_.assign_to(pair_, 1, 1);
    }

    /// A Gibbs scan over the two sides; returns ln of the probability of its choices. With `forced` the
    /// choices are given.
    double restricted_scan(const PartitionPrior& prior, common::Rng& rng, bool forced = false) {
        const auto& stop = common::WatchedStop::flag();
        double log_q = 0.0, q = 1.0;
        for (std::size_t p = 2; p < items_.size(); ++p) {
            common::end_if_stopped(stop);
            const auto scored = score_sides(prior, p);
            const double p_stay = 1.0 / (1.0 + std::exp(scored.gain));
            const bool moves = forced ? originals_[p] != sides_[p] : rng.uniform() >= p_stay;
            q *= moves ? 1.0 / (1.0 + std::exp(-scored.gain)) : p_stay;
            if (q < 1e-200)
                log_q += std::log(std::exchange(q, 1.0));
            place(p, moves, scored.taken_out);
        }
        return log_q + std::log(q);
    }

    /// Every item goes to the better side; returns how many went.
    std::size_t greedy_scan(const PartitionPrior& prior) {
        std::size_t moved = 0;
        for (std::size_t p = 2; p < items_.size(); ++p) {
            const auto scored = score_sides(prior, p);
            place(p, scored.gain > min_gain, scored.taken_out);
            moved += scored.gain > min_gain;
        }
        return moved;
    }

    struct Scored {
        double gain; // of the other side over its own
        bool taken_out;
    };

    Scored score_sides(const PartitionPrior& prior, std::size_t p) {
        const auto own = sides_[p], other = 1 - own;
        double scores[common::lanes] = {};
        scores[own] = prior.log_join(pair_.size(own) - 1);
        scores[other] = prior.log_join(pair_.size(other));
        pair_.score(table_->item(items_[p]), own, common::lanes, scores);
        const bool outlier = pair_.own_ratio(own) < min_own_ratio;
        if (outlier)
            score_outlier(prior, p, scores);
        return {scores[other] - scores[own], outlier};
    }

    void place(std::size_t p, bool moves, bool taken_out) {
        const auto x = table_->item(items_[p]);
        const auto own = sides_[p];
        if (moves)
            sides_[p] = 1 - own;
        if (taken_out)
            pair_.insert(sides_[p], x);
        else if (moves)
            pair_.remove(own, x), pair_.insert(sides_[p], x);
    }

    /// Takes an item out by recomputation, where a downdate would be mostly rounding, and scores it then.
    void score_outlier(const PartitionPrior& prior, std::size_t p, double* scores) {
        const auto own = sides_[p];
        sides_[p] = 2;
        summaries_.compute(pair_, *table_, items_, sides_, 3);
        summaries_.assign_to(pair_, own, own);
        sides_[p] = own;
        std::fill_n(scores, common::lanes, 0.0);
        for (const auto side : {0, 1})
            scores[side] = prior.log_join(pair_.size(side));
        pair_.score(table_->item(items_[p]), no_slot, common::lanes, scores);
    }

    void take_original_sides(std::span<const std::uint32_t> labels, std::uint32_t from) {
        originals_.resize(items_.size());
        for (std::size_t p = 0; p < items_.size(); ++p)
            originals_[p] = labels[items_[p]] == from ? 0 : 1;
    }

    void assign_together() {
        zeros_.assign(items_.size(), 0u);
        summaries_.compute(pair_, *table_, items_, zeros_, 1);
        summaries_.assign_to(pair_, 2, 0);
    }

    static double log_part(const Family& family, const PartitionPrior& prior, std::size_t slot) {
        return prior.log_w(family.size(slot)) + family.log_marginal(slot);
    }

    Family pair_; // slots 0 and 1: the sides; 2: both together
    const Table* table_;
    std::vector<std::uint32_t> items_, sides_, originals_, zeros_;
    typename Family::Summaries summaries_;
};

} // namespace partita::models
