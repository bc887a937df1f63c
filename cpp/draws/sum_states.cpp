#include "draws/cell_states.hpp"

#include <algorithm>
#include <numeric>

namespace partita::search {
namespace {

void change_count(std::uint32_t& count, int step, std::span<const double> table, double& sum) {
    const auto before = table[count];
    count += static_cast<std::uint32_t>(step);
    sum += table[count] - before;
}

} // namespace

void SumCells::refresh() {
    const auto& tables = problem_->tables();
    const auto n_draws = problem_->n_draws();
    joint_.assign(n_draws, 0);
    draw_.assign(n_draws, 0);
    estimate_.assign(has_gaps() ? n_draws : 1, 0);
    allocated_.assign(n_draws, 0);
    row_sizes_.resize(problem_->n_rows());
    for (std::size_t t = 0; t < n_draws; ++t) {
        for (auto row = problem_->row_begin(t); row < problem_->row_begin(t + 1); ++row) {
            const std::span counts(table_.counts(row), n_clusters());
            row_sizes_[row] = std::accumulate(counts.begin(), counts.end(), 0u);
            allocated_[t] += row_sizes_[row];
            draw_[t] += tables.draw()[row_sizes_[row]];
            for (const auto count : counts)
                joint_[t] += tables.joint()[count];
        }
        if (has_gaps())
            for (std::size_t k = 0; k < n_clusters(); ++k)
                estimate_[t] += tables.estimate()[table_.counts(margin_row(t))[k]];
    }
    if (!has_gaps())
        for (const auto size : sizes_)
            estimate_[0] += tables.estimate()[size];
    stale_ = true;
}

Sums SumCells::sums_of(std::size_t t) const {
    const auto n = allocated_[t];
    return {joint_[t], estimate_[has_gaps() ? t : 0], draw_[t], static_cast<double>(n),
            problem_->tables().joint()[n]};
}

/// The losses of some draws as they are, weighted.
template <class DrawOf> double SumCells::combined(std::size_t n_draws, DrawOf draw_of) const {
    std::vector<Sums> sums(n_draws);
    std::vector<double> losses(n_draws);
    for (std::size_t e = 0; e < n_draws; ++e)
        sums[e] = sums_of(draw_of(e));
    problem_->tables().combine(sums, losses);
    double total = 0;
    for (std::size_t e = 0; e < n_draws; ++e)
        total += problem_->weight(draw_of(e)) * losses[e];
    return total;
}

double SumCells::value() const {
    if (stale_)
        value_ = combined(problem_->n_draws(), [](std::size_t t) { return t; });
    stale_ = false;
    return value_;
}

/// Draws that do not label the item are the same for all candidates: left out.
void SumCells::end_scores(std::uint32_t own) {
    if (own != no_cluster)
        scores_[own] =
            has_gaps() ? combined(rows_.size(), [&](std::size_t e) { return draws_[e]; }) : value();
}

/// An item that is in no cluster is counted in the draw's own sum and n.
void SumCells::begin_scores(std::uint32_t own, std::size_t columns) {
    const auto& tables = problem_->tables();
    terms_.resize(rows_.size());
    entry_estimate_.resize(has_gaps() ? rows_.size() : 0);
    for (std::size_t e = 0; e < rows_.size(); ++e) {
        const auto t = draws_[e];
        auto joint = joint_[t], draw = draw_[t];
        auto n = allocated_[t];
        if (own != no_cluster) {
            const auto count = table_.counts(rows_[e])[own];
            joint -= tables.joint()[count] - tables.joint()[count - 1];
        } else {
            const auto size = row_sizes_[rows_[e]];
            draw += tables.draw()[size + 1] - tables.draw()[size];
            ++n;
        }
        terms_[e] = {problem_->weight(t), joint, draw, static_cast<double>(n), tables.joint()[n]};
        if (has_gaps()) {
            const auto margin = own == no_cluster ? 0 : table_.counts(margin_rows_[e])[own];
            entry_estimate_[e] =
                estimate_[t] - (margin ? tables.estimate()[margin] - tables.estimate()[margin - 1] : 0.0);
        }
    }
    std::fill_n(scores_.begin(), columns, 0.0);
    if (!has_gaps())
        find_candidate_sums(own, columns);
}

/// The estimate's sum for each candidate, where it is the same for all draws.
void SumCells::find_candidate_sums(std::uint32_t own, std::size_t columns) {
    const auto table = problem_->tables().estimate();
    auto without = estimate_[0];
    if (own != no_cluster)
        without -= table[sizes_[own]] - table[sizes_[own] - 1];
    candidate_estimate_.resize(columns);
    for (std::size_t k = 0; k < columns; ++k) {
        const auto size = k < sizes_.size() ? sizes_[k] - (k == own) : 0;
        candidate_estimate_[k] = without + table[size + 1] - table[size];
    }
}

/// The sums of the draws themselves, before the item at hand comes or goes; a move leaves them alone.
void SumCells::count_item(int step) {
    for (std::size_t e = 0; e < rows_.size(); ++e) {
        change_count(row_sizes_[rows_[e]], step, problem_->tables().draw(), draw_[draws_[e]]);
        allocated_[draws_[e]] += static_cast<std::uint32_t>(step);
    }
}

/// Puts the item whose rows are at hand into `cluster` (step = 1) or takes it out (step = -1).
void SumCells::change(std::size_t i, std::uint32_t cluster, int step) {
    const auto& tables = problem_->tables();
    const auto change_cells = [&](const std::vector<std::uint32_t>& rows, std::span<const double> table,
                                  std::span<const float> gain, std::vector<double>& sums) {
        for (std::size_t e = 0; e < rows.size(); ++e) {
            auto& count = table_.counts(rows[e])[cluster];
            change_count(count, step, table, sums[draws_[e]]);
            table_.gains(rows[e])[cluster] = gain[count];
        }
    };
    change_cells(rows_, tables.joint(), problem_->joint_gain(), joint_);
    change_cells(margin_rows_, tables.estimate(), problem_->estimate_gain(), estimate_);
    double unused = 0; // with gaps the estimate's sums are those of the margins
    change_count(sizes_[cluster], step, tables.estimate(), has_gaps() ? unused : estimate_[0]);
    labels_[i] = step > 0 ? cluster : no_cluster;
    stale_ = true;
}

std::vector<double> SumCells::combined_merge_changes() const {
    std::vector<double> changes(std::size_t{n_clusters()} * n_clusters());
    MergeSums room;
    for (std::size_t t = 0; t < problem_->n_draws(); ++t)
        add_combined_merges(t, changes, room);
    return changes;
}

/// What each merge changes in draw t, in double precision. The first entry, a merge of a cluster with itself,
/// is the partition as it is.
void SumCells::add_combined_merges(std::size_t t, std::span<double> changes, MergeSums& room) const {
    const auto& tables = problem_->tables();
    const auto clusters = n_clusters();
    const auto pairs = changes.size();
    room.joint.assign(pairs, joint_[t]);
    for (auto row = problem_->row_begin(t); row < problem_->row_begin(t + 1); ++row)
        add_pair_gains<double>(table_.counts(row), clusters, tables.joint(), 1.0, room.joint);
    if (has_gaps()) {
        room.estimate.assign(pairs, estimate_[t]);
        add_pair_gains<double>(table_.counts(margin_row(t)), clusters, tables.estimate(), 1.0, room.estimate);
    } else if (room.estimate.empty()) {
        room.estimate.assign(pairs, estimate_[0]);
        for (std::uint32_t k = 0; k < clusters; ++k)
            for (std::uint32_t l = k + 1; l < clusters; ++l)
                room.estimate[k * clusters + l] += size_gain(k, l);
    }
    room.sums.assign(pairs, sums_of(t));
    room.losses.resize(pairs);
    for (std::size_t pair = 0; pair < pairs; ++pair) {
        room.sums[pair].joint = room.joint[pair];
        room.sums[pair].estimate = room.estimate[pair];
    }
    tables.combine(room.sums, room.losses);
    for (std::size_t pair = 0; pair < pairs; ++pair)
        changes[pair] += problem_->weight(t) * (room.losses[pair] - room.losses[0]);
}

void CustomCells::score_precisely_at_hand(std::uint32_t own, std::size_t columns, std::uint32_t) {
    const auto& tables = problem_->tables();
    begin_scores(own, columns);
    auto gain = [own](std::span<const double> table, const std::uint32_t* counts, std::size_t k) {
        const auto count = counts[k] - (k == own);
        return table[count + 1] - table[count];
    };
    std::vector<Sums> sums(rows_.size() * columns);
    std::vector<double> losses(sums.size());
    for (std::size_t e = 0; e < rows_.size(); ++e)
        for (std::size_t k = 0; k < columns; ++k) {
            const auto& t = terms_[e];
            const auto joint = t.joint + gain(tables.joint(), table_.counts(rows_[e]), k);
            const auto estimate =
                has_gaps() ? entry_estimate_[e] + gain(tables.estimate(), table_.counts(margin_rows_[e]), k)
                           : candidate_estimate_[k];
            sums[e * columns + k] = {joint, estimate, t.draw, t.n, t.total};
        }
    tables.combine(sums, losses);
    for (std::size_t e = 0; e < rows_.size(); ++e)
        for (std::size_t k = 0; k < columns; ++k)
            scores_[k] += terms_[e].weight * losses[e * columns + k];
    end_scores(own);
}

template class CellState<CustomCells>;

} // namespace partita::search
