// What a search of many small clusters minimises: the rows of the draws as lists of items. Shared by all runs
// and never changed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "draws/draws.hpp"
#include "draws/expected_loss.hpp"
#include "draws/sparse_rows.hpp"

namespace partita::search {

/// Draws of weight zero are left out. Rows of linear losses are distinct and have coefficients; those of
/// other losses have draws. A user's own loss is not searched this way: nothing is known about it.
class SparseProblem : public ExpectedLoss {
public:
    /// The tables are borrowed: they must outlive the problem. The draws are not.
    /// By locality, items are numbered so that those that are mostly together are neighbours in memory.
    enum class Order { as_given, by_locality };
    template <class Label>
    SparseProblem(const Draws<Label>& draws, const LossTables& tables, unsigned threads, Order order);

    /// Labels of the draws' items as labels of the problem's, and back.
    std::vector<std::uint32_t> to_own(std::span<const std::uint32_t> labels) const;
    std::vector<std::uint32_t> to_given(std::span<const std::uint32_t> labels) const;

    /// The same for some of the items, in order; a linear loss. `constant` is what the others add.
    SparseProblem restricted(std::span<const std::uint32_t> items, double constant) const;
    void add_constant(double constant) { constant_ += constant; }

    const SparseRows& rows() const { return rows_; }
    std::uint32_t copies(std::size_t i) const { return copies_.empty() ? 1 : copies_[i]; }
    /// How many clusters of draws, of at least two items, a row stands for on average.
    double clusters_per_row() const { return clusters_per_row_; }

    /// Whether draw t labels item i.
    bool is_labelled(std::size_t i, std::size_t t) const {
        return !has_gaps_ || is_labelled_[i * n_draws() + t];
    }

    /// Of linear losses: what item i adds in any cluster where no row of it has another item.
    double alone(std::size_t i) const { return alone_[i]; }

private:
    SparseProblem() = default;
    template <class Label> void order_items(const Draws<Label>& draws, Order order);
    template <class Label> void choose_draws(const Draws<Label>& draws);
    template <class Label> void find_gaps(const Draws<Label>& draws);
    template <class Label> std::vector<double> find_coefficients(const Draws<Label>& draws);

    std::vector<std::uint32_t> copies_;
    std::vector<std::uint32_t> chosen_, given_, ranks_; // given_[ranks_[i]] == i
    std::vector<double> alone_;
    std::vector<bool> is_labelled_;
    double clusters_per_row_ = 1;
    SparseRows rows_;
};

/// Whether the loss is such that an item need only look at clusters that share a row with it, and at a new
/// one: docs/many_clusters.md derives it for every loss but a user's own.
bool allows_candidates(const Loss& loss);

} // namespace partita::search
