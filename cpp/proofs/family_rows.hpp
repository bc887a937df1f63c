// A lower bound on the reduced cost f(S) - u(S) of all clusters S of a family.
//
// f(S) is the sum over the items i of S of the row b log|S| - (a + b) E log|S n T_i|. As in the row bound,
// each row chooses a set of its own and log is replaced by tangents above it and, for |S|, a chord below it.
// Whether S contains an open item j is x_j; the row of i has y_ij = 1 if it would have j in S. Multipliers
// pull the rows together: mu_ij (x_i y_ij - x_j y_ji), where x_i = 1 and y_ji = 1 for items i that are in
// every S of the family. docs/bounds.md derives it.
#pragma once

#include "proofs/cluster_descent.hpp"
#include "proofs/selection.hpp"

namespace partita::proofs {

/// Clusters S, not empty, whose reduced cost f(S) - u(S) is to be bounded. Under a limit on clusters, each of
/// them costs something more.
struct ReducedCosts {
    const ClusterCosts& costs;
    std::span<const double> duals;        // u
    std::span<const std::uint32_t> homes; // of the items: groups of which families limit the number of items
    double per_cluster = 0;

    double of(const Items& items) const;
};

class FamilyRows {
public:
    static constexpr std::size_t max_groups = 96;

    /// Draws share a tangent, in at most this many groups per row.
    FamilyRows(const ReducedCosts& problem, Family family, std::size_t n_groups);

    /// Part of the parent's family: its multipliers and references are kept. The draws are grouped anew
    /// around the references if a number of groups is given, and if few of the open items are left.
    FamilyRows(const FamilyRows& parent, Family family, std::size_t n_groups = 0);

    /// One evaluation and one step of the multipliers; afterwards bound() may be larger. Probes bound the
    /// family with and without each open item.
    void step(bool probes = false);

    /// Valid for every set of the family, and the best so far.
    double bound() const { return bound_; }

    const Family& family() const { return family_; }
    double share(std::size_t open) const { return x_[open]; } // of the last steps that had the open item in S
    double gain_of_branching(std::size_t open) const; // what the last probes gained with it, times without it
    double likely_size() const;
    Items likely() const; // open items that most of the last steps had in S

    /// What the chord of log|S| loses at most.
    double chord_loss() const;

    /// The sets whose reduced cost may be negative: without open items that every such set contains or lacks.
    /// If there is none, the family that is returned has lower > upper.
    Family remaining() const;

private:
    struct Row {
        double value = 0;
        std::vector<double> weight, base;  // (groups): of the draws, and of |T_i n in|, i included
        std::vector<double> mass;          // (groups, open): weight of the draws that have the item with i
        std::vector<double> overlap;       // (groups): weight times |S n T_i| at the reference
        std::vector<double> y, mu;         // (open): the reference, and the multipliers
        std::vector<double> mean, square;  // (open): of the steps (Adam)
        std::vector<double> coefficients;  // (open): of the items in the set
        Choice choice;                     // the set of least value
        std::size_t own = ~std::size_t{0}; // place among the open items, if it is one of them
    };

    struct Parts; // the sets by which draws are grouped

    /// The columns of the open items that are kept; those of items that joined `in` count in the base.
    static Row reduced(const Row& row, const std::vector<std::size_t>& kept,
                       const std::vector<std::size_t>& joined, bool with_groups);
    void prepare();
    Selection selection() const;
    void group_draws(std::size_t n_groups);
    void group_draws(Row& row, std::uint32_t item, const Parts& parts, std::size_t n_groups) const;
    void set_overlap(Row& row) const;
    void evaluate(Row& row);
    void reduce(bool probes);
    void probe(const std::vector<double>& reduced, double of_in);
    Limits limits() const; // of the number of open items in a set
    double cost_with(const Row& row, std::size_t open) const;
    double cost_without(const Row& row, std::size_t open) const;
    void note_decided(const std::vector<double>& reduced, double of_in);
    void move_references();
    void move_multipliers();
    std::size_t n_open() const { return family_.open.size(); }
    std::size_t n_in() const { return family_.in.size(); }
    double round_off() const;

    const ReducedCosts* problem_;
    const ClusterCosts* costs_;
    Family family_;
    Selection selection_;
    std::vector<Row> rows_;                  // of the items that are in, then of the open ones
    std::vector<double> x_, with_, without_; // (open); the last two: bounds of the last probes
    std::vector<char> never_in_, never_out_; // (open)
    Choice choice_;                          // the set that the rows' values favour
    double slope_ = 0, intercept_ = 0;       // of the chord
    double bound_;
    std::size_t grouped_at_ = 0; // open items when the draws were last grouped
    std::size_t steps_ = 0;
    double rate_;
};

} // namespace partita::proofs
