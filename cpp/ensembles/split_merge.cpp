// Splits and merges of clusters by sequential allocation (Dahl 2003).
#include <algorithm>
#include <cmath>

#include "common/log_gamma.hpp"
#include "ensembles/state.hpp"
#include "partition/labels.hpp"

namespace partita::ensembles {

/// log p(Z) and the labels' likelihood in two clusters: all that a split or a merge of them changes.
template <class Label> double State<Label>::log_target(std::uint32_t first, std::uint32_t second) const {
    double sum = log_prior(alpha_) + column_log_likelihood(first, beta_);
    return second == no_column ? sum : sum + column_log_likelihood(second, beta_);
}

/// log p(y_i | cluster) + log of its size: the weight by which sequential allocation chooses between two
/// clusters.
template <class Label> double State<Label>::log_pull(std::size_t item, std::uint32_t column) const {
    const auto labels = base_.item(item);
    double sum = std::log(static_cast<double>(sizes_[column])) - norms_[column];
    for (std::size_t m = 0; m < labels.size(); ++m)
        sum += labels[m] == gap<Label> ? log_norms_[m * stride_ + column]
                                       : log_cells_[(offsets_[m] + labels[m]) * stride_ + column];
    return sum;
}

/// Takes the members out of their columns and puts them one by one into `first` or `second`: at random, or,
/// where `sides` is given, as it says. Returns the log probability of what was chosen.
template <class Label>
double State<Label>::allocate(Items members, std::uint32_t first, std::uint32_t second,
                              const std::vector<std::uint32_t>* sides, common::Rng& rng) {
    for (const auto item : members)
        drop(item, assignment_[item]);
    double log_probability = 0.0;
    for (std::size_t place = 0; place < members.size(); ++place) {
        const auto item = members[place];
        const double odds = log_pull(item, second) - log_pull(item, first);
        const double log_first = -std::log1p(std::exp(odds)), log_second = -std::log1p(std::exp(-odds));
        const auto side = sides ? (*sides)[place] : std::log1p(-rng.uniform()) < log_first ? first : second;
        log_probability += side == first ? log_first : log_second;
        assignment_[item] = side;
        add(item, side);
    }
    return log_probability;
}

template <class Label> double State<Label>::log_slot_probability(std::uint32_t slot) {
    if (weights_ == Weights::fsd)
        return -std::log(static_cast<double>(truncation_ - n_clusters_));
    score_sticks();
    return std::log(stick_prior_[slot] / empty_prior_);
}

template <class Label> void State<Label>::reopen_column(std::uint32_t column) {
    ++n_clusters_;
    if (weights_ == Weights::tsb)
        column_of_[slot_of_[column]] = column;
}

template <class Label> void State<Label>::move_all(Items members, std::uint32_t target) {
    for (const auto item : members) {
        drop(item, assignment_[item]);
        assignment_[item] = target;
        add(item, target);
    }
}

template <class Label> void State<Label>::split_or_merge(common::Rng& rng) {
    if (n_items() < 2)
        return;
    const auto [one, other] = rng.two_below(n_items());
    const auto i = static_cast<std::uint32_t>(one), j = static_cast<std::uint32_t>(other);
    auto members = items_with(assignment_, i, j);
    rng.shuffle(std::span(members));
    if (assignment_[i] == assignment_[j])
        split(i, j, members, rng);
    else
        merge(i, j, members, rng);
}

template <class Label>
void State<Label>::split(std::uint32_t i, std::uint32_t j, Items members, common::Rng& rng) {
    if (n_clusters_ == truncation_)
        return;
    const auto first = assignment_[i];
    const double before = log_target(first, no_column);
    if (weights_ == Weights::tsb)
        score_sticks(); // an empty stick is chosen by its weight before the split
    const auto empty_mass = empty_prior_;
    const auto second = open_column(rng);
    const double log_slot = weights_ == Weights::tsb ? std::log(stick_prior_[slot_of_[second]] / empty_mass)
                                                     : -std::log(truncation_ - n_clusters_ + 1.0);
    move_all(std::span(&j, 1), second);
    const double log_choice = allocate(members, first, second, nullptr, rng);
    const double after = log_target(first, second);
    if (std::log1p(-rng.uniform()) < after - before - log_choice - log_slot)
        return;
    move_all(std::span(&j, 1), first);
    std::vector<std::uint32_t> back;
    std::copy_if(members.begin(), members.end(), std::back_inserter(back),
                 [&](std::uint32_t item) { return assignment_[item] == second; });
    move_all(back, first);
    close_column(second);
}

template <class Label>
void State<Label>::merge(std::uint32_t i, std::uint32_t j, Items members, common::Rng& rng) {
    const auto first = assignment_[i], second = assignment_[j];
    const double before = log_target(first, second);
    std::vector<std::uint32_t> sides(members.size()), moved{j};
    for (std::size_t place = 0; place < members.size(); ++place) {
        sides[place] = assignment_[members[place]];
        if (sides[place] == second)
            moved.push_back(members[place]);
    }
    const double log_choice = allocate(members, first, second, &sides, rng);
    move_all(moved, first);
    close_column(second);
    const double after = log_target(first, no_column), log_slot = log_slot_probability(slot_of_[second]);
    if (std::log1p(-rng.uniform()) < after - before + log_choice + log_slot)
        return;
    reopen_column(second);
    move_all(moved, second);
}

#define INSTANTIATE(Label) template void State<Label>::split_or_merge(common::Rng&);

PARTITA_FOR_EACH_LABEL(INSTANTIATE)
#undef INSTANTIATE

} // namespace partita::ensembles
