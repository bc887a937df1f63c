// Merges of clusters and what each would change.
#include "search/state.hpp"

#include <algorithm>

namespace partita::search {

/// changes[k, l] += coefficient * (f(n_k + n_l) - f(n_k) - f(n_l)); f(0) = 0, so that only occupied cells
/// matter.
void State::add_pair_gains(std::size_t row, std::span<const double> table, double coefficient,
                           std::span<double> changes) const {
    const auto* counts = table_.counts(row);
    const auto clusters = n_clusters();
    static thread_local std::vector<std::uint32_t> occupied;
    occupied.clear();
    for (std::uint32_t k = 0; k < clusters; ++k)
        if (counts[k])
            occupied.push_back(k);
    for (std::size_t x = 0; x < occupied.size(); ++x)
        for (std::size_t y = x + 1; y < occupied.size(); ++y) {
            const auto k = occupied[x], l = occupied[y];
            changes[k * clusters + l] +=
                coefficient * (table[counts[k] + counts[l]] - table[counts[k]] - table[counts[l]]);
        }
}

std::vector<double> State::merge_changes() const {
    return problem_->is_linear() ? linear_merge_changes() : combined_merge_changes();
}

std::vector<double> State::linear_merge_changes() const {
    const auto clusters = n_clusters();
    const auto table = problem_->tables().joint();
    std::vector<double> changes(std::size_t{clusters} * clusters);
    for_each_row([&](std::size_t row, double coefficient, std::span<const float>) {
        add_pair_gains(row, table, coefficient, changes);
    });
    if (!problem_->has_gaps())
        for (std::uint32_t k = 0; k < clusters; ++k)
            for (std::uint32_t l = k + 1; l < clusters; ++l)
                changes[k * clusters + l] +=
                    problem_->estimate_scale() *
                    (table[sizes_[k] + sizes_[l]] - table[sizes_[k]] - table[sizes_[l]]);
    return changes;
}

std::vector<double> State::combined_merge_changes() const {
    const auto& tables = problem_->tables();
    const auto clusters = n_clusters();
    const auto pairs = std::size_t{clusters} * clusters;
    std::vector<double> changes(pairs, -value()), joint(pairs), estimate(pairs), losses(pairs);
    std::vector<Sums> sums(pairs);
    for (std::size_t t = 0; t < problem_->n_draws(); ++t) {
        std::fill(joint.begin(), joint.end(), joint_[t]);
        for (auto row = problem_->row_begin(t); row < problem_->row_begin(t + 1); ++row)
            add_pair_gains(row, tables.joint(), 1.0, joint);
        if (problem_->has_gaps()) {
            std::fill(estimate.begin(), estimate.end(), estimate_[t]);
            add_pair_gains(margin_row(t), tables.estimate(), 1.0, estimate);
        } else if (t == 0) {
            const auto table = tables.estimate();
            for (std::uint32_t k = 0; k < clusters; ++k)
                for (std::uint32_t l = k + 1; l < clusters; ++l)
                    estimate[k * clusters + l] =
                        estimate_[0] + table[sizes_[k] + sizes_[l]] - table[sizes_[k]] - table[sizes_[l]];
        }
        for (std::size_t pair = 0; pair < pairs; ++pair)
            sums[pair] = {joint[pair], estimate[pair], draw_[t], static_cast<double>(allocated_[t]),
                          tables.joint()[allocated_[t]]};
        tables.combine(sums, losses);
        for (std::size_t pair = 0; pair < pairs; ++pair)
            changes[pair] += problem_->weight(t) * losses[pair];
    }
    return changes;
}

void State::merge(std::uint32_t k, std::uint32_t l) {
    for_each_row([&](std::size_t row, double coefficient, std::span<const float> gain) {
        auto* counts = table_.counts(row);
        auto* gains = table_.gains(row);
        counts[k] += counts[l];
        counts[l] = 0;
        gains[k] = static_cast<float>(coefficient) * gain[counts[k]];
        gains[l] = static_cast<float>(coefficient) * gain[0];
    });
    std::replace(labels_.begin(), labels_.end(), l, k);
    sizes_[k] += sizes_[l];
    sizes_[l] = 0;
    close_cluster(l);
    refresh();
}

} // namespace partita::search
