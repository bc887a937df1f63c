// Collapsed Gibbs for mixtures (Neal 2000, Algorithm 3): every item in turn is scored against every cluster
// and against a new one, and drawn. Slots without a cluster are empty; one of them, `open_`, stands for the
// new cluster.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "models/archive.hpp"
#include "models/base_update.hpp"
#include "models/moments.hpp"
#include "models/partition_prior.hpp"
#include "models/pick.hpp"
#include "models/split_merge.hpp"
#include "random.hpp"

namespace partita {

struct MixtureMoves {
    double split_merges = 0.2;          // proposals a sweep, on average
    std::uint32_t restricted_scans = 1; // Gibbs scans that prepare a proposal
};

template <class Family> class MixtureSampler {
public:
    /// `data` is n x d by rows. Without labels, items join one by one in random order.
    MixtureSampler(std::vector<double> data, Family family, PartitionPriorSettings prior, MixtureMoves moves,
                   std::uint64_t seed, std::uint64_t stream, std::span<const std::uint32_t> labels)
        : data_(std::move(data)), n_items_(data_.size() / family.dims()), family_(std::move(family)),
          split_merge_(family_, data_), prior_(std::move(prior), n_items_), moves_(moves), rng_(seed, stream),
          labels_(n_items_, nobody), all_items_(n_items_) {
        std::iota(all_items_.begin(), all_items_.end(), 0u);
        widen(lanes);
        if (labels.empty())
            join_one_by_one();
        else
            set_labels(labels);
    }

    std::uint64_t sweeps() const { return sweeps_; }
    std::size_t n_items() const { return n_items_; }
    std::size_t n_clusters() const { return n_clusters_; }
    double alpha() const { return prior_.alpha(); }
    const Family& family() const { return family_; }

    void sweep() {
        if (sweeps_ % refresh_period == 0)
            refresh();
        for (std::size_t i = 0; i < n_items_; ++i)
            update(i);
        for (auto p = proposals_before(sweeps_); p < proposals_before(sweeps_ + 1); ++p)
            propose_split_merge();
        if (update_base(family_, moments_, rng_, [this] { compute_moments(); }))
            assign_all();
        prior_.update_alpha(rng_, n_clusters_);
        weigh_open();
        ++sweeps_;
    }

    /// ln p(data, partition | alpha, base).
    double log_density() const {
        double total = prior_.log_v(n_clusters_);
        for (std::size_t slot = 0; slot < used_; ++slot)
            if (family_.size(slot) > 0)
                total += prior_.log_w(family_.size(slot)) + family_.log_marginal(slot);
        return total;
    }

    /// Labels in order of first appearance.
    void write_labels(std::uint32_t* out) const {
        std::vector<std::uint32_t> names(used_, nobody);
        std::uint32_t next = 0;
        for (std::size_t i = 0; i < n_items_; ++i) {
            auto& name = names[labels_[i]];
            if (name == nobody)
                name = next++;
            out[i] = name;
        }
    }

    /// Accepted split-merge proposals since the last call.
    std::uint64_t take_accepted() { return std::exchange(accepted_, 0); }

    /// For draws that are already there: the posterior of a base and a concentration is not asked for.
    void set_state(std::span<const std::uint32_t> labels, double alpha,
                   std::span<const std::uint32_t> place) {
        if constexpr (has_grids<Family>)
            family_.set_grid_place(place);
        prior_.set_alpha(alpha);
        set_labels(labels);
    }

    /// Log predictive weights of a new item for every slot, the open one included; slots out of use are
    /// -infinity.
    std::span<const double> score_new(const double* x) {
        scores_.assign(weights_.begin(), weights_.end());
        family_.score(x, no_slot, used_, scores_.data());
        return {scores_.data(), used_};
    }
    std::span<const std::uint32_t> slots_of_items() const { return labels_; }
    std::size_t open_slot() const { return open_; }

    std::string state() {
        StateWriter writer;
        visit(writer);
        return std::move(writer).bytes();
    }

    void restore(std::string bytes) {
        StateReader reader(std::move(bytes));
        visit(reader);
        if (!reader.at_end() || labels_.size() != n_items_)
            throw std::invalid_argument("the state does not fit this model and data");
        scores_.resize(weights_.size());
    }

private:
    static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
    static constexpr double never = -std::numeric_limits<double>::infinity();
    static constexpr std::uint64_t refresh_period =
        64; // sweeps between recomputations of every factor from the data

    template <class Archive> void visit(Archive& archive) {
        auto alpha = prior_.alpha();
        auto random = rng_.state();
        archive(sweeps_, accepted_, random, alpha, labels_, weights_, n_clusters_, used_, open_, family_);
        prior_.set_alpha(alpha);
        rng_.restore(random);
    }

    const double* item(std::size_t i) const { return data_.data() + i * family_.dims(); }

    /// Split-merge proposals due before this sweep: evenly spread, and a function of the count alone.
    std::uint64_t proposals_before(std::uint64_t sweep) const {
        return n_items_ > 1 ? static_cast<std::uint64_t>(static_cast<double>(sweep) * moves_.split_merges)
                            : 0;
    }

    void update(std::size_t i) {
        const std::size_t own = labels_[i];
        const auto n_own = family_.size(own);
        std::copy_n(weights_.begin(), used_, scores_.begin());
        scores_[own] = n_own > 1 ? prior_.log_join(n_own - 1) : never;
        if (n_own == 1)
            scores_[open_] = prior_.log_open(n_clusters_ - 1);
        family_.score(item(i), own, used_, scores_.data());
        if (n_own > 1 && family_.own_ratio(own) < least_own_ratio)
            return update_outlier(i);
        const auto target = pick(scores_.data(), used_, rng_.uniform());
        if (target == own || (n_own == 1 && target == open_))
            return;
        family_.remove(own, item(i));
        settle(i, target);
        if (n_own == 1)
            --n_clusters_;
        weigh(own);
        if (n_own == 1 || target == open_)
            choose_open();
    }

    /// The item lies so far from the rest of its cluster that a downdate would be mostly rounding.
    void update_outlier(std::size_t i) {
        const auto own = labels_[i];
        labels_[i] = nobody;
        rest_.clear();
        for (std::uint32_t other = 0; other < n_items_; ++other)
            if (labels_[other] == own)
                rest_.push_back(other);
        zeros_.assign(rest_.size(), 0u);
        moments_.compute(family_, data_.data(), rest_, zeros_, 1);
        family_.assign(own, moments_.size(0), moments_.mean(0), moments_.scatter(0));
        weigh(own);
        join(i);
    }

    /// Draws a cluster for an item that has none.
    void join(std::size_t i) {
        std::copy_n(weights_.begin(), used_, scores_.begin());
        family_.score(item(i), no_slot, used_, scores_.data());
        const auto target = pick(scores_.data(), used_, rng_.uniform());
        settle(i, target);
        if (target == open_)
            choose_open();
    }

    void settle(std::size_t i, std::size_t target) {
        family_.insert(target, item(i));
        labels_[i] = static_cast<std::uint32_t>(target);
        if (family_.size(target) == 1)
            ++n_clusters_;
        weigh(target);
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
        used_ = round_to_lanes(std::max(last, open_) + 1);
        weigh_open();
    }

    void widen(std::size_t stride) {
        family_.widen(stride);
        weights_.resize(stride, never), scores_.resize(stride, never);
    }

    void join_one_by_one() {
        choose_open();
        for (const auto i : rng_.permutation(n_items_)) {
            join(i);
            weigh_open();
        }
    }

    void set_labels(std::span<const std::uint32_t> labels) {
        labels_.assign(labels.begin(), labels.end());
        const auto highest = *std::max_element(labels_.begin(), labels_.end());
        if (highest + 2 > weights_.size())
            widen(round_to_lanes(highest + 2));
        used_ = weights_.size();
        refresh();
        n_clusters_ = 0;
        for (std::size_t slot = 0; slot < weights_.size(); ++slot)
            n_clusters_ += family_.size(slot) > 0, weigh(slot);
        choose_open();
    }

    void compute_moments() { moments_.compute(family_, data_.data(), all_items_, labels_, used_); }

    void assign_all() {
        for (std::size_t slot = 0; slot < used_; ++slot)
            moments_.assign_to(family_, slot);
        for (std::size_t slot = used_; slot < weights_.size(); ++slot)
            family_.clear(slot);
    }

    void refresh() {
        compute_moments();
        assign_all();
    }

    void propose_split_merge() {
        const auto i = static_cast<std::uint32_t>(rng_.below(n_items_));
        auto j = static_cast<std::uint32_t>(rng_.below(n_items_ - 1));
        j += j >= i;
        const auto from = labels_[i], to = labels_[j];
        if (!split_merge_.propose(family_, prior_, labels_, n_clusters_, i, j, moves_.restricted_scans, rng_))
            return;
        ++accepted_;
        if (from == to) {
            const auto fresh = static_cast<std::uint32_t>(open_);
            split_merge_.apply_split(family_, labels_, fresh, to);
            ++n_clusters_;
            weigh(fresh);
        } else {
            split_merge_.apply_merge(family_, labels_, from, to);
            --n_clusters_;
            weigh(from);
        }
        weigh(to);
        choose_open();
    }

    std::vector<double> data_;
    std::size_t n_items_;
    Family family_;
    SplitMerge<Family> split_merge_;
    PartitionPrior prior_;
    MixtureMoves moves_;
    Rng rng_;
    std::vector<std::uint32_t> labels_; // slot of each item
    std::vector<std::uint32_t> all_items_;
    std::vector<double> weights_,
        scores_; // ln prior weight of joining each slot; -infinity if there is nothing to join
    std::size_t n_clusters_ = 0, used_ = lanes, open_ = 0;
    std::uint64_t sweeps_ = 0, accepted_ = 0;
    Moments<Family> moments_;
    std::vector<std::uint32_t> rest_, zeros_;
};

} // namespace partita
