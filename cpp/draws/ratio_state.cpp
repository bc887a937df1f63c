#include "draws/cell_states.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace partita::search {

void RatioCells::score_precisely_at_hand(std::uint32_t own, std::size_t columns, std::uint32_t) {
    begin_scores(own, padded(columns));
    score_rows(problem_->tables().loss(), table_, rows_, margin_rows_, terms_,
               has_gaps() ? entry_estimate_ : candidate_estimate_, padded(columns), scores_.data());
    end_scores(own);
}

/// Changes from the partition without the item, which has the same loss for every candidate.
void RatioCells::score_at_hand(std::uint32_t own, std::size_t columns) {
    if (has_gaps())
        return score_precisely_at_hand(own, columns);
    const auto& tables = problem_->tables();
    const auto wide = padded(columns);
    find_sums_without(own);
    const std::size_t n = allocated_[0] + (own == no_cluster);
    const auto total = tables.joint()[n];
    auto estimate = estimate_[0];
    if (own != no_cluster)
        estimate -= tables.estimate()[sizes_[own]] - tables.estimate()[sizes_[own] - 1];
    find_factors(tables.loss(),
                 {problem_->weights(), joint_without_, own == no_cluster ? draw_with_ : draw_, estimate,
                  total, static_cast<double>(n)},
                 factors_);
    candidate_gains_.resize(wide);
    for (std::size_t k = 0; k < wide; ++k)
        candidate_gains_.set(k, size_change(k, own), total - estimate,
                             std::holds_alternative<NID>(tables.loss()));
    sum_changes(tables.loss(), table_, rows_, factors_, candidate_gains_, wide, scores_.data());
    if (own != no_cluster)
        scores_[own] = sum_changes_of(tables.loss(), own_gains_, factors_, candidate_gains_.cluster[own],
                                      candidate_gains_.reciprocal[own]);
    if (factors_.any_degenerate)
        add_degenerate(own, columns);
}

double RatioCells::cancelled(std::size_t, std::uint32_t cluster) const {
    return has_gaps()
               ? 0
               : 2 * (factors_.bound_per_gain * static_cast<double>(candidate_gains_.cluster[cluster]) +
                      factors_.bound_per_rise * static_cast<double>(candidate_gains_.reciprocal[cluster]));
}

/// The sums of each draw with the item taken out (if it is in), the draw's own with it counted.
void RatioCells::find_sums_without(std::uint32_t own) {
    const auto n_draws = problem_->n_draws();
    const auto gain = problem_->joint_gain();
    own_gains_.resize(n_draws);
    joint_without_.assign(joint_.begin(), joint_.end());
    if (own != no_cluster) {
        for (std::size_t t = 0; t < n_draws; ++t)
            own_gains_[t] = gain[table_.counts(rows_[t])[own] - 1];
        for (std::size_t t = 0; t < n_draws; ++t)
            joint_without_[t] -= static_cast<double>(own_gains_[t]);
        return;
    }
    const auto table = problem_->tables().draw();
    draw_with_.resize(n_draws);
    for (std::size_t t = 0; t < n_draws; ++t) {
        const auto size = row_sizes_[rows_[t]];
        draw_with_[t] = draw_[t] + table[size + 1] - table[size];
    }
}

/// Whole losses of the draws for which changes would divide by next to nothing.
void RatioCells::add_degenerate(std::uint32_t own, std::size_t columns) {
    const auto& tables = problem_->tables();
    const auto n = allocated_[0] + (own == no_cluster);
    find_candidate_sums(own, columns);
    std::vector<Sums> sums(columns);
    std::vector<double> losses(columns);
    for (std::size_t t = 0; t < problem_->n_draws(); ++t) {
        if (factors_.degenerate[t] == 0.0f)
            continue;
        const auto* counts = table_.counts(rows_[t]);
        auto without = joint_[t];
        if (own != no_cluster)
            without -= tables.joint()[counts[own]] - tables.joint()[counts[own] - 1];
        for (std::size_t k = 0; k < columns; ++k) {
            const auto count = counts[k] - (k == own);
            sums[k] = {without + (tables.joint()[count + 1] - tables.joint()[count]), candidate_estimate_[k],
                       (own == no_cluster ? draw_with_ : draw_)[t], static_cast<double>(n),
                       tables.joint()[n]};
        }
        tables.combine(sums, losses);
        for (std::size_t k = 0; k < columns; ++k)
            scores_[k] += problem_->weight(t) * losses[k];
    }
}

std::vector<double> RatioCells::changes_of_merges() const {
    if (has_gaps())
        return combined_merge_changes();
    auto changes = summed_merge_changes();
    const auto clusters = n_clusters();
    auto least = std::numeric_limits<double>::infinity();
    for (std::uint32_t k = 0; k < clusters; ++k)
        for (std::uint32_t l = k + 1; l < clusters; ++l)
            least = std::min(least, changes[k * clusters + l]);
    const bool close_to_call = std::abs(least) < single_rounding * std::abs(value());
    return close_to_call ? combined_merge_changes() : changes;
}

/// By the changes in single precision.
std::vector<double> RatioCells::summed_merge_changes() const {
    const auto& tables = problem_->tables();
    const auto& loss = tables.loss();
    const auto clusters = n_clusters();
    const auto pairs = std::size_t{clusters} * clusters;
    const std::size_t n = allocated_[0];
    const auto total = tables.joint()[n];
    std::vector<double> changes(pairs);
    std::vector<float> gains(pairs);
    MergeSums room;
    ChangeFactors factors;
    find_factors(loss, {problem_->weights(), joint_, draw_, estimate_[0], total, static_cast<double>(n)},
                 factors);
    CandidateGains candidates;
    candidates.resize(pairs);
    for (std::uint32_t k = 0; k < clusters; ++k)
        for (std::uint32_t l = k + 1; l < clusters; ++l)
            candidates.set(k * clusters + l, size_gain(k, l), total - estimate_[0],
                           std::holds_alternative<NID>(loss));
    for (std::size_t t = 0; t < problem_->n_draws(); ++t) {
        if (factors.degenerate[t] != 0.0f) {
            add_combined_merges(t, changes, room);
            continue;
        }
        std::fill(gains.begin(), gains.end(), 0.0f);
        for (auto row = problem_->row_begin(t); row < problem_->row_begin(t + 1); ++row)
            add_pair_gains<float>(table_.counts(row), clusters, tables.joint(), 1.0, gains);
        add_changes_of_draw(loss, factors, t, gains, candidates, changes);
    }
    return changes;
}

template class CellState<RatioCells>;

} // namespace partita::search
