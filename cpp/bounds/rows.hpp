// The rows of all items and kinds: their references, their least values, and who is with whom at these.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "bounds/kinds.hpp"
#include "bounds/memberships.hpp"
#include "parallel.hpp"

namespace partita::bounds {

inline constexpr double never = 1e300;
inline constexpr double margin = 0.3; // bits above an item's least within which a kind is in play

struct Weights { // of the loss
    double a = 1, b = 1;
    double both() const { return a + b; }
};

/// Everything has one entry a cell (an item's row of a kind), or one for each item of the kind a cell.
class Rows {
public:
    Rows(std::size_t n, Kinds kinds, Weights weights, std::size_t n_groups);

    /// The expected log2 of the size of the item's own cluster, and the reference sets by an order of items.
    void start(std::size_t item, double own, std::span<const std::uint32_t> nearest_first);

    /// One evaluation; the references move a step towards the minimisers. Kinds that are out of play are
    /// left as they are, unless all are asked for.
    void pass(double step, bool all, unsigned threads);

    double sum() const; // of the items' least values
    double least_of(std::size_t item) const;

    /// Kinds within the margin of the item's least value, at most six that speak for all.
    std::vector<std::size_t> near(std::size_t item, double within) const;

    /// The reference of a cell over all items.
    void spread_reference(std::size_t item, const Kind& kind, std::vector<float>& x) const;
    void set_groups(std::size_t n_groups); // then every item must be grouped anew
    void refresh_overlaps(std::size_t item);

    /// The share of the time that the item is in a cluster of this kind with its other item, both by place.
    float joint(const Kind& kind, std::size_t s, std::size_t r) const {
        return share[kind.first_cell + s] * reference[kind.first_pair + s * kind.count() + r];
    }

    std::size_t n;
    Kinds kinds;
    Weights weights;
    std::size_t n_groups;
    std::vector<Memberships> members; // of each item
    std::vector<double> own;          // E log2 |T_i|
    std::vector<double> log2_table;
    std::vector<float> reference; // x of a row
    std::vector<float> overlap;   // |S n T| at the reference, by group of draws
    std::vector<float> share;     // of the time that the kind is the item's best
    std::vector<float> cost;      // that multipliers add to the coefficients
    std::vector<double> constant; // that they add to the value
    std::vector<double> value;

private:
    struct Scratch;
    double evaluate(std::size_t item, const Kind& kind, Scratch& scratch);
    void move_reference(std::size_t item, const Kind& kind, double step, Scratch& scratch);
};

/// The places in a row that are in for sure: the item's own and the anchor's.
inline std::vector<std::uint32_t> fixed_places(const Kind& kind, std::size_t item) {
    std::vector<std::uint32_t> fixed{kind.place[item]};
    if (kind.anchor != nobody && kind.anchor != item)
        fixed.push_back(kind.place[kind.anchor]);
    return fixed;
}

} // namespace partita::bounds
