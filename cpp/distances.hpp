// Exact losses between partitions, from their contingency tables; O(items) a pair. Items that either side
// leaves out (a gap) do not count.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "draws.hpp"
#include "losses.hpp"

namespace partita {

/// The three sums of one estimate against draws. An instance keeps scratch memory for one thread.
class Contingency {
public:
    Contingency(std::size_t n_estimate_clusters, std::size_t n_draw_clusters);

    /// The estimate of the sums that follow.
    template <class Label> void set_estimate(std::span<const Label> estimate);

    template <class Label> Sums sums(std::span<const Label> draw, const LossTables& tables);

    /// The sums of the same table with estimate and draw exchanged; call after sums().
    Sums transposed(Sums sums, const LossTables& tables) const;

private:
    template <class Label> void count_dense(std::span<const Label> draw);
    double sizes_of_dense();
    template <class Label> double sizes_of_sparse(std::span<const Label> draw);
    double joint_dense(std::span<const double> table) const;
    template <class Label> double joint_sparse(std::span<const Label> draw, std::span<const double> table);

    std::size_t n_rows_, n_columns_, stride_; // a dense table has a row and a column more, for gaps
    bool dense_;
    std::size_t n_cells_, n_lanes_;
    std::vector<std::uint32_t> estimate_, offsets_; // of each item: its row, and where that begins
    std::vector<std::uint32_t> cells_, row_sizes_, column_sizes_, order_;
};

/// Loss of the estimate against every distinct draw, in order.
template <class Label>
std::vector<double> distances(std::span<const std::uint32_t> estimate, const Draws<Label>& draws,
                              const LossTables& tables, unsigned threads);

/// Losses between all distinct draws: element [s, t] takes draw s as the truth and draw t as the estimate.
template <class Label>
std::vector<double> pairwise_distances(const Draws<Label>& draws, const LossTables& tables, unsigned threads);

} // namespace partita
