// A partition under search for Binder's loss, by co-clustering mass: a score costs O(clusters), a move
// O(items).
//
// Up to a constant the expected loss is (1/n^2) [b sum_k m_k^2 - (a + b) sum over pairs (i, j) in one cluster
// of pi_ij], i = j included. The mass of item i with cluster k is the sum of pi_ij over the items j of k.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "draws/losses.hpp"
#include "partition/labels.hpp"
#include "partition/rounding.hpp"

namespace partita::search {

/// The similarity matrix and the weights: all that Binder's loss asks of the draws.
struct MatrixProblem {
    std::vector<float> similarity; // n x n
    std::size_t n;
    Binder loss;

    std::size_t n_items() const { return n; }
    const float* row(std::size_t i) const { return similarity.data() + i * n; }
    double constant() const { return constant_; }
    double unit() const { return loss.unit; }
    double loss_of(double value) const { return loss.unit * (value + constant_); }
    double rounding() const { return double_rounding * (loss.a + 2 * loss.b); }
    double clusters_per_row() const { return 1; } // no rows: the matrix has what all draws share

    MatrixProblem(std::vector<float> matrix, std::size_t n_items, Binder binder)
        : similarity(std::move(matrix)), n(n_items), loss(binder) {
        for (const auto pi : similarity)
            constant_ += static_cast<double>(pi);
        constant_ *= loss.a / static_cast<double>(n * n);
    }

private:
    double constant_ = 0; // a/n^2 times the sum of all similarities: what every partition shares
};

class MatrixState : public LabelledItems {
public:
    using Setting = MatrixProblem;

    MatrixState(const MatrixProblem& problem, std::uint32_t max_clusters);

    bool is_alone(std::size_t i) const { return labels_[i] != no_cluster && sizes_[labels_[i]] == 1; }
    /// Loss of `pairs` ordered pairs in one cluster that hold `mass` of the similarity.
    double cost(double pairs, double mass) const {
        const auto n = static_cast<double>(problem_->n);
        return (problem_->loss.b * pairs - (problem_->loss.a + problem_->loss.b) * mass) / (n * n);
    }
    /// Loss that item i adds by joining the cluster, but for its pair with itself; and what it has in its
    /// own.
    double cost_in(std::size_t i, std::uint32_t cluster) const {
        return per_item_ * sizes_[cluster] + per_mass_ * mass(i, cluster);
    }
    double cost_at_home(std::size_t i) const { return cost_in(i, labels_[i]) - per_item_ - per_mass_; }
    const MatrixProblem& problem() const { return *problem_; }

    void assign(std::span<const std::uint32_t> labels);
    void compact() {}
    std::span<const double> score(std::size_t i);
    std::span<const double> score_precisely(std::size_t i) { return score(i); }
    double tolerance() const { return double_rounding; }
    double score_tolerance() const { return double_rounding; }
    double precise_tolerance() const { return double_rounding; }
    double cancelled(std::size_t, std::uint32_t cluster) const {
        return cluster < n_clusters() ? 2 * cost(2.0 * sizes_[cluster], 0) : 0;
    }

    void insert(std::size_t i, std::uint32_t cluster);
    void remove(std::size_t i);
    void move(std::size_t i, std::uint32_t cluster);

    double value() const { return value_; }
    void refresh() { value_ = exact_value(); }
    double exact_value() const;
    double rounding() const { return problem_->rounding(); }
    std::vector<double> merge_changes() const;
    void merge(std::uint32_t k, std::uint32_t l);

private:
    /// The mass of every item with the cluster: side by side, for moves change whole clusters.
    double* masses(std::size_t cluster) { return mass_.data() + cluster * problem_->n; }
    double mass(std::size_t i, std::size_t cluster) const { return mass_[cluster * problem_->n + i]; }
    void ensure_cluster(std::uint32_t cluster);
    void add_mass(std::size_t i, std::uint32_t cluster, double sign);
    void close_cluster(std::uint32_t cluster);

    const MatrixProblem* problem_;
    double per_item_, per_mass_; // what an item costs for each item and for the mass of a cluster
    std::vector<double> mass_, scores_;
    double value_ = 0;
};

} // namespace partita::search
