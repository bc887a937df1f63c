// How cells, sums and value change as items come, go and move.
#include "draws/state.hpp"
#include "partition/labels.hpp"

#include <algorithm>
#include <utility>

namespace partita::search {
/// Puts the item whose rows are at hand into `cluster` (Step = 1) or takes it out (Step = -1).
template <int Step> void State::change(std::size_t i, std::uint32_t cluster) {
    if (problem_->has_copies())
        change_copies<Step>(i, cluster);
    else
        change_one<Step>(i, cluster);
}

/// The same for an item that stands for several; the loss is linear.
template <int Step> void State::change_copies(std::size_t i, std::uint32_t cluster) {
    const auto step = static_cast<std::uint32_t>(Step) * problem_->copies(i); // wraps, and back
    const auto gain = problem_->joint_gain();
    const auto table = problem_->tables().joint();
    for (std::size_t e = 0; e < rows_.size(); ++e) {
        auto& count = table_.counts(rows_[e])[cluster];
        value_ += static_cast<double>(coefficients_[e]) * (table[count + step] - table[count]);
        count += step;
        table_.gains(rows_[e])[cluster] = coefficients_[e] * gain[count];
    }
    auto& size = sizes_[cluster];
    if (!problem_->has_gaps())
        value_ += problem_->estimate_scale() * (table[size + step] - table[size]);
    size += step;
    labels_[i] = Step > 0 ? cluster : no_cluster;
}

template <int Step> void State::change_one(std::size_t i, std::uint32_t cluster) {
    const auto gain = problem_->joint_gain(), margin_gain = problem_->estimate_gain();
    const bool linear = problem_->is_linear();
    double sum = 0;
    if (!linear)
        change_sums(cluster, Step);
    for (std::size_t e = 0; e < rows_.size(); ++e) {
        auto& count = table_.counts(rows_[e])[cluster];
        auto& cell_gain = table_.gains(rows_[e])[cluster];
        if constexpr (Step > 0)
            sum += cell_gain;
        count += static_cast<std::uint32_t>(Step);
        cell_gain = (linear ? coefficients_[e] : 1.0f) * gain[count];
        if constexpr (Step < 0)
            sum -= cell_gain;
    }
    if (!linear)
        for (const auto row : margin_rows_) {
            auto& count = table_.counts(row)[cluster];
            count += static_cast<std::uint32_t>(Step);
            table_.gains(row)[cluster] = margin_gain[count];
        }
    const auto smaller = Step > 0 ? sizes_[cluster] : sizes_[cluster] - 1;
    sizes_[cluster] += static_cast<std::uint32_t>(Step);
    labels_[i] = Step > 0 ? cluster : no_cluster;
    if (linear)
        value_ +=
            sum + (problem_->has_gaps() ? 0.0 : Step * problem_->estimate_scale() * margin_gain[smaller]);
}

/// Sums of a non-linear loss, before the counts change.
void State::change_sums(std::uint32_t cluster, int step) {
    const auto& tables = problem_->tables();
    auto difference = [step](std::span<const double> table, std::uint32_t count) {
        return table[count + static_cast<std::uint32_t>(step)] - table[count];
    };
    for (std::size_t e = 0; e < rows_.size(); ++e) {
        const auto t = draws_[e];
        joint_[t] += difference(tables.joint(), table_.counts(rows_[e])[cluster]);
        if (problem_->has_gaps())
            estimate_[t] += difference(tables.estimate(), table_.counts(margin_rows_[e])[cluster]);
    }
    if (!problem_->has_gaps())
        estimate_[0] += difference(tables.estimate(), sizes_[cluster]);
}

/// The sums of the draws themselves, before the item at hand comes or goes; a move leaves them alone.
void State::change_draw_sums(int step) {
    if (problem_->is_linear())
        return;
    const auto table = problem_->tables().draw();
    for (std::size_t e = 0; e < rows_.size(); ++e) {
        auto& size = row_sizes_[rows_[e]];
        draw_[draws_[e]] += table[size + static_cast<std::uint32_t>(step)] - table[size];
        size += static_cast<std::uint32_t>(step);
        allocated_[draws_[e]] += static_cast<std::uint32_t>(step);
    }
}

void State::insert(std::size_t i, std::uint32_t cluster) {
    ensure_column(cluster);
    if (cluster == n_clusters())
        sizes_.push_back(0);
    find_rows(i);
    change_draw_sums(1);
    change<1>(i, cluster);
    stale_ = !problem_->is_linear();
}

void State::remove(std::size_t i) {
    const auto cluster = labels_[i];
    find_rows(i);
    change_draw_sums(-1);
    change<-1>(i, cluster);
    stale_ = !problem_->is_linear();
    if (sizes_[cluster] == 0)
        close_cluster(cluster);
}

void State::move(std::size_t i, std::uint32_t cluster) {
    const auto old = labels_[i];
    if (cluster == old)
        return;
    ensure_column(cluster);
    if (cluster == n_clusters())
        sizes_.push_back(0);
    find_rows(i);
    change<-1>(i, old);
    change<1>(i, cluster);
    stale_ = !problem_->is_linear();
    if (sizes_[old] == 0)
        close_cluster(old);
}

/// Exchanges the empty column with the last one, so that clusters in use stay side by side.
void State::close_cluster(std::uint32_t cluster) {
    if (const auto last = n_clusters() - 1; cluster != last)
        for (std::size_t row = 0; row < all_rows(); ++row) {
            std::swap(table_.counts(row)[cluster], table_.counts(row)[last]);
            std::swap(table_.gains(row)[cluster], table_.gains(row)[last]);
        }
    drop(cluster);
}

} // namespace partita::search
