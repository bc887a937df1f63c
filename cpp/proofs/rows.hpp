// The rows of all items and kinds: their references, their least values, and the sets that attain these.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "proofs/kinds.hpp"
#include "proofs/memberships.hpp"
#include "proofs/selection.hpp"

namespace partita::proofs {

inline constexpr double margin = 0.3; // in bits: kinds this near an item's least value are in play

struct Weights { // of the loss
    double a = 1, b = 1;
    double both() const { return a + b; }
};

/// Every array has one entry per cell (an item's row of a kind), or one per cell and item of the kind.
class Rows {
public:
    Rows(std::size_t n, Kinds kinds, Weights weights, std::size_t n_groups);

    /// The expected log2 of the size of the item's own cluster, and the reference sets by an order of items.
    void start(std::size_t item, double own, std::span<const std::uint32_t> nearest_first);

    /// One evaluation; the references move one step towards the minimisers. Kinds that are not in play are
    /// left unchanged, unless all are requested.
    void pass(double step, bool all, unsigned threads);

    double min_of(std::size_t item) const;

    /// Kinds within the margin of the item's least value; at most six, which represent all.
    std::vector<std::size_t> near(std::size_t item, double within) const;

    /// The reference of a cell over all items.
    void spread_reference(std::size_t item, const Kind& kind, std::vector<float>& x) const;
    void set_groups(std::size_t n_groups); // every item must be regrouped afterwards
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
    std::vector<float> cost;      // added to the coefficients by the multipliers
    std::vector<double> constant; // added to the value by the multipliers
    std::vector<double> value;

private:
    struct Scratch;
    double evaluate(std::size_t item, const Kind& kind, Scratch& scratch);
    void move_reference(std::size_t item, const Kind& kind, double step, Scratch& scratch);
};

/// The places in a row that are always included: the item's own and the anchor's.
inline std::vector<std::uint32_t> fixed_places(const Kind& kind, std::size_t item) {
    std::vector<std::uint32_t> fixed{kind.place[item]};
    if (kind.anchor != no_item && kind.anchor != item)
        fixed.push_back(kind.place[kind.anchor]);
    return fixed;
}

} // namespace partita::proofs
