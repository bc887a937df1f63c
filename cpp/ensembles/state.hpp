// What nonparametric Bayesian clustering ensembles know of their clusters (Wang, Domeniconi & Laskey 2010).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/archive.hpp"
#include "common/log_table.hpp"
#include "common/random.hpp"
#include "draws/draws.hpp"

namespace partita::ensembles {

/// The two truncations of the Dirichlet process: stick-breaking, and a finite symmetric Dirichlet.
enum class Weights { tsb, fsd };

/// Base clusterings, item after item; gap<Label> where a clustering does not label the item.
template <class Label> struct Base {
    std::span<const Label> codes;
    std::span<const std::uint32_t> n_labels; // J_m, one per clustering
    std::span<const double> weights;         // w_m, the power of the likelihood of each clustering

    std::size_t n_clusterings() const { return n_labels.size(); }
    std::size_t n_items() const { return codes.size() / n_labels.size(); }
    std::span<const Label> item(std::size_t i) const {
        return codes.subspan(i * n_clusterings(), n_clusterings());
    }
};

/// What the model knows of the clusters. A column is a cluster; the tables hold, for one base label, all
/// columns side by side, so that an item's score adds M contiguous rows. A column without items waits to be
/// used again.
template <class Label> class State {
public:
    static constexpr std::uint32_t empty = ~std::uint32_t{0}; // a choice: open a cluster

    State(Base<Label> base, Weights weights, std::uint32_t truncation, double alpha, double beta);

    void remove(std::size_t item);
    /// Fills `score()` with log p(y_i | cluster) for each column, and the prior weights of eq. 5.
    void score(std::size_t item);
    /// A column (or `empty`) drawn from the scores.
    std::uint32_t draw(common::Rng& rng);
    /// Returns the column, which is new if `empty` was asked for.
    std::uint32_t insert(std::size_t item, std::uint32_t column, common::Rng& rng);

    /// Exchanges of neighbouring sticks (TSB): without them the order of the clusters mixes badly.
    void swap_sticks(common::Rng& rng);
    /// Two items at random: their cluster is split, or their clusters are merged, if the Metropolis ratio
    /// allows it.
    void split_or_merge(common::Rng& rng);
    /// Drops the columns without items.
    void compact();
    void set_concentrations(double alpha, double beta);

    double log_prior(double alpha) const;     // log p(Z | alpha), up to what does not depend on alpha
    double log_likelihood(double beta) const; // sum over m of w_m log p(Y_m | Z, beta)

    std::size_t n_items() const { return assignment_.size(); }
    std::uint32_t n_clusters() const { return n_clusters_; }
    std::uint32_t truncation() const { return truncation_; }
    double alpha() const { return alpha_; }
    double beta() const { return beta_; }
    /// The partition, labels in order of first appearance.
    void write_labels(std::uint32_t* out) const;

    /// The state from which `rebuild` computes everything else.
    template <class Archive> void visit(Archive& archive) {
        archive(alpha_, beta_, n_columns_, assignment_, slot_of_);
    }
    void rebuild();

private:
    static constexpr std::uint32_t no_column = ~std::uint32_t{0};
    static constexpr std::size_t pad = 8; // columns come in blocks of this many

    template <int Sign> void shift(std::size_t item, std::uint32_t column);
    void add(std::size_t item, std::uint32_t column);
    void drop(std::size_t item, std::uint32_t column);
    void refresh(std::uint32_t column);
    double clustering_log_likelihood(std::size_t m, std::uint32_t column, double beta) const;
    void refresh_norm(std::uint32_t column);
    void score_sticks();
    std::uint32_t open_column(common::Rng& rng);
    std::uint32_t pick_slot(common::Rng& rng);
    void close_column(std::uint32_t column);
    void reopen_column(std::uint32_t column);
    double column_log_likelihood(std::uint32_t column, double beta) const;
    bool fits() const;
    void take_sticks();

    using Items = std::span<const std::uint32_t>;
    void split(std::uint32_t i, std::uint32_t j, Items members, common::Rng& rng);
    void merge(std::uint32_t i, std::uint32_t j, Items members, common::Rng& rng);
    void move_all(Items members, std::uint32_t target);
    double allocate(Items members, std::uint32_t first, std::uint32_t second,
                    const std::vector<std::uint32_t>* sides, common::Rng& rng);
    double log_pull(std::size_t item, std::uint32_t column) const;
    double log_target(std::uint32_t first, std::uint32_t second) const;
    double log_slot_probability(std::uint32_t slot);

    void grow();
    template <class T> void widen(std::vector<T>& table, std::size_t rows, std::size_t stride);
    std::uint32_t slot_size(std::uint32_t slot) const;

    Base<Label> base_;
    Weights weights_;
    std::uint32_t truncation_;
    double alpha_, beta_;

    std::vector<std::size_t> offsets_; // first row of a clustering
    std::size_t n_rows_ = 0;           // sum of J_m
    std::size_t stride_ = pad;         // columns there is room for
    std::uint32_t n_columns_ = 0;      // columns in use or waiting
    std::uint32_t n_clusters_ = 0;     // columns with items
    std::size_t n_inserted_ = 0;

    std::vector<std::uint32_t> counts_; // [row][column]
    std::vector<double> log_cells_;     // w_m log(beta + count)
    std::vector<std::uint32_t>
        observed_;                  // [clustering][column]: items of the cluster that the clustering labels
    std::vector<double> log_norms_; // w_m log(J_m beta + observed)
    std::vector<double> norms_;     // [column]: sum of log_norms_ over the clusterings
    std::vector<std::uint32_t> sizes_; // [column]
    std::vector<double> prior_;        // [column]: weight of the cluster before its labels are seen
    std::vector<double> scores_;       // [column]
    double empty_prior_ = 0.0, empty_score_ = 0.0;
    std::vector<double> log_n_labels_; // w_m log J_m

    std::vector<std::uint32_t> slot_of_;    // TSB: the stick of a column
    std::vector<std::uint32_t> column_of_;  // TSB: the column of a stick, or no_column
    std::vector<double> stick_prior_;       // TSB: prior weight of each stick
    std::vector<std::uint32_t> assignment_; // column of each item
    std::vector<const double*> rows_;       // scratch: the rows of the item that is scored

    common::LogTable cell_log_;
    std::vector<common::LogTable> norm_log_; // one for each distinct J_m
    std::vector<std::uint32_t> norm_for_;    // which of them a clustering uses
};

} // namespace partita::ensembles
