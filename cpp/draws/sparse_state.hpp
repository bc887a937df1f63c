// A partition of many small clusters under search. It knows the same verbs as the states on cells and gives
// the same scores, but looks only at the clusters that share a row with an item.
//
// With psi(c, m) = phi(c + m) - phi(c) - phi(m), which is zero where a row has no item of a cluster, the
// score of item i in cluster k is what i adds anywhere, plus the estimate's own part, plus the sum of psi
// over the rows that i and k share. docs/many_clusters.md derives that no other cluster can be better than a
// new one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "draws/sparse_problem.hpp"
#include "partition/cluster_index.hpp"
#include "partition/labels.hpp"
#include "partition/rounding.hpp"
#include "partition/size_index.hpp"

namespace partita::search {

class SparseState : public LabelledItems {
public:
    using Setting = SparseProblem;

    /// A cluster and the score of an item there, or the change of value() if it were merged with another.
    struct Candidate {
        std::uint32_t cluster;
        double score;
    };

    SparseState(const SparseProblem& problem, std::uint32_t max_clusters);

    const SparseProblem& problem() const { return *problem_; }
    bool is_alone(std::size_t i) const {
        return labels_[i] != no_cluster && sizes_[labels_[i]] == problem_->copies(i);
    }
    std::vector<std::uint32_t> members(std::uint32_t cluster) const;
    std::uint32_t first_member(std::uint32_t cluster) const { return heads_[cluster]; }

    void assign(std::span<const std::uint32_t> labels);
    void compact() {}

    /// Scores of item i, in no order: its own cluster, those that share a row with it, and a new one; where
    /// the limit on clusters forbids that, a smallest one. No other cluster has a lower score than the last
    /// one named, but for gaps, where the smallest cluster is a guess.
    std::span<const Candidate> candidates(std::size_t i);

    /// What merging cluster k with each one that shares a row with it would change. No other merge lowers the
    /// value.
    std::span<const Candidate> merges_of(std::uint32_t k);
    /// The same for one other cluster, whether it shares a row or not.
    double merge_change(std::uint32_t k, std::uint32_t l);
    std::uint32_t smallest_cluster(std::uint32_t besides) { return by_size_.smallest(sizes_, besides); }

    /// Calls use(j) for the items that share a row with item i, some more than once; not for those of long
    /// rows, which one item hardly changes.
    template <class Use> void for_each_neighbour(std::size_t i, Use use) const {
        for (const auto& pair : rows_->pairs_of(i))
            use(pair.other);
        for (const auto j : rows_->others_of(i))
            use(j);
    }

    /// Asks for the memory that the scores of an item will need, all of it at once: the labels of the items
    /// that it shares rows with may be anywhere, and one after the other each would be waited for.
    void fetch(std::size_t i) const {
        for_each_neighbour(i, [&](std::uint32_t j) { __builtin_prefetch(&labels_[j]); });
    }

    /// As of the states on cells: scores in all clusters, all merges. For small problems and tests.
    std::span<const double> score(std::size_t i);
    std::span<const double> score_precisely(std::size_t i) { return score(i); }
    double tolerance() const { return precise_tolerance(); }
    double score_tolerance() const { return precise_tolerance(); }
    double precise_tolerance() const { return problem_->is_linear() ? double_rounding : nonlinear_rounding; }
    double cancelled(std::size_t i, std::uint32_t cluster) const;
    std::vector<double> merge_changes() const;

    void insert(std::size_t i, std::uint32_t cluster);
    void remove(std::size_t i);
    void move(std::size_t i, std::uint32_t cluster);
    void merge(std::uint32_t k, std::uint32_t l);

    double value() const;
    double exact_value() const { return problem_->is_linear() ? linear_value() : value(); }
    double rounding() const { return problem_->rounding() + precise_tolerance() * std::abs(value()); }
    void refresh();

private:
    struct Cell {
        std::uint32_t cluster, count;
    };
    /// The sums of a draw without the item at hand, but with it counted in n and in the draw's own sum.
    struct Term {
        double joint, draw, n, total, estimate;
    };

    std::span<const Cell> cells(std::uint32_t row) const;
    std::span<const Cell> cells_of(std::span<const std::uint32_t> items) const;
    /// Calls use(row, cells, is_long) for each row of item i; the cells of short rows are without the item.
    template <class Use> void for_each_row(std::size_t i, Use use) const {
        const auto* others = rows_->others_of(i).data();
        for (const auto& row : rows_->rows_of(i)) {
            const bool is_long = row.n_others == 0;
            use(row, is_long ? cells(row.row) : cells_of({others, row.n_others}), is_long);
            others += row.n_others;
        }
    }
    static std::uint32_t count_in(std::span<const Cell> cells, std::uint32_t cluster) {
        const auto cell = std::ranges::find(cells, cluster, &Cell::cluster);
        return cell == cells.end() ? 0 : cell->count;
    }
    void count_long_rows();
    void add_to_long_rows(std::size_t i, std::uint32_t cluster, std::int64_t step);
    void rename_in_long_rows(std::uint32_t from, std::uint32_t to);

    void link(std::size_t i, std::uint32_t cluster);
    void unlink(std::size_t i);
    void resize(std::uint32_t cluster, std::uint32_t size);
    void open_cluster(std::uint32_t cluster);
    void close_cluster(std::uint32_t cluster);
    template <int Step> void change(std::size_t i, std::uint32_t cluster);
    void change_value(std::size_t i, std::uint32_t cluster, int sign);
    void change_sums(std::size_t i, std::uint32_t cluster, int sign);
    void change_margins(std::size_t i, std::uint32_t cluster, std::int64_t step);
    double linear_value() const;
    double combined_value() const;
    void find_sums();

    double joint_extra(std::uint32_t count, std::uint32_t copies) const;
    std::uint32_t* margins(std::uint32_t cluster) { return margins_.data() + cluster * problem_->n_draws(); }
    const std::uint32_t* margins(std::uint32_t cluster) const {
        return margins_.data() + cluster * problem_->n_draws();
    }
    std::size_t slot_of(std::uint32_t cluster);
    void forget_candidates();
    void add_extra(std::uint32_t cluster, const RowOfItem& row, double extra);
    void add_extra(std::uint32_t cluster, const Pair& pair, double extra);
    void gather(std::size_t i);
    void gather_merges(std::uint32_t k);
    void find_terms(std::size_t i);
    double score_of(std::size_t i, std::uint32_t cluster, std::size_t slot) const;
    double linear_score(std::size_t i, std::uint32_t cluster, double extra) const;
    double combined_score(std::size_t i, std::uint32_t cluster, const double* extra) const;
    double change_of(std::uint32_t k, std::uint32_t l, std::size_t slot) const;
    double linear_change(std::uint32_t k, std::uint32_t l, double extra) const;
    double combined_change(std::uint32_t k, std::uint32_t l, const double* extra) const;
    bool may_open(std::size_t i) const { return n_clusters() < max_clusters_ && !is_alone(i); }

    const SparseProblem* problem_;
    const SparseRows* rows_;
    std::vector<std::uint32_t> heads_, next_, previous_; // members of each cluster, as linked lists
    SizeIndex by_size_;
    mutable double value_ = 0;
    mutable bool stale_ = false; // as of sums on cells

    // Cells of rows with many items, as lists; those of short rows are counted when they are read.
    std::vector<std::uint32_t> long_number_; // of each row; empty if there are none
    std::vector<std::vector<Cell>> long_cells_;
    mutable std::vector<Cell> short_cells_;

    std::vector<double> unit_extra_;              // psi(count, 1)
    std::vector<std::uint32_t> margins_;          // items of each cluster that each draw labels; with gaps
    std::vector<double> joint_, estimate_, draw_; // of each draw; losses that are not linear
    std::vector<std::uint32_t> allocated_, row_sizes_;

    // The item or cluster at hand: its candidates, and for each the sum of psi over shared rows, in all or,
    // for losses that are not linear, draw by draw.
    ClusterSlots slots_; // places in `found_`
    std::vector<Candidate> found_;
    std::vector<double> extras_, scores_;
    std::vector<Term> terms_;
    std::vector<std::uint32_t> seen_; // the last look at each item and long row, when merges are gathered
    std::uint32_t look_ = 0;
};

} // namespace partita::search
