// The scores of an item in every cluster.
#include "draws/state.hpp"
#include "partition/labels.hpp"

#include <algorithm>

namespace partita::search {

/// How many candidates item i has: every cluster, and a new one unless there are enough or it is alone
/// already.
std::size_t State::candidates(std::size_t i) const {
    return n_clusters() + (n_clusters() < max_clusters_ && !is_alone(i));
}

std::span<const double> State::score(std::size_t i) {
    if (problem_->copies(i) > 1) // the gains in the table are those of a single item
        return score_precisely(i);
    const auto own = labels_[i];
    const auto columns = candidates(i);
    ensure_column(columns - 1);
    find_rows(i);
    scores_.resize(padded(columns));
    if (problem_->is_linear())
        score_linear(own, columns);
    else if (sums_changes())
        score_changes(own, columns);
    else
        score_combined(own, columns);
    return {scores_.data(), columns};
}

std::span<const double> State::score_precisely(std::size_t i) {
    const auto own = labels_[i];
    const auto columns = candidates(i);
    ensure_column(columns - 1);
    find_rows(i);
    scores_.resize(padded(columns));
    if (problem_->is_linear()) {
        sum_gains_precisely(own, columns, problem_->copies(i));
        add_own_sizes(own, columns, problem_->copies(i));
    } else {
        score_combined(own, columns);
    }
    return {scores_.data(), columns};
}

void State::score_linear(std::uint32_t own, std::size_t columns) {
    const OwnColumn own_column{own, coefficients_.data(), problem_->joint_gain().data()};
    sum_gains(table_, rows_, padded(columns), own == no_cluster ? nullptr : &own_column, scores_.data());
    add_own_sizes(own, columns);
}

/// The part of a linear loss that the estimate's own cluster sizes make up; with gaps it is in the margin
/// rows.
void State::add_own_sizes(std::uint32_t own, std::size_t columns, std::uint32_t copies) {
    if (problem_->has_gaps())
        return;
    const auto table = problem_->tables().estimate();
    for (std::size_t k = 0; k < columns; ++k) {
        const auto size = k < sizes_.size() ? sizes_[k] - (k == own ? copies : 0) : 0;
        scores_[k] += problem_->estimate_scale() * (table[size + copies] - table[size]);
    }
}

/// A score is a difference of two terms: what a larger cluster costs (positive), less what the cells of the
/// item's rows gain. Their absolute values sum to at most |score| + 2 cost, so that 2 cost is what may
/// cancel.
double State::cancelled(std::size_t i, std::uint32_t cluster) const {
    if (sums_changes())
        return 2 * (factors_.bound_per_gain * static_cast<double>(candidate_gains_.cluster[cluster]) +
                    factors_.bound_per_rise * static_cast<double>(candidate_gains_.reciprocal[cluster]));
    if (!problem_->is_linear())
        return 0;
    const auto table = problem_->tables().estimate();
    const auto copies = problem_->copies(i);
    const auto size = cluster < sizes_.size() ? sizes_[cluster] - (cluster == labels_[i] ? copies : 0) : 0;
    return 2 * problem_->estimate_scale() * (table[size + copies] - table[size]);
}

void State::sum_gains_precisely(std::uint32_t own, std::size_t columns, std::uint32_t copies) {
    const auto table = problem_->tables().joint();
    std::fill_n(scores_.begin(), columns, 0.0);
    for (std::size_t e = 0; e < rows_.size(); ++e) {
        const auto factor = coefficient(e);
        const auto* counts = table_.counts(rows_[e]);
        for (std::size_t k = 0; k < columns; ++k) {
            const auto count = counts[k] - (k == own ? copies : 0);
            scores_[k] += factor * (table[count + copies] - table[count]);
        }
    }
}

/// Changes from the partition without the item, which has the same loss for every candidate.
void State::score_changes(std::uint32_t own, std::size_t columns) {
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
    find_candidate_gains(own, wide, estimate, total);
    sum_changes(tables.loss(), table_, rows_, factors_, candidate_gains_, wide, scores_.data());
    if (own != no_cluster)
        scores_[own] = sum_changes_of(tables.loss(), own_gains_, factors_, candidate_gains_.cluster[own],
                                      candidate_gains_.reciprocal[own]);
    if (factors_.any_degenerate)
        add_degenerate(own, columns);
}

/// The sums of each draw with the item taken out (if it is in), the draw's own with it counted.
void State::find_sums_without(std::uint32_t own) {
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

void State::find_candidate_gains(std::uint32_t own, std::size_t columns, double estimate, double total) {
    const auto table = problem_->tables().estimate();
    const bool is_nid = std::holds_alternative<NID>(problem_->tables().loss());
    candidate_gains_.resize(columns);
    for (std::size_t k = 0; k < columns; ++k) {
        const auto size = k < sizes_.size() ? sizes_[k] - (k == own) : 0;
        candidate_gains_.set(k, table[size + 1] - table[size], total - estimate, is_nid);
    }
}

/// Whole losses of the draws for which changes would divide by next to nothing.
void State::add_degenerate(std::uint32_t own, std::size_t columns) {
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

void State::score_combined(std::uint32_t own, std::size_t columns) {
    const auto wide = padded(columns);
    find_terms(own);
    std::fill_n(scores_.begin(), wide, 0.0);
    if (!problem_->has_gaps())
        find_candidate_sums(own, wide);
    const auto& loss = problem_->tables().loss();
    if (std::holds_alternative<CustomLoss>(loss))
        score_custom(own, columns);
    else
        score_rows(loss, table_, rows_, margin_rows_, terms_,
                   problem_->has_gaps() ? entry_estimate_ : candidate_estimate_, wide, scores_.data());
    if (own != no_cluster)
        scores_[own] = stay_score();
}

/// Staying leaves every draw as it is. Draws that do not label the item are the same for all candidates: left
/// out.
double State::stay_score() const {
    if (!problem_->has_gaps())
        return value();
    std::vector<Sums> sums(rows_.size());
    std::vector<double> losses(rows_.size());
    for (std::size_t e = 0; e < rows_.size(); ++e)
        sums[e] = sums_of(draws_[e]);
    problem_->tables().combine(sums, losses);
    double stay = 0;
    for (std::size_t e = 0; e < rows_.size(); ++e)
        stay += terms_[e].weight * losses[e];
    return stay;
}

/// The sums of each draw with the item taken out (if it is in), and with it counted in the draw's own sum and
/// n.
void State::find_terms(std::uint32_t own) {
    const auto& tables = problem_->tables();
    terms_.resize(rows_.size());
    entry_estimate_.resize(problem_->has_gaps() ? rows_.size() : 0);
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
        if (problem_->has_gaps()) {
            const auto margin = own == no_cluster ? 0 : table_.counts(margin_rows_[e])[own];
            entry_estimate_[e] =
                estimate_[t] - (margin ? tables.estimate()[margin] - tables.estimate()[margin - 1] : 0.0);
        }
    }
}

/// The estimate's sum for each candidate, where it is the same for all draws.
void State::find_candidate_sums(std::uint32_t own, std::size_t columns) {
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

/// A user's own loss may divide by what vanishes: its sums are differences of the tables in double precision.
void State::score_custom(std::uint32_t own, std::size_t columns) {
    const auto& tables = problem_->tables();
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
                problem_->has_gaps()
                    ? entry_estimate_[e] + gain(tables.estimate(), table_.counts(margin_rows_[e]), k)
                    : candidate_estimate_[k];
            sums[e * columns + k] = {joint, estimate, t.draw, t.n, t.total};
        }
    tables.combine(sums, losses);
    for (std::size_t e = 0; e < rows_.size(); ++e)
        for (std::size_t k = 0; k < columns; ++k)
            scores_[k] += terms_[e].weight * losses[e * columns + k];
}

} // namespace partita::search
