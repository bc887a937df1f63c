// Split-merge proposals with restricted Gibbs scans: Jain & Neal (2004), the conjugate version. Two items are
// chosen; if they share a cluster it may be split between them, else their clusters may be merged.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "models/base_update.hpp"
#include "models/moments.hpp"
#include "models/partition_prior.hpp"
#include "models/slots.hpp"
#include "random.hpp"

namespace partita {

template <class Family> class SplitMerge {
public:
    SplitMerge(const Family& family, std::span<const double> data)
        : pair_(family), data_(data.data()), inverse_variances_(family.dims(), 0.0) {
        pair_.widen(lanes);
        const std::size_t dims = family.dims(), n = data.size() / dims;
        for (std::size_t i = 0; i < dims; ++i) {
            double mean = 0.0, squares = 0.0;
            for (std::size_t item = 0; item < n; ++item)
                mean += data[item * dims + i] / static_cast<double>(n);
            for (std::size_t item = 0; item < n; ++item)
                squares += (data[item * dims + i] - mean) * (data[item * dims + i] - mean);
            if (squares > 0.0 && squares < 1e300)
                inverse_variances_[i] = static_cast<double>(n) / squares;
        }
    }

    /// True if the proposal for items i and j is accepted; apply_split or apply_merge then makes the change.
    bool propose(const Family& family, const PartitionPrior& prior, std::span<const std::uint32_t> labels,
                 std::size_t n_clusters, std::uint32_t i, std::uint32_t j, std::uint32_t scans, Rng& rng) {
        const auto from = labels[i], to = labels[j];
        const bool split = from == to;
        gather(family, labels, i, j);
        for (std::uint32_t scan = 0; scan < scans; ++scan)
            restricted_scan(prior, rng);
        if (!split)
            take_original_sides(labels, from);
        const double log_q = restricted_scan(prior, rng, !split);
        const double apart = split ? log_part(pair_, prior, 0) + log_part(pair_, prior, 1)
                                   : log_part(family, prior, from) + log_part(family, prior, to);
        if (!split)
            assign_together();
        const double together = split ? log_part(family, prior, from) : log_part(pair_, prior, 2);
        const double opened = prior.log_open(split ? n_clusters : n_clusters - 1) - prior.log_w(1);
        const double log_ratio = opened + apart - together - log_q;
        return std::log(open_uniform(rng)) < (split ? log_ratio : -log_ratio);
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
    double distance(std::uint32_t one, std::uint32_t other) const {
        const double *x = data_ + one * pair_.dims(), *y = data_ + other * pair_.dims();
        double sum = 0.0;
        for (std::size_t k = 0; k < pair_.dims(); ++k)
            sum += (x[k] - y[k]) * (x[k] - y[k]) * inverse_variances_[k];
        return sum;
    }

    /// The launch state: items i, j and everyone with them, each on the side of the nearer of the two. It
    /// depends on the data only, not on where the others are now, so that a split and the merge that undoes
    /// it start from the same state.
    void gather(const Family& family, std::span<const std::uint32_t> labels, std::uint32_t i,
                std::uint32_t j) {
        items_.assign({i, j});
        sides_.assign({0u, 1u});
        for (std::uint32_t item = 0; item < labels.size(); ++item)
            if (item != i && item != j && (labels[item] == labels[i] || labels[item] == labels[j])) {
                items_.push_back(item);
                sides_.push_back(distance(item, i) <= distance(item, j) ? 0u : 1u);
            }
        if constexpr (has_grids<Family>)
            pair_.set_grid_place(family.grid_place());
        moments_.compute(pair_, data_, items_, sides_, 2);
        moments_.assign_to(pair_, 0);
        moments_.assign_to(pair_, 1);
    }

    /// A Gibbs scan over the two sides; returns ln of the probability of its choices. With `forced` the
    /// choices are given.
    double restricted_scan(const PartitionPrior& prior, Rng& rng, bool forced = false) {
        double log_q = 0.0, q = 1.0;
        for (std::size_t p = 2; p < items_.size(); ++p) {
            const double* x = data_ + items_[p] * pair_.dims();
            const auto own = sides_[p], other = 1 - own;
            double scores[lanes] = {};
            scores[own] = prior.log_join(pair_.size(own) - 1);
            scores[other] = prior.log_join(pair_.size(other));
            pair_.score(x, own, lanes, scores);
            const bool outlier = pair_.own_ratio(own) < least_own_ratio;
            if (outlier)
                score_outlier(prior, p, scores);
            const double p_stay = 1.0 / (1.0 + std::exp(scores[other] - scores[own]));
            const bool moves = forced ? originals_[p] != own : rng.uniform() >= p_stay;
            q *= moves ? 1.0 / (1.0 + std::exp(scores[own] - scores[other])) : p_stay;
            if (q < 1e-200)
                log_q += std::log(std::exchange(q, 1.0));
            if (moves)
                sides_[p] = other;
            if (outlier)
                pair_.insert(sides_[p], x);
            else if (moves)
                pair_.remove(own, x), pair_.insert(other, x);
        }
        return log_q + std::log(q);
    }

    /// Takes an item out by recomputation, where a downdate would be mostly rounding, and scores it then.
    void score_outlier(const PartitionPrior& prior, std::size_t p, double* scores) {
        const auto own = sides_[p];
        sides_[p] = 2;
        moments_.compute(pair_, data_, items_, sides_, 3);
        moments_.assign_to(pair_, own);
        sides_[p] = own;
        std::fill_n(scores, lanes, 0.0);
        for (const auto side : {0, 1})
            scores[side] = prior.log_join(pair_.size(side));
        pair_.score(data_ + items_[p] * pair_.dims(), no_slot, lanes, scores);
    }

    void take_original_sides(std::span<const std::uint32_t> labels, std::uint32_t from) {
        originals_.resize(items_.size());
        for (std::size_t p = 0; p < items_.size(); ++p)
            originals_[p] = labels[items_[p]] == from ? 0 : 1;
    }

    void assign_together() {
        zeros_.assign(items_.size(), 0u);
        moments_.compute(pair_, data_, items_, zeros_, 1);
        pair_.assign(2, moments_.size(0), moments_.mean(0), moments_.scatter(0));
    }

    static double log_part(const Family& family, const PartitionPrior& prior, std::size_t slot) {
        return prior.log_w(family.size(slot)) + family.log_marginal(slot);
    }

    Family pair_; // slots 0 and 1: the sides; 2: both together
    const double* data_;
    std::vector<double> inverse_variances_; // of the columns; 0 for a constant one
    std::vector<std::uint32_t> items_, sides_, originals_, zeros_;
    Moments<Family> moments_;
};

} // namespace partita
