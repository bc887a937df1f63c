// Collapsed Gibbs for mixtures (Neal 2000, Algorithm 3): every item in turn is scored against every cluster
// and against a new one, and drawn.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/archive.hpp"
#include "common/random.hpp"
#include "common/watched_stop.hpp"
#include "mcmc/mixture_moves.hpp"
#include "mcmc/pair_choice.hpp"
#include "mcmc/pick.hpp"
#include "mcmc/split_merge.hpp"
#include "mcmc/stable_items.hpp"
#include "mixtures/base_update.hpp"
#include "mixtures/cluster_slots.hpp"
#include "mixtures/greedy_merges.hpp"
#include "mixtures/mixture_family.hpp"
#include "mixtures/noise_rows.hpp"
#include "mixtures/partition_prior.hpp"
#include "mixtures/seeding.hpp"
#include "mixtures/selection.hpp"

namespace partita::models {

template <MixtureFamily Family> class MixtureSampler : public ClusterSlots<Family> {
public:
    using Table = typename Family::Table;
    using Slots = ClusterSlots<Family>;
    using Slots::n_clusters, Slots::log_density;

    /// Without labels, the start is left to the first sweep.
    MixtureSampler(std::shared_ptr<const Table> table, Family family, PartitionPriorSettings prior,
                   MixtureMoves moves, std::uint64_t seed, std::uint64_t stream,
                   std::span<const std::uint32_t> labels)
        : Slots(std::move(table), std::move(family), std::move(prior)), split_merge_(family_, *table_),
          stable_(n_items_), moves_(moves),
          rate_(moves.split_merges.value_or(mixtures::policy::min_split_merges)), rng_(seed, stream),
          stream_(stream), started_(!labels.empty()) {
        if (started_)
            set_labels(labels);
    }

    std::uint64_t sweeps() const { return sweeps_; }
    double alpha() const { return prior_.alpha(); }

    void sweep() {
        if (!started_)
            start();
        if (sweeps_ % mixtures::policy::refresh_period == 0) {
            refresh();
            stable_.forget();
        }
        const auto& stop = common::WatchedStop::flag();
        for (std::size_t i = 0; i < n_items_; ++i) {
            common::end_if_stopped(stop);
            if (auto* noise = this->noise_rows())
                update_with_noise(i, *noise);
            else
                update(i);
        }
        propose_split_merges();
        if (update_base(family_, summaries_, rng_, [this] { summarise(); })) {
            assign_all();
            stable_.forget();
        }
        if (update_selection(family_, used_, rng_, [this] { refresh(); }))
            stable_.forget();
        prior_.update_alpha(rng_, n_clusters_);
        weigh_open();
        stable_.open_weight(weights_[open_]);
        ++sweeps_;
    }

    std::vector<std::string> stat_names() const {
        std::vector<std::string> names{"log_density", "n_clusters", "alpha", "split_merges"};
        if constexpr (has_grids<Family>)
            names.insert(names.end(), {"kappa0", "nu0", "spread"});
        if constexpr (can_select<Family>)
            for (std::size_t unit = 0; unit < family_.included().size(); ++unit)
                names.push_back("included_" + std::to_string(unit));
        if (this->noise_rows() != nullptr)
            names.push_back("noise");
        return names;
    }

    /// `split_merges` counts the proposals that were accepted since the last call.
    void append_stats(std::vector<double>& out) {
        out.insert(out.end(), {log_density(), static_cast<double>(n_reported()), alpha(),
                               static_cast<double>(std::exchange(accepted_, 0))});
        if constexpr (has_grids<Family>) {
            const auto& base = family_.base();
            const auto place = family_.grid_place();
            const double spread = base.spreads.empty() ? 1.0 : base.spreads[place[2]];
            out.insert(out.end(), {base.kappas[place[0]], base.nus[place[1]], spread});
        }
        if constexpr (can_select<Family>)
            out.insert(out.end(), family_.included().begin(), family_.included().end());
        if (const auto* noise = this->noise_rows())
            out.push_back(static_cast<double>(noise->count()) / static_cast<double>(n_items_));
    }

    /// For existing draws: the base measure and the concentration are not updated.
    void set_state(std::span<const std::uint32_t> labels, double alpha,
                   std::span<const std::uint32_t> place) {
        if constexpr (has_grids<Family>)
            family_.set_grid_place(place);
        prior_.set_alpha(alpha);
        started_ = true;
        set_labels(labels);
        stable_.forget();
    }

    /// The same of a selection of columns; `set_state` comes after it.
    void set_included(const std::vector<std::uint8_t>& included)
        requires can_select<Family>
    {
        family_.set_included(included);
    }

    /// Log predictive weights of a new item for every slot, the open one included; slots out of use are
    /// -infinity.
    template <class Item> std::span<const double> score_new(const Item& x) {
        scores_.assign(weights_.begin(), weights_.end());
        family_.score(x, no_slot, used_, scores_.data());
        return {scores_.data(), used_};
    }
    std::size_t open_slot() const { return open_; }

    std::string state() {
        if (!started_)
            start();
        common::StateWriter writer;
        visit(writer);
        return std::move(writer).bytes();
    }

    void restore(const std::string& bytes) {
        common::StateReader reader(bytes);
        visit(reader);
        if (!reader.at_end() || !fits() || !recount() || !counts_fit())
            throw std::invalid_argument("the state does not fit this model and data");
        scores_.assign(weights_.size(), never);
        for (std::size_t slot = 0; slot < weights_.size(); ++slot)
            weigh(slot);
        weigh_open();
        stable_.forget();
        started_ = true;
    }

private:
    using Slots::table_, Slots::n_items_, Slots::family_, Slots::prior_, Slots::labels_, Slots::all_items_,
        Slots::weights_, Slots::scores_, Slots::n_clusters_, Slots::used_, Slots::open_, Slots::summaries_,
        Slots::never, Slots::negligible, Slots::set_labels, Slots::weigh, Slots::weigh_open,
        Slots::choose_open, Slots::widen, Slots::summarise, Slots::assign_all, Slots::refresh;

    template <class Archive> void visit(Archive& archive) {
        auto alpha = prior_.alpha();
        auto random = rng_.state();
        archive(sweeps_, accepted_, rate_, due_, random, alpha, labels_, weights_, n_clusters_, used_, open_,
                family_);
        prior_.set_alpha(alpha);
        rng_.restore(random);
    }

    /// The number of clusters; if rows may be noise, of those with two items or more that are not.
    std::size_t n_reported() const {
        if constexpr (MayHaveNoise<Family>)
            if (family_.noise() != nullptr) {
                std::size_t found = 0;
                for (std::size_t slot = 0; slot < used_; ++slot)
                    found += family_.size(slot) > 0 && family_.members(slot) > 1;
                return found;
            }
        return n_clusters_;
    }

    /// Whether every place that was read is within its range. A state may come from anywhere.
    bool fits() const {
        const auto stride = weights_.size();
        return labels_.size() == n_items_ && stride >= common::lanes && stride % common::lanes == 0 &&
               used_ % common::lanes == 0 && used_ <= stride && open_ < used_ &&
               prior_.allows(prior_.alpha()) && family_.fits(stride) && rate_fits() &&
               std::all_of(labels_.begin(), labels_.end(), [&](auto slot) { return slot < used_; });
    }

    bool rate_fits() const {
        const double most = moves_.split_merges.value_or(moves_.automatic(n_items_));
        return rate_ >= moves_.split_merges.value_or(0.0) && rate_ <= most && due_ >= 0.0 && due_ < 1.0;
    }

    /// A family of counts stores none of them: they follow from the labels.
    bool recount() {
        if constexpr (requires { family_.recount(summaries_, used_); }) {
            summaries_.compute(family_, *table_, all_items_, labels_, weights_.size());
            return family_.recount(summaries_, weights_.size());
        }
        return true;
    }

    /// Whether the sizes of the clusters and their number are those of the labels.
    bool counts_fit() const {
        std::vector<std::uint32_t> sizes(weights_.size(), 0u);
        for (const auto slot : labels_)
            ++sizes[slot];
        std::size_t clusters = 0;
        for (std::size_t slot = 0; slot < sizes.size(); ++slot) {
            clusters += sizes[slot] > 0;
            if (sizes[slot] != family_.size(slot))
                return false;
        }
        return clusters == n_clusters_ && sizes[open_] == 0;
    }

    /// One random number for every item, used or not: what is known of an item follows from what was computed
    /// before, which a resumed chain does not know.
    void update(std::size_t i) {
        const double uniform = rng_.uniform();
        if (stable_.stays(i, uniform))
            return;
        const std::size_t own = labels_[i];
        if (!this->score(i, far())) {
            this->take_out(i);
            join(i, uniform);
        } else {
            const auto others = other_slots(scores_.data(), used_, own);
            if (others.total() <= StableItems::max_share - StableItems::max_far)
                stable_.add(i);
            if (others.lose(uniform, StableItems::max_far))
                return;
            this->move(i, choose(i, uniform));
            if (labels_[i] == own)
                return;
        }
        stable_.forget();
    }

    /// Whether an item is noise, and its cluster, in one draw: with the prior weights w of the clusters,
    /// noise has odds · m(x) · Σ w against the Σ w f(x) of the clusters.
    void update_with_noise(std::size_t i, NoiseRows& noise) {
        const double coin = rng_.uniform(), uniform = rng_.uniform();
        bool is_out = noise.contains(i);
        if (is_out) {
            Slots::leave(i);
            noise.remove(i);
        } else if (!this->score(i)) {
            this->take_out(i);
            is_out = true;
        }
        if (is_out)
            this->score_newcomer(i);
        const auto others = n_clusters_ - (!is_out && family_.size(labels_[i]) == 1);
        const double log_alone = scores_[open_] - prior_.log_open(others);
        const double log_noise = noise.log_odds() + log_alone + prior_.log_total(n_items_ - 1, others);
        double best = log_noise, total = 0.0;
        for (std::size_t slot = 0; slot < used_; ++slot)
            best = std::max(best, scores_[slot]);
        for (std::size_t slot = 0; slot < used_; ++slot)
            total += std::exp(scores_[slot] - best);
        const double share = std::exp(log_noise - best);
        if (coin * (total + share) >= share) {
            const auto slot = pick(scores_.data(), used_, uniform);
            return is_out ? Slots::join(i, slot) : this->move(i, slot);
        }
        if (!is_out)
            Slots::leave(i);
        noise.add(i, log_alone);
        std::copy_n(weights_.begin(), used_, scores_.begin());
        Slots::join(i, pick(scores_.data(), used_, uniform));
    }

    /// Below this, all slots together have less than `max_far` of the item's own cluster.
    double far() {
        if (far_slots_ != used_) {
            far_slots_ = used_;
            far_ = std::log(StableItems::max_far / static_cast<double>(used_));
        }
        return far_;
    }

    /// The slot that item i draws, which was scored without clusters that are far. If one of these might
    /// matter to the draw, it is scored again.
    std::size_t choose(std::size_t i, double uniform) {
        const auto near = pick_without_far(scores_.data(), used_, uniform, labels_[i], StableItems::max_far);
        if (near)
            return *near;
        this->score(i, negligible);
        return pick(scores_.data(), used_, uniform);
    }

    /// Draws a cluster for an item that has none.
    void join(std::size_t i, double uniform) {
        this->score_newcomer(i);
        Slots::join(i, pick(scores_.data(), used_, uniform));
    }

    /// Some items from seeds, the others one by one in random order.
    void start() {
        started_ = true;
        choose_open();
        const auto order = rng_.permutation(n_items_);
        for (auto p = start_from_seeds(order); p < n_items_; ++p) {
            common::end_if_stopped();
            join(order[p], rng_.uniform());
            weigh_open();
        }
    }

    /// Returns how many items, the first of the order, have a cluster then.
    std::size_t start_from_seeds(std::span<const std::uint32_t> order) {
        const auto n_seeds = seeds_of_chain(stream_, n_items_);
        if (n_seeds < 2)
            return 0;
        const auto items = order.first(std::min(n_items_, mixtures::policy::max_seeded_items));
        auto nearest = nearest_seeds(*table_, items, n_seeds, rng_);
        GreedyMerges<Family> merges(family_, *table_, prior_, items, nearest, n_seeds);
        constexpr auto no_limit = std::numeric_limits<std::size_t>::max();
        merge_clusters(merges, &no_limit, common::WatchedStop::flag());
        for (std::size_t p = 0; p < items.size(); ++p)
            labels_[items[p]] = nearest[p] = merges.into(nearest[p]);
        widen(std::max(weights_.size(), common::round_to_lanes(n_seeds + 1)));
        summaries_.compute(family_, *table_, items, nearest, n_seeds);
        for (std::size_t slot = 0; slot < n_seeds; ++slot) {
            summaries_.assign_to(family_, slot, slot);
            weigh(slot);
        }
        n_clusters_ = merges.n_clusters();
        choose_open();
        return items.size();
    }

    /// How many follows from the sweeps alone after the warm-up, not from the state.
    void propose_split_merges() {
        if (sweeps_ < moves_.warmup && !moves_.split_merges)
            rate_ = moves_.automatic(n_clusters_);
        for (due_ += rate_; due_ >= 1.0; due_ -= 1.0)
            propose_split_merge();
    }

    void propose_split_merge() {
        if (n_items_ < 2)
            return;
        const auto now = pair_choice(family_, used_);
        const auto [i, j] = choose_pair(family_, now, labels_, rng_);
        const auto from = labels_[i], to = labels_[j];
        if (!split_merge_.propose(family_, prior_, labels_, now, i, j, moves_.restricted_scans, rng_))
            return;
        ++accepted_;
        stable_.forget();
        if (from == to)
            return this->apply_split(split_merge_, to);
        split_merge_.apply_merge(family_, labels_, from, to);
        --n_clusters_;
        weigh(from);
        weigh(to);
        choose_open();
    }

    SplitMerge<Family> split_merge_;
    StableItems stable_;
    MixtureMoves moves_;
    std::size_t far_slots_ = 0; // the slots that `far_` is of
    double far_ = 0.0;
    double rate_, due_ = 0.0; // split-merge proposals per sweep, and the fraction carried over
    common::Rng rng_;
    std::uint64_t stream_;
    std::uint64_t sweeps_ = 0, accepted_ = 0;
    bool started_;
};

} // namespace partita::models
