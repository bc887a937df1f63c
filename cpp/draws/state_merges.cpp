// Merges of clusters and what each would change.
#include "common/work.hpp"
#include "draws/state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace partita::search {

/// What the estimate's own sum gains by a merge.
double State::size_gain(std::uint32_t k, std::uint32_t l) const {
    const auto table = problem_->tables().estimate();
    return table[sizes_[k] + sizes_[l]] - table[sizes_[k]] - table[sizes_[l]];
}

std::vector<double> State::merge_changes() const {
    common::count_steps(problem_->n_draws() * n_clusters() * n_clusters());
    if (problem_->is_linear())
        return linear_merge_changes();
    if (!sums_changes())
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
std::vector<double> State::summed_merge_changes() const {
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

std::vector<double> State::linear_merge_changes() const {
    const auto clusters = n_clusters();
    const auto table = problem_->tables().joint();
    std::vector<double> changes(std::size_t{clusters} * clusters);
    for_each_row([&](std::size_t row, double coefficient, std::span<const float>) {
        add_pair_gains<double>(table_.counts(row), clusters, table, coefficient, changes);
    });
    if (!problem_->has_gaps())
        for (std::uint32_t k = 0; k < clusters; ++k)
            for (std::uint32_t l = k + 1; l < clusters; ++l)
                changes[k * clusters + l] += problem_->estimate_scale() * size_gain(k, l);
    return changes;
}

std::vector<double> State::combined_merge_changes() const {
    std::vector<double> changes(std::size_t{n_clusters()} * n_clusters());
    MergeSums room;
    for (std::size_t t = 0; t < problem_->n_draws(); ++t)
        add_combined_merges(t, changes, room);
    return changes;
}

/// What each merge changes in draw t, in double precision. The first entry, a merge of a cluster with itself,
/// is the partition as it is.
void State::add_combined_merges(std::size_t t, std::span<double> changes, MergeSums& room) const {
    const auto& tables = problem_->tables();
    const auto clusters = n_clusters();
    const auto pairs = changes.size();
    room.joint.assign(pairs, joint_[t]);
    for (auto row = problem_->row_begin(t); row < problem_->row_begin(t + 1); ++row)
        add_pair_gains<double>(table_.counts(row), clusters, tables.joint(), 1.0, room.joint);
    if (problem_->has_gaps()) {
        room.estimate.assign(pairs, estimate_[t]);
        add_pair_gains<double>(table_.counts(margin_row(t)), clusters, tables.estimate(), 1.0, room.estimate);
    } else if (room.estimate.empty()) {
        room.estimate.assign(pairs, estimate_[0]);
        for (std::uint32_t k = 0; k < clusters; ++k)
            for (std::uint32_t l = k + 1; l < clusters; ++l)
                room.estimate[k * clusters + l] += size_gain(k, l);
    }
    room.sums.resize(pairs);
    room.losses.resize(pairs);
    for (std::size_t pair = 0; pair < pairs; ++pair)
        room.sums[pair] = {room.joint[pair], room.estimate[pair], draw_[t],
                           static_cast<double>(allocated_[t]), tables.joint()[allocated_[t]]};
    tables.combine(room.sums, room.losses);
    for (std::size_t pair = 0; pair < pairs; ++pair)
        changes[pair] += problem_->weight(t) * (room.losses[pair] - room.losses[0]);
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
    join(k, l);
    close_cluster(l);
    refresh();
}

} // namespace partita::search
