// The scores of an item in the clusters that share a row with it, and what merges of such clusters change.
#include <algorithm>
#include <utility>

#include "common/work.hpp"
#include "draws/sparse_state.hpp"
#include "partition/labels.hpp"

namespace partita::search {

/// The place of a cluster among those that were found for the item or cluster at hand; a new one if need be.
std::size_t SparseState::slot_of(std::uint32_t cluster) {
    const auto slot = slots_.meet(cluster, static_cast<std::uint32_t>(found_.size()));
    if (slot == found_.size()) {
        found_.push_back({cluster, 0});
        __builtin_prefetch(sizes_.data() + cluster); // for the score
        if (!problem_->is_linear())
            extras_.resize(found_.size() * problem_->n_draws());
    }
    return slot;
}

void SparseState::forget_candidates() {
    slots_.clear();
    found_.clear();
    extras_.clear();
}

/// Adds psi of a shared row to what was found for a cluster.
void SparseState::add_extra(std::uint32_t cluster, const RowOfItem& row, double extra) {
    if (problem_->is_linear())
        found_[slot_of(cluster)].score += row.coefficient * extra;
    else
        extras_[slot_of(cluster) * problem_->n_draws() + rows_->draws[row.row]] += extra;
}

void SparseState::add_extra(std::uint32_t cluster, const Pair& pair, double extra) {
    if (problem_->is_linear())
        found_[slot_of(cluster)].score += pair.coefficient * extra;
    else
        extras_[slot_of(cluster) * problem_->n_draws() + pair.draw] += extra;
}

/// The clusters that share a row with item i and the sums of psi there, as if the item were in none.
void SparseState::gather(std::size_t i) {
    forget_candidates();
    fetch(i);
    const auto own = labels_[i], copies = problem_->copies(i);
    for (const auto& pair : rows_->pairs_of(i))
        if (const auto cluster = labels_[pair.other]; cluster != no_cluster)
            add_extra(cluster, pair, joint_extra(problem_->copies(pair.other), copies));
    std::size_t steps = rows_->pairs_of(i).size();
    for_each_row(i, [&](const RowOfItem& row, std::span<const Cell> cells, bool is_long) {
        steps += cells.size();
        for (const auto& cell : cells)
            if (const auto count = cell.count - (is_long && cell.cluster == own ? copies : 0))
                add_extra(cell.cluster, row, joint_extra(count, copies));
    });
    common::count_steps(steps);
}

/// The sums of each draw with the item taken out (if it is in), and with it counted in the draw's own sum and
/// in n.
void SparseState::find_terms(std::size_t i) {
    const auto table = problem_->tables().joint();
    const auto own = labels_[i];
    const bool is_in = own != no_cluster;
    const auto* extra =
        is_in && slots_[own] != no_cluster ? &extras_[slots_[own] * problem_->n_draws()] : nullptr;
    terms_.resize(problem_->n_draws());
    for (std::size_t t = 0; t < terms_.size(); ++t) {
        const auto n = allocated_[t] + (is_in ? 0 : 1);
        auto& term = terms_[t];
        term = {joint_[t], draw_[t], static_cast<double>(n), table[n],
                estimate_[problem_->has_gaps() ? t : 0]};
        if (!is_in) {
            term.draw += table[1];
            continue;
        }
        const auto size = problem_->has_gaps() ? margins(own)[t] : sizes_[own];
        term.joint -= table[1] + (extra ? extra[t] : 0.0);
        term.estimate -= size ? table[size] - table[size - 1] : 0.0;
    }
    if (is_in)
        return;
    for (const auto& pair : rows_->pairs_of(i))
        terms_[pair.draw].draw += labels_[pair.other] != no_cluster ? unit_extra_[1] : 0.0;
    for (const auto& row : rows_->rows_of(i))
        terms_[rows_->draws[row.row]].draw += unit_extra_[row_sizes_[row.row]];
}

double SparseState::linear_score(std::size_t i, std::uint32_t cluster, double extra) const {
    const auto table = problem_->tables().joint();
    const auto copies = problem_->copies(i), taken = cluster == labels_[i] ? copies : 0;
    auto score = problem_->alone(i) + extra;
    if (!problem_->has_gaps()) {
        const auto size = (cluster < n_clusters() ? sizes_[cluster] : 0) - taken;
        return score + problem_->estimate_scale() * (table[size + copies] - table[size]);
    }
    for (std::size_t t = 0; t < problem_->n_draws(); ++t)
        if (problem_->is_labelled(i, t)) {
            const auto size = margins(cluster)[t] - taken;
            score += problem_->margin_coefficients()[t] * (table[size + copies] - table[size]);
        }
    return score;
}

/// As of a linear loss on cells: the part of the estimate's own sum is positive, and the rows give some of it
/// back.
double SparseState::cancelled(std::size_t i, std::uint32_t cluster) const {
    if (!problem_->is_linear())
        return 0;
    const auto table = problem_->tables().joint();
    const auto copies = problem_->copies(i);
    const auto size = cluster < n_clusters() ? sizes_[cluster] - (cluster == labels_[i] ? copies : 0) : 0;
    return 2 * problem_->estimate_scale() * (table[size + copies] - table[size]);
}

/// `extra` has psi of the shared rows draw by draw; none if there are no shared rows.
double SparseState::combined_score(std::size_t i, std::uint32_t cluster, const double* extra) const {
    const auto table = problem_->tables().joint();
    const auto taken = cluster == labels_[i] ? 1u : 0u;
    const auto size_in_all = (cluster < n_clusters() ? sizes_[cluster] : 0) - taken;
    return weighted_sum(
        problem_->tables().loss(), problem_->weights(),
        [&](std::size_t t) {
            const auto size = problem_->has_gaps() ? margins(cluster)[t] - taken : size_in_all;
            const auto& term = terms_[t];
            return Sums{term.joint + table[1] + (extra ? extra[t] : 0.0),
                        term.estimate + table[size + 1] - table[size], term.draw, term.n, term.total};
        },
        [&](std::size_t t) { return problem_->is_labelled(i, t); });
}

/// The score of the item at hand in a cluster; `slot` is no_cluster if they share no row.
double SparseState::score_of(std::size_t i, std::uint32_t cluster, std::size_t slot) const {
    if (problem_->is_linear())
        return linear_score(i, cluster, slot == no_cluster ? 0.0 : found_[slot].score);
    return combined_score(i, cluster, slot == no_cluster ? nullptr : &extras_[slot * problem_->n_draws()]);
}

std::span<const SparseState::Candidate> SparseState::candidates(std::size_t i) {
    gather(i);
    const auto own = labels_[i];
    if (own != no_cluster)
        slot_of(own);
    if (may_open(i))
        slot_of(n_clusters());
    else if (const auto smallest = smallest_cluster(own); smallest != no_cluster && !is_alone(i))
        slot_of(smallest);
    if (!problem_->is_linear())
        find_terms(i);
    for (std::size_t slot = 0; slot < found_.size(); ++slot)
        found_[slot].score = score_of(i, found_[slot].cluster, slot);
    common::count_steps(found_.size());
    return found_;
}

std::span<const double> SparseState::score(std::size_t i) {
    gather(i);
    if (!problem_->is_linear())
        find_terms(i);
    scores_.resize(n_clusters() + may_open(i));
    for (std::uint32_t k = 0; k < scores_.size(); ++k)
        scores_[k] = score_of(i, k, slots_[k]);
    common::count_steps(scores_.size());
    return scores_;
}

/// The clusters that share a row with cluster k, and the sums of psi there.
void SparseState::gather_merges(std::uint32_t k) {
    forget_candidates();
    seen_.resize(labels_.size() + long_cells_.size());
    if (++look_ == 0) {
        std::fill(seen_.begin(), seen_.end(), 0u);
        look_ = 1;
    }
    for (auto i = heads_[k]; i != no_cluster; i = next_[i]) {
        fetch(i);
        for (const auto& pair : rows_->pairs_of(i))
            if (const auto cluster = labels_[pair.other]; cluster != no_cluster && cluster != k)
                add_extra(cluster, pair, joint_extra(problem_->copies(pair.other), problem_->copies(i)));
        const auto* others = rows_->others_of(i).data();
        for_each_row(i, [&](const RowOfItem& row, std::span<const Cell> cells, bool is_long) {
            const auto of_row = std::span(others, row.n_others);
            others += row.n_others;
            if (is_long ? std::exchange(seen_[labels_.size() + long_number_[row.row]], look_) == look_
                        : std::ranges::any_of(of_row,
                                              [&](auto j) { return labels_[j] == k && seen_[j] == look_; }))
                return;
            common::count_steps(cells.size());
            const auto own = count_in(cells, k) + (is_long ? 0 : problem_->copies(i));
            for (const auto& cell : cells)
                if (cell.cluster != k)
                    add_extra(cell.cluster, row, joint_extra(cell.count, own));
        });
        seen_[i] = look_;
    }
}

double SparseState::linear_change(std::uint32_t k, std::uint32_t l, double extra) const {
    const auto table = problem_->tables().joint();
    auto change = extra;
    if (!problem_->has_gaps())
        return change + problem_->estimate_scale() *
                            (table[sizes_[k] + sizes_[l]] - table[sizes_[k]] - table[sizes_[l]]);
    for (std::size_t t = 0; t < problem_->n_draws(); ++t) {
        const auto x = margins(k)[t], y = margins(l)[t];
        change += problem_->margin_coefficients()[t] * (table[x + y] - table[x] - table[y]);
    }
    return change;
}

double SparseState::combined_change(std::uint32_t k, std::uint32_t l, const double* extra) const {
    const auto table = problem_->tables().joint();
    const auto merged = weighted_sum(problem_->tables().loss(), problem_->weights(), [&](std::size_t t) {
        const auto x = problem_->has_gaps() ? margins(k)[t] : sizes_[k];
        const auto y = problem_->has_gaps() ? margins(l)[t] : sizes_[l];
        return Sums{joint_[t] + (extra ? extra[t] : 0.0),
                    estimate_[problem_->has_gaps() ? t : 0] + table[x + y] - table[x] - table[y], draw_[t],
                    static_cast<double>(allocated_[t]), table[allocated_[t]]};
    });
    return merged - value();
}

double SparseState::change_of(std::uint32_t k, std::uint32_t l, std::size_t slot) const {
    if (problem_->is_linear())
        return linear_change(k, l, slot == no_cluster ? 0.0 : found_[slot].score);
    return combined_change(k, l, slot == no_cluster ? nullptr : &extras_[slot * problem_->n_draws()]);
}

std::span<const SparseState::Candidate> SparseState::merges_of(std::uint32_t k) {
    gather_merges(k);
    for (std::size_t slot = 0; slot < found_.size(); ++slot)
        found_[slot].score = change_of(k, found_[slot].cluster, slot);
    return found_;
}

double SparseState::merge_change(std::uint32_t k, std::uint32_t l) {
    gather_merges(k);
    return change_of(k, l, slots_[l]);
}

std::vector<double> SparseState::merge_changes() const {
    auto state = *this; // candidates are gathered in a state's own memory
    const std::size_t clusters = n_clusters();
    std::vector<double> changes(clusters * clusters);
    for (std::uint32_t k = 0; k < clusters; ++k) {
        state.gather_merges(k);
        for (std::uint32_t l = k + 1; l < clusters; ++l)
            changes[k * clusters + l] = state.change_of(k, l, state.slots_[l]);
    }
    return changes;
}

/// One item after the other, so that the value follows; the last one closes the cluster.
void SparseState::merge(std::uint32_t k, std::uint32_t l) {
    for (auto i = heads_[l]; i != no_cluster; i = heads_[l]) {
        const bool is_last = next_[i] == no_cluster;
        move(i, k);
        if (is_last)
            break;
    }
}

} // namespace partita::search
