// What a search minimises: draws, weights and a loss, laid out item after item. Shared by all runs and never
// changed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "draws/distinct_clusters.hpp"
#include "draws/draws.hpp"
#include "draws/expected_loss.hpp"

namespace partita::search {

/// One cluster of one draw is a *row*: rows of draw t are row_begin(t) .. row_begin(t + 1) - 1. An item lies
/// in one row of every draw that labels it. Where clusters repeat a lot and the loss is linear, draws share
/// rows: shared() has one for each distinct cluster, and rows no longer belong to draws.
class Problem : public ExpectedLoss {
public:
    /// `subset` picks the draws to use (all if empty); their weights are rescaled to sum to 1. The draws and
    /// tables are borrowed: they must outlive the problem.
    template <class Label>
    Problem(const Draws<Label>& draws, const LossTables& tables, std::span<const std::uint32_t> subset = {});

    std::size_t n_rows() const { return shared_ ? shared_->size() : row_begin_.back(); }
    std::uint32_t row_begin(std::size_t t) const { return row_begin_[t]; }
    /// The rows that draws share, each with its coefficient; nothing if every draw has rows of its own.
    const std::optional<DistinctClusters>& shared() const { return shared_; }
    /// How many clusters of draws a row stands for, on average.
    double clusters_per_row() const {
        return static_cast<double>(row_begin_.back()) / static_cast<double>(n_rows());
    }
    /// How many equal items item i stands for; they move together. Linear losses only.
    std::uint32_t copies(std::size_t i) const { return copies_.empty() ? 1 : copies_[i]; }
    bool has_copies() const { return !copies_.empty(); }

    double weight(std::size_t t) const { return weights_[t]; }
    /// Number of items that draw t labels, copies counted.
    std::uint32_t labelled(std::size_t t) const { return labelled_[t]; }

    /// Gain of one more item in a cell or cluster of each size: f(size + 1) - f(size).
    std::span<const float> joint_gain() const { return joint_gain_; }
    std::span<const float> estimate_gain() const { return estimate_gain_; }

    /// Of the cells of each draw, for a linear loss.
    std::span<const double> cell_coefficients() const { return cell_coefficients_; }

    /// The row of item i in every draw; no_row where the draw does not label it. For draws with rows of their
    /// own.
    static constexpr std::uint32_t no_row = 0xffffffffu;
    void rows_of(std::size_t i, std::span<std::uint32_t> rows) const;

    /// counts[row * row_stride + labels[i]] += 1 for each item i and each of its rows. For draws with rows of
    /// their own, without gaps and copies; every item has a label.
    void count_cells(std::span<const std::uint32_t> labels, std::uint32_t* counts,
                     std::size_t row_stride) const;

    /// Calls use(i, row) for each item that draw t labels. For draws with rows of their own.
    template <class Use> void for_each_item(std::size_t t, Use use) const {
        std::visit(
            [&](const auto& draws) {
                const auto labels = draws.draw(chosen_[t]);
                using Label = std::remove_const_t<typename decltype(labels)::value_type>;
                for (std::size_t i = 0; i < labels.size(); ++i)
                    if (labels[i] != gap<Label>)
                        use(i, row_begin_[t] + static_cast<std::uint32_t>(labels[i]));
            },
            draws_);
    }

private:
    void find_gains();
    void find_coefficients();
    void find_rounding();
    std::vector<double> draw_sums() const;
    template <class Label> void share_rows(const Draws<Label>& draws);
    template <class Label> void transpose(const Draws<Label>& draws);

    std::size_t n_total_;
    std::span<const std::uint32_t> copies_;
    std::variant<Draws<std::uint8_t>, Draws<std::uint16_t>, Draws<std::uint32_t>> draws_;
    std::vector<std::uint32_t> chosen_;
    std::vector<float> joint_gain_, estimate_gain_;
    std::vector<double> cell_coefficients_;
    std::vector<std::uint32_t> labelled_, row_begin_;
    std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<std::uint32_t>> by_item_;
    std::optional<DistinctClusters> shared_; // takes the place of by_item_
};

} // namespace partita::search
