// A partition under search, with everything needed to score the moves of one item: remove, score, insert.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "draws/change_kernels.hpp"
#include "draws/kernels.hpp"
#include "draws/problem.hpp"
#include "partition/labels.hpp"
#include "partition/rounding.hpp"

namespace partita::search {

class State : public LabelledItems {
public:
    using Setting = Problem;
    /// Of the scores of losses that are not linear: sums in double precision of gains in single precision.
    static constexpr double nonlinear_rounding = 1e-10;

    /// Starts with no item in any cluster. `score` offers a new cluster only while there are fewer than
    /// max_clusters.
    State(const Problem& problem, std::uint32_t max_clusters);

    const Problem& problem() const { return *problem_; }
    /// Whether item i, with its copies, is a cluster of its own.
    bool is_alone(std::size_t i) const {
        return labels_[i] != no_cluster && sizes_[labels_[i]] == problem_->copies(i);
    }

    /// Replaces the whole partition; items labelled `no_cluster` stay out. Labels must be 0..K-1, each in
    /// use.
    void assign(std::span<const std::uint32_t> labels);

    /// Gives back the room of clusters that have gone.
    void compact();

    /// Scores of putting item i into each cluster, up to a common constant, in units of the expected loss;
    /// one more entry for a new cluster where one is allowed. An item that is in a cluster is scored as if it
    /// were taken out.
    std::span<const double> score(std::size_t i);

    /// The same from the counts in double precision: slower, for the rare case that the scores are too close
    /// to call.
    std::span<const double> score_precisely(std::size_t i);

    /// What rounding may do to `score` and to `score_precisely`, relative to a score's magnitude: that of
    /// item i's score in a cluster is at most |score| + cancelled(i, cluster), for the item scored last.
    double score_tolerance() const {
        return problem_->is_linear() || sums_changes() ? single_rounding : nonlinear_rounding;
    }
    /// What it may do to `value`, relative to its magnitude.
    double tolerance() const { return problem_->is_linear() ? single_rounding : nonlinear_rounding; }
    double precise_tolerance() const { return problem_->is_linear() ? double_rounding : nonlinear_rounding; }
    double cancelled(std::size_t i, std::uint32_t cluster) const;

    /// The three changes. `cluster` may be n_clusters(): a new one. A cluster that empties is closed: the
    /// last cluster takes its number.
    void insert(std::size_t i, std::uint32_t cluster);
    void remove(std::size_t i);
    void move(std::size_t i, std::uint32_t cluster);

    /// Expected loss of the items that are in clusters. For linear losses it leaves out the part that no
    /// partition changes. Kept up to date by changes in single precision; `refresh` recomputes it from the
    /// counts.
    double value() const;
    void refresh();
    /// The same from the counts, and what rounding may do to it.
    double exact_value() const { return problem_->is_linear() ? linear_value() : value(); }
    double rounding() const;

    /// changes[k * K + l], k < l: change of value() if clusters k and l were merged.
    std::vector<double> merge_changes() const;
    void merge(std::uint32_t k, std::uint32_t l);

private:
    std::size_t margin_row(std::size_t t) const { return problem_->n_rows() + t; }
    std::size_t all_rows() const;
    std::size_t draws_or_one() const { return problem_->has_gaps() ? problem_->n_draws() : 1; }

    void fit_columns();
    void allocate(std::size_t columns);
    void ensure_column(std::size_t column);
    void count_cells();
    void count_cells_of_draws();
    void count_shared_cells();
    void find_row_sizes();
    void fill_gains();
    template <class Use> void for_each_row(Use use) const; // use(row, coefficient, gain table)
    void find_sums();
    double linear_value() const;
    double combined_value() const;
    Sums sums_of(std::size_t t) const;
    double stay_score() const;

    void find_rows(std::size_t i);
    void find_shared_rows(std::size_t i);
    double coefficient(std::size_t entry) const;
    template <int Step> void change(std::size_t i, std::uint32_t cluster);
    template <int Step> void change_one(std::size_t i, std::uint32_t cluster);
    template <int Step> void change_copies(std::size_t i, std::uint32_t cluster);
    void change_sums(std::uint32_t cluster, int step);
    void change_draw_sums(int step);
    void close_cluster(std::uint32_t cluster);

    void score_linear(std::uint32_t own, std::size_t columns);
    void sum_gains_precisely(std::uint32_t own, std::size_t columns, std::uint32_t copies);
    void add_own_sizes(std::uint32_t own, std::size_t columns, std::uint32_t copies = 1);
    std::size_t candidates(std::size_t i) const;
    bool sums_changes() const {
        return !problem_->has_gaps() && has_change_kernel(problem_->tables().loss());
    }
    void score_changes(std::uint32_t own, std::size_t columns);
    void find_sums_without(std::uint32_t own);
    void find_candidate_gains(std::uint32_t own, std::size_t columns, double estimate, double total);
    void add_degenerate(std::uint32_t own, std::size_t columns);
    void score_combined(std::uint32_t own, std::size_t columns);
    void score_custom(std::uint32_t own, std::size_t columns);
    void find_terms(std::uint32_t own);
    void find_candidate_sums(std::uint32_t own, std::size_t columns);

    struct MergeSums { // of one draw, for each pair of clusters
        std::vector<double> joint, estimate, losses;
        std::vector<Sums> sums;
    };
    double size_gain(std::uint32_t k, std::uint32_t l) const;
    void add_combined_merges(std::size_t t, std::span<double> changes, MergeSums& room) const;
    std::vector<double> summed_merge_changes() const;
    std::vector<double> linear_merge_changes() const;
    std::vector<double> combined_merge_changes() const;

    const Problem* problem_;
    std::unique_ptr<std::byte[]> storage_;
    CellTable table_;
    mutable double value_ = 0;
    mutable bool stale_ = false; // changes came since value_ was computed; losses that are not linear only

    // Sums of each draw over the items that are in clusters; used by losses that are not linear. Without gaps
    // the estimate's sum is the same for all draws and kept once.
    std::vector<double> joint_, estimate_, draw_;
    std::vector<std::uint32_t> allocated_, row_sizes_;

    // The item at hand: its rows in the draws that label it, or those that draws share, and what belongs to
    // each.
    std::vector<std::uint32_t> by_draw_, rows_, draws_, margin_rows_;
    std::vector<float> coefficients_;
    std::vector<DrawTerms> terms_;
    std::vector<double> scores_, candidate_estimate_, entry_estimate_;

    // The same for losses whose changes are summed.
    std::vector<double> joint_without_, draw_with_;
    std::vector<float> own_gains_;
    ChangeFactors factors_;
    CandidateGains candidate_gains_;
};

template <class Use> void State::for_each_row(Use use) const {
    if (const auto& shared = problem_->shared()) {
        for (std::size_t row = 0; row < shared->size(); ++row)
            use(row, shared->coefficients[row], problem_->joint_gain());
        return;
    }
    const bool linear = problem_->is_linear();
    for (std::size_t t = 0; t < problem_->n_draws(); ++t) {
        const double coefficient = linear ? problem_->cell_coefficients()[t] : 1.0;
        for (auto row = problem_->row_begin(t); row < problem_->row_begin(t + 1); ++row)
            use(row, coefficient, problem_->joint_gain());
        if (problem_->has_gaps())
            use(margin_row(t), linear ? problem_->margin_coefficients()[t] : 1.0, problem_->estimate_gain());
    }
}

} // namespace partita::search
