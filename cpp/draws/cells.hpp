// What the states of draws under any loss share: a partition, the table of cells that its clusters have with
// those of the draws, and the rows of the item at hand. What a loss needs beside these are its *regime*:
// linear losses, ratios of sums, and a user's own have one each.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/work.hpp"
#include "draws/kernels.hpp"
#include "draws/problem.hpp"
#include "partition/labels.hpp"

namespace partita::search {

class Cells : public LabelledItems {
public:
    using Setting = Problem;

    const Problem& problem() const { return *problem_; }
    /// Whether item i, with its copies, is a cluster of its own.
    bool is_alone(std::size_t i) const {
        return labels_[i] != no_cluster && sizes_[labels_[i]] == problem_->copies(i);
    }

protected:
    Cells(const Problem& problem, std::uint32_t max_clusters)
        : LabelledItems(problem.n_items(), max_clusters), problem_(&problem) {}

    std::size_t margin_row(std::size_t t) const { return problem_->n_rows() + t; }
    std::size_t all_rows() const;
    /// How many candidates item i has: every cluster, and a new one unless there are enough or it is alone.
    std::size_t n_candidates(std::size_t i) const {
        return n_clusters() + (n_clusters() < max_clusters_ && !is_alone(i));
    }

    /// Room for a cluster of this number.
    void ensure_column(std::size_t column);
    bool is_too_wide() const { return padded(n_clusters() + 1) < table_.stride; }
    void take_partition(std::span<const std::uint32_t> labels);
    void open_cluster(std::uint32_t cluster);
    void close_if_empty(std::uint32_t cluster);
    void merge_cells(std::uint32_t k, std::uint32_t l);
    template <class Use> void for_each_row(Use use) const; // use(row, coefficient, gain table)
    void find_rows(std::size_t i);

    /// What the estimate's own sum gains by an item in a cluster, which is first taken out of its own; and by
    /// a merge.
    double size_change(std::size_t cluster, std::uint32_t own, std::uint32_t copies = 1) const {
        const auto table = problem_->tables().estimate();
        const auto size = cluster < sizes_.size() ? sizes_[cluster] - (cluster == own ? copies : 0) : 0;
        return table[size + copies] - table[size];
    }
    double size_gain(std::uint32_t k, std::uint32_t l) const;

    const Problem* problem_;
    CellTable table_;
    std::vector<double> scores_;
    /// The item at hand: its rows in the draws that label it, and the draw and the margin of each.
    std::vector<std::uint32_t> rows_, draws_, margin_rows_;

private:
    void allocate(std::size_t columns);
    void count();
    void count_cells();

    std::unique_ptr<std::byte[]> storage_;
    std::vector<std::uint32_t> by_draw_;
};

template <class Use> void Cells::for_each_row(Use use) const {
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

/// A partition under search: remove, score, insert. What all regimes do alike; a regime adds find_rows(i),
/// score_at_hand(own, columns) and score_precisely_at_hand, which fill the first columns of `scores_`,
/// count_item(step) as an item comes or goes, enter(i, cluster) and leave(i, cluster), and the values.
template <class Regime> class CellState : public Regime {
public:
    /// Starts with no item in any cluster. `score` offers a new cluster only while there are fewer than
    /// max_clusters.
    CellState(const Problem& problem, std::uint32_t max_clusters) : Regime(problem, max_clusters) {
        Regime::refresh();
    }

    /// Replaces the whole partition; items labelled `no_cluster` stay out. Labels must be 0..K-1, each in
    /// use.
    void assign(std::span<const std::uint32_t> labels) {
        Regime::take_partition(labels);
        Regime::refresh();
    }
    /// Gives back the room of clusters that have gone.
    void compact() {
        if (Regime::is_too_wide())
            assign(this->labels());
    }

    /// Scores of putting item i into each cluster, up to a common constant, in units of the expected loss;
    /// one more entry for a new cluster where one is allowed. An item that is in a cluster is scored as if it
    /// were taken out.
    std::span<const double> score(std::size_t i) {
        if (this->problem().copies(i) > 1) // the gains in the table are those of a single item
            return score_precisely(i);
        const auto columns = take_item(i);
        Regime::score_at_hand(this->cluster_of(i), columns);
        return {Regime::scores_.data(), columns};
    }
    /// The same from the counts in double precision: slower, for the rare case that the scores are too close
    /// to call.
    std::span<const double> score_precisely(std::size_t i) {
        const auto columns = take_item(i);
        Regime::score_precisely_at_hand(this->cluster_of(i), columns, this->problem().copies(i));
        return {Regime::scores_.data(), columns};
    }

    /// The three changes. `cluster` may be n_clusters(): a new one. A cluster that empties is closed: the
    /// last cluster takes its number.
    void insert(std::size_t i, std::uint32_t cluster) {
        Regime::open_cluster(cluster);
        find(i);
        Regime::count_item(1);
        Regime::enter(i, cluster);
    }
    void remove(std::size_t i) {
        const auto cluster = this->cluster_of(i);
        find(i);
        Regime::count_item(-1);
        Regime::leave(i, cluster);
        Regime::close_if_empty(cluster);
    }
    void move(std::size_t i, std::uint32_t cluster) {
        const auto old = this->cluster_of(i);
        if (cluster == old)
            return;
        Regime::open_cluster(cluster);
        find(i);
        Regime::leave(i, old);
        Regime::enter(i, cluster);
        Regime::close_if_empty(old);
    }
    /// changes[k * K + l], k < l: change of value() if clusters k and l were merged.
    std::vector<double> merge_changes() const {
        common::count_steps(this->problem().n_draws() * this->n_clusters() * this->n_clusters());
        return Regime::changes_of_merges();
    }
    void merge(std::uint32_t k, std::uint32_t l) {
        Regime::merge_cells(k, l);
        Regime::refresh();
    }

    /// What rounding may do to the exact value.
    double rounding() const {
        return this->problem().rounding() + this->precise_tolerance() * std::abs(this->value());
    }

private:
    void find(std::size_t i) {
        common::count_steps(this->problem().n_draws() * (this->n_clusters() + std::size_t{1}));
        Regime::find_rows(i);
    }
    std::size_t take_item(std::size_t i) {
        const auto columns = Regime::n_candidates(i);
        Regime::ensure_column(columns - 1);
        find(i);
        Regime::scores_.resize(padded(columns));
        return columns;
    }
};

} // namespace partita::search
