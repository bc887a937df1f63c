// The clusters of draws that hold at least two items, as lists of items: rows that take memory for what is in
// them, not for the clusters of an estimate. A cluster of one item tells nothing about any other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "draws/draws.hpp"

namespace partita::search {

/// The other item of a row of two, with the row's coefficient or draw.
struct Pair {
    std::uint32_t other, draw;
    double coefficient;
};

/// A row of an item, and how many other items the row has; none are listed with the item if the row is long.
struct RowOfItem {
    std::uint32_t row, n_others;
    double coefficient;
};

/// Rows of three and more items in the order of their smallest item, each with its items in order. Rows of
/// two are kept with their items: where clusters are small, most rows are such. For each item its rows, and
/// once more the other items of the short ones: the items of a row may be anywhere in memory, and what one of
/// them needs is then in one place.
struct SparseRows {
    static constexpr std::size_t max_short = 32;

    std::vector<std::size_t> row_begin{0}, item_begin, other_begin, pair_begin;
    std::vector<std::uint32_t> items, others;
    std::vector<RowOfItem> rows;
    std::vector<Pair> pairs;
    std::vector<double> coefficients; // of each row, summed over the draws that have it; or else
    std::vector<std::uint32_t> draws; // the draw of each row, where equal clusters of draws stay apart
    std::size_t n_seen = 0;           // clusters of draws that the rows stand for

    std::size_t size() const { return row_begin.size() - 1; }
    /// Rows of two and of more.
    std::size_t n_all() const { return size() + pairs.size() / 2; }
    std::span<const std::uint32_t> items_of(std::size_t row) const {
        return std::span(items).subspan(row_begin[row], row_begin[row + 1] - row_begin[row]);
    }
    std::span<const RowOfItem> rows_of(std::size_t i) const {
        return std::span(rows).subspan(item_begin[i], item_begin[i + 1] - item_begin[i]);
    }
    /// The other items of the short rows of item i, row after row.
    std::span<const std::uint32_t> others_of(std::size_t i) const {
        return std::span(others).subspan(other_begin[i], other_begin[i + 1] - other_begin[i]);
    }
    std::span<const Pair> pairs_of(std::size_t i) const {
        return std::span(pairs).subspan(pair_begin[i], pair_begin[i + 1] - pair_begin[i]);
    }
};

/// The rows of the chosen draws. With coefficients, one for each of them, clusters that repeat between draws
/// become one row; without, each draw keeps its own. Item i is called ranks[i] in the rows.
template <class Label>
SparseRows find_sparse_rows(const Draws<Label>& draws, std::span<const std::uint32_t> chosen,
                            std::span<const double> coefficients, std::span<const std::uint32_t> ranks,
                            unsigned threads);

/// What is left of rows with coefficients for some of the items, numbered in the order in which they are
/// given.
SparseRows restricted(const SparseRows& all, std::span<const std::uint32_t> items);

} // namespace partita::search
