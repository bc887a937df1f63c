// The states of draws on cells: one regime of losses each, and the choice between them.
#pragma once

#include <vector>

#include "draws/cells.hpp"
#include "draws/ratio_kernels.hpp"
#include "partition/rounding.hpp"

namespace partita::search {

/// Binder's loss and the variation of information: a score is a plain sum of gains. Items may stand for
/// several, and draws may share rows. With gaps the margins of a draw are one more row.
class LinearCells : public Cells {
public:
    /// What rounding may do to `score`, to `value` and to `score_precisely`, relative to a score's magnitude:
    /// that of item i's score in a cluster is at most |score| + cancelled(i, cluster), for the item scored
    /// last.
    double score_tolerance() const { return single_rounding; }
    double tolerance() const { return single_rounding; }
    double precise_tolerance() const { return double_rounding; }
    double cancelled(std::size_t i, std::uint32_t cluster) const;

    /// Expected loss of the items that are in clusters without the part that no partition changes. Kept up to
    /// date by changes in single precision; `refresh` recomputes it from the counts.
    double value() const { return value_; }
    void refresh() { value_ = exact_value(); }
    double exact_value() const;

protected:
    using Cells::Cells;
    std::vector<double> changes_of_merges() const;
    void find_rows(std::size_t i);
    void score_at_hand(std::uint32_t own, std::size_t columns);
    void score_precisely_at_hand(std::uint32_t own, std::size_t columns, std::uint32_t copies);
    void count_item(int) {}
    void enter(std::size_t i, std::uint32_t cluster) { change<1>(i, cluster); }
    void leave(std::size_t i, std::uint32_t cluster) { change<-1>(i, cluster); }

private:
    double coefficient(std::size_t entry) const;
    void add_own_sizes(std::uint32_t own, std::size_t columns, std::uint32_t copies);
    template <int Step> void change(std::size_t i, std::uint32_t cluster);
    void change_copies(std::uint32_t cluster, std::uint32_t step);

    double value_ = 0;
    std::vector<float> coefficients_; // of the rows at hand
};

/// What losses that are not linear have in common: their sums are kept for every draw, and combined. Items
/// stand for themselves only, and draws have rows of their own.
class SumCells : public Cells {
public:
    double tolerance() const { return nonlinear_rounding; }
    double precise_tolerance() const { return nonlinear_rounding; }
    double value() const;
    void refresh();
    double exact_value() const { return value(); }

protected:
    using Cells::Cells;
    bool has_gaps() const { return problem_->has_gaps(); }

    /// What the scores of the item at hand are made of: the sums of each draw with the item taken out (if it
    /// is in), and those of the estimate for each candidate. Scores are zero.
    void begin_scores(std::uint32_t own, std::size_t columns);
    void find_candidate_sums(std::uint32_t own, std::size_t columns);
    /// The score of staying, which leaves every draw as it is.
    void end_scores(std::uint32_t own);

    void count_item(int step);
    void enter(std::size_t i, std::uint32_t cluster) { change(i, cluster, 1); }
    void leave(std::size_t i, std::uint32_t cluster) { change(i, cluster, -1); }

    struct MergeSums { // of one draw, for each pair of clusters
        std::vector<double> joint, estimate, losses;
        std::vector<Sums> sums;
    };
    void add_combined_merges(std::size_t t, std::span<double> changes, MergeSums& room) const;
    std::vector<double> combined_merge_changes() const;

    // Sums of each draw over the items that are in clusters. Without gaps the estimate's sum is the same for
    // all draws and kept once.
    std::vector<double> joint_, estimate_, draw_;
    std::vector<std::uint32_t> allocated_, row_sizes_;
    std::vector<DrawTerms> terms_; // of the item at hand
    std::vector<double> candidate_estimate_, entry_estimate_;

private:
    Sums sums_of(std::size_t t) const;
    template <class DrawOf> double combined(std::size_t n_draws, DrawOf draw_of) const;
    void change(std::size_t i, std::uint32_t cluster, int step);

    mutable double value_ = 0;
    mutable bool stale_ = false; // changes came since value_ was computed
};

/// NVI, ID, NID and 1 - ARI. Without gaps a score sums changes from the partition without the item, in single
/// precision.
class RatioCells : public SumCells {
public:
    /// What rounding may do to `score`, relative to its magnitude, as for linear losses.
    double score_tolerance() const { return has_gaps() ? nonlinear_rounding : single_rounding; }
    double cancelled(std::size_t, std::uint32_t cluster) const;

protected:
    using SumCells::SumCells;
    std::vector<double> changes_of_merges() const;
    void score_at_hand(std::uint32_t own, std::size_t columns);
    void score_precisely_at_hand(std::uint32_t own, std::size_t columns, std::uint32_t copies = 1);

private:
    void find_sums_without(std::uint32_t own);
    void add_degenerate(std::uint32_t own, std::size_t columns);
    std::vector<double> summed_merge_changes() const;

    std::vector<double> joint_without_, draw_with_;
    std::vector<float> own_gains_;
    ChangeFactors factors_;
    CandidateGains candidate_gains_;
};

/// A user's own loss. It may divide by what vanishes: its sums are differences of the tables in double
/// precision.
class CustomCells : public SumCells {
public:
    double score_tolerance() const { return nonlinear_rounding; }
    double cancelled(std::size_t, std::uint32_t) const { return 0; }

protected:
    using SumCells::SumCells;
    std::vector<double> changes_of_merges() const { return combined_merge_changes(); }
    void score_at_hand(std::uint32_t own, std::size_t columns) { score_precisely_at_hand(own, columns); }
    void score_precisely_at_hand(std::uint32_t own, std::size_t columns, std::uint32_t copies = 1);
};

extern template class CellState<LinearCells>;
extern template class CellState<RatioCells>;
extern template class CellState<CustomCells>;
using LinearState = CellState<LinearCells>;
using RatioState = CellState<RatioCells>;
using CustomState = CellState<CustomCells>;

/// Calls use<S>() with the state of draws under this loss: a search chooses once, where it begins.
template <class Use> auto with_cell_state(const Loss& loss, Use use) {
    if (as_linear(loss))
        return use.template operator()<LinearState>();
    if (std::holds_alternative<CustomLoss>(loss))
        return use.template operator()<CustomState>();
    return use.template operator()<RatioState>();
}

} // namespace partita::search
