// Exact losses between partitions, from their contingency tables; O(items) per pair. Items without a label on
// either side do not count.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "draws/draws.hpp"
#include "draws/losses.hpp"

namespace partita {

/// The three sums of one estimate against draws. An instance keeps scratch memory for one thread.
class Contingency {
public:
    /// Allocates memory for this many clusters of an estimate and of a draw.
    Contingency(std::size_t max_estimate_clusters, std::size_t max_draw_clusters);

    /// Sets the estimate of the sums that follow.
    template <class Label> void set_estimate(std::span<const Label> estimate);

    template <class Label> Sums sums(std::span<const Label> draw, const LossTables& tables);

    /// The sums of the same table with estimate and draw exchanged; call after sums().
    Sums transposed(Sums sums, const LossTables& tables) const;

private:
    template <class Label> void count_dense(std::span<const Label> draw);
    std::uint32_t* counting_table(std::size_t number) {
        return cells_.data() + number * (cells_.size() / n_tables_);
    }
    double joint_and_sizes_of_dense(std::span<const double> table);
    template <class Label> void find_sizes(std::span<const Label> draw);
    template <class Label> double joint_sparse(std::span<const Label> draw, std::span<const double> table);

    /// Cells in use: one row per cluster of the draw, one column per cluster of the estimate, and one more of
    /// each for missing labels.
    std::size_t n_cells() const { return (n_rows_ + 1) * stride_; }

    bool dense_;
    std::size_t n_tables_;
    std::size_t n_rows_ = 0, n_columns_ = 0, stride_ = 1;
    std::vector<std::uint32_t> columns_; // of each item, in the estimate
    std::vector<std::uint32_t> cells_, row_sizes_, column_sizes_, order_;
};

/// Loss of the estimate against every distinct draw, in order. After a request to `stop` the values are
/// meaningless.
template <class Label>
std::vector<double> distances(std::span<const std::uint32_t> estimate, const Draws<Label>& draws,
                              const LossTables& tables, unsigned threads,
                              const common::StopFlag& stop = common::StopFlag{});

/// Losses between all distinct draws: element [s, t] takes draw s as the truth and draw t as the estimate.
template <class Label>
std::vector<double> pairwise_distances(const Draws<Label>& draws, const LossTables& tables, unsigned threads,
                                       const common::StopFlag& stop = common::StopFlag{});

} // namespace partita
