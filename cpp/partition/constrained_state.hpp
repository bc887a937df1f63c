// A state under constraints, for every search of an expected loss: its items are atoms, sets of items that
// are always together, and its scores and merges leave out what the constraints forbid.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "partition/labels.hpp"
#include "partition/moves.hpp"
#include "partition/restrictions.hpp"
#include "partition/run.hpp"

namespace partita::search {

/// A problem with its constraints, in terms of atoms.
template <class Problem> class ConstrainedProblem {
public:
    /// Both are borrowed: they must outlive it.
    ConstrainedProblem(const Problem& problem, const Restrictions& restrictions)
        : problem_(&problem), atoms_(&restrictions.atoms), apart_(restrictions.atoms.size()),
          max_size_(restrictions.max_size) {
        std::vector<std::uint32_t> atom_of(problem.n_items());
        for (std::uint32_t a = 0; a < n_items(); ++a)
            for (const auto i : atom(a))
                atom_of[i] = a;
        for (std::uint32_t a = 0; a < n_items(); ++a)
            for (const auto i : atom(a))
                for (const auto other : restrictions.apart[i])
                    apart_[a].push_back(atom_of[other]);
    }

    const Problem& problem() const { return *problem_; }
    std::size_t n_items() const { return atoms_->size(); }
    const std::vector<std::uint32_t>& atom(std::size_t a) const { return (*atoms_)[a]; }
    const std::vector<std::uint32_t>& apart(std::size_t a) const { return apart_[a]; }
    std::size_t max_size() const { return max_size_; }

    /// Labels of the items from those of the atoms, and the other way round: an atom whose items are in
    /// different clusters is in none.
    std::vector<std::uint32_t> labels_of_items(std::span<const std::uint32_t> labels) const {
        std::vector<std::uint32_t> all(problem_->n_items());
        for (std::uint32_t a = 0; a < n_items(); ++a)
            for (const auto i : atom(a))
                all[i] = labels[a];
        return all;
    }
    std::vector<std::uint32_t> labels_of_atoms(std::span<const std::uint32_t> labels) const {
        std::vector<std::uint32_t> own(n_items());
        for (std::uint32_t a = 0; a < n_items(); ++a) {
            own[a] = labels[atom(a).front()];
            for (const auto i : atom(a))
                if (labels[i] != own[a])
                    own[a] = no_cluster;
        }
        return own;
    }

private:
    const Problem* problem_;
    const std::vector<std::vector<std::uint32_t>>* atoms_;
    std::vector<std::vector<std::uint32_t>> apart_;
    std::size_t max_size_;
};

/// Every partition that it can be moved to by scores and merges obeys the constraints.
template <SearchState S> class ConstrainedState {
public:
    using Setting = ConstrainedProblem<typename S::Setting>;

    ConstrainedState(const Setting& setting, std::uint32_t max_clusters)
        : setting_(&setting), state_(setting.problem(), max_clusters),
          labels_(setting.n_items(), no_cluster) {}

    const auto& problem() const { return state_.problem(); }
    std::uint32_t n_clusters() const { return state_.n_clusters(); }
    std::uint32_t cluster_of(std::size_t a) const { return state_.cluster_of(atom(a).front()); }
    bool is_alone(std::size_t a) const {
        return cluster_of(a) != no_cluster && state_.size(cluster_of(a)) == atom(a).size();
    }
    const std::vector<std::uint32_t>& labels() const {
        for (std::size_t a = 0; is_stale_ && a < labels_.size(); ++a)
            labels_[a] = cluster_of(a);
        is_stale_ = false;
        return labels_;
    }
    std::vector<std::uint32_t> members(std::uint32_t cluster) const { return members_of(labels(), cluster); }

    /// Atoms that the constraints keep out of their cluster, in the order of their numbers, are in none.
    void assign(std::span<const std::uint32_t> labels) {
        auto obeying = labels_;
        std::fill(obeying.begin(), obeying.end(), no_cluster);
        std::vector<std::size_t> sizes;
        for (std::uint32_t a = 0; a < labels.size(); ++a) {
            if (labels[a] == no_cluster)
                continue;
            sizes.resize(std::max<std::size_t>(sizes.size(), labels[a] + std::size_t{1}));
            const auto& apart = setting_->apart(a);
            if (sizes[labels[a]] + atom(a).size() > setting_->max_size() ||
                std::any_of(apart.begin(), apart.end(), [&](auto b) { return obeying[b] == labels[a]; }))
                continue;
            obeying[a] = labels[a];
            sizes[labels[a]] += atom(a).size();
        }
        renumber_used(obeying);
        state_.assign(setting_->labels_of_items(obeying));
        is_stale_ = true;
    }

    std::span<const double> score(std::size_t a) {
        return atom(a).size() == 1 ? allowed(a, state_.score(atom(a).front())) : score_group(a);
    }
    std::span<const double> score_precisely(std::size_t a) {
        return atom(a).size() == 1 ? allowed(a, state_.score_precisely(atom(a).front())) : score_group(a);
    }
    double cancelled(std::size_t a, std::uint32_t cluster) const {
        return atom(a).size() == 1 ? state_.cancelled(atom(a).front(), cluster) : std::abs(state_.value());
    }
    double tolerance() const { return state_.tolerance(); }
    double score_tolerance() const { return state_.score_tolerance(); }
    double precise_tolerance() const { return state_.precise_tolerance(); }
    double value() const { return state_.value(); }
    double exact_value() const { return state_.exact_value(); }
    double rounding() const { return state_.rounding(); }
    void refresh() { state_.refresh(); }
    void compact() { state_.compact(); }

    void insert(std::size_t a, std::uint32_t cluster) {
        for (const auto i : atom(a))
            state_.insert(i, cluster);
        is_stale_ = true;
    }
    void remove(std::size_t a) {
        for (const auto i : atom(a))
            state_.remove(i);
        is_stale_ = true;
    }
    void move(std::size_t a, std::uint32_t cluster) {
        state_.move(atom(a).front(), cluster);
        for (const auto i : std::span(atom(a)).subspan(1))
            state_.move(i, cluster_of(a)); // numbers may change under way
        is_stale_ = true;
    }

    /// Whether the constraints let atom a join a cluster that it is not in.
    bool allows(std::size_t a, std::uint32_t cluster) {
        find_forbidden(a);
        return cluster >= forbidden_.size() || !forbidden_[cluster];
    }

    std::vector<double> merge_changes() const {
        auto changes = state_.merge_changes();
        const std::size_t clusters = n_clusters();
        for (std::size_t k = 0; k < clusters; ++k)
            for (std::size_t l = k + 1; l < clusters; ++l)
                if (std::size_t{state_.size(k)} + state_.size(l) > setting_->max_size())
                    changes[k * clusters + l] = never;
        for (std::size_t a = 0; a < labels_.size(); ++a)
            for (const auto b : setting_->apart(a))
                if (const auto k = cluster_of(a), l = cluster_of(b); k < l && l != no_cluster)
                    changes[k * clusters + l] = never;
        return changes;
    }
    void merge(std::uint32_t k, std::uint32_t l) {
        state_.merge(k, l);
        is_stale_ = true;
    }

private:
    static constexpr double never = std::numeric_limits<double>::infinity();

    const std::vector<std::uint32_t>& atom(std::size_t a) const { return setting_->atom(a); }

    static void renumber_used(std::vector<std::uint32_t>& labels) {
        std::vector<std::uint32_t> names;
        std::uint32_t next = 0;
        for (auto& label : labels)
            if (label != no_cluster) {
                names.resize(std::max<std::size_t>(names.size(), label + std::size_t{1}), no_cluster);
                names[label] = names[label] == no_cluster ? next++ : names[label];
                label = names[label];
            }
    }

    void find_forbidden(std::size_t a) {
        forbidden_.resize(n_clusters());
        for (std::uint32_t k = 0; k < forbidden_.size(); ++k)
            forbidden_[k] = state_.size(k) + atom(a).size() > setting_->max_size();
        for (const auto other : setting_->apart(a))
            if (const auto k = cluster_of(other); k != no_cluster)
                forbidden_[k] = true;
        if (const auto own = cluster_of(a); own != no_cluster)
            forbidden_[own] = false;
    }

    std::span<const double> allowed(std::size_t a, std::span<const double> scores) {
        find_forbidden(a);
        scores_.assign(scores.begin(), scores.end());
        for (std::size_t k = 0; k < forbidden_.size(); ++k)
            if (forbidden_[k])
                scores_[k] = never;
        return scores_;
    }

    /// The changes of the value, by trying. An atom that is alone stays: merges move it.
    std::span<const double> score_group(std::size_t a) {
        find_forbidden(a);
        const auto own = cluster_of(a), clusters = n_clusters();
        scores_.assign(clusters + std::size_t{1}, never);
        if (own != no_cluster)
            scores_[own] = 0.0;
        const auto value = state_.value();
        for (std::uint32_t k = 0; k <= clusters && !is_alone(a); ++k)
            if (k != own && (k == clusters || !forbidden_[k])) {
                own == no_cluster ? insert(a, k) : move(a, k);
                scores_[k] = state_.value() - value;
                own == no_cluster ? remove(a) : move(a, own);
            }
        return scores_;
    }

    const Setting* setting_;
    S state_;
    mutable std::vector<std::uint32_t> labels_; // of the atoms
    mutable bool is_stale_ = false;
    std::vector<bool> forbidden_; // clusters, for the atom that was asked about last
    std::vector<double> scores_;
};

} // namespace partita::search
