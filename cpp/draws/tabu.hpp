// Tabu search on the similarity matrix: the best of all single moves is made even if it costs, and the item
// may not move again for a while, so that the search climbs out of a local optimum instead of falling back
// into it.
//
// A move between two clusters changes what any item costs in these two only. For each item the best of the
// other clusters is kept, so that a step takes O(items), and O(clusters) more for the few items whose best
// cluster was one of the two.
#pragma once

#include <cstdint>
#include <vector>

#include "draws/matrix_state.hpp"
#include "partition/moves.hpp"

namespace partita::search {

class Tabu {
public:
    struct Move {
        std::uint32_t item, target; // the target may be n_clusters(): a new one
        double change;              // of the value
    };

    /// The state must have every item in a cluster, and change only through this search until that is done.
    Tabu(MatrixState& state, std::uint32_t max_clusters);

    /// The best move of an item that is free at this step, or of any that leads below the least value so far.
    /// Its change is infinite if there is none.
    Move best_move() const;

    /// Makes the move and holds the item for `tenure` steps.
    void make(const Move& move, std::uint64_t tenure);

    /// Makes best moves until `patience` in a row have not led below the least value, and returns to where
    /// that was reached.
    void run(std::uint64_t patience, common::Rng& rng, Tally& tally, const Limits& limits);

private:
    double cost_in(std::size_t i, std::uint32_t cluster) const {
        return per_item_ * state_->size(cluster) + per_mass_ * state_->masses(cluster)[i];
    }
    double cost_at_home(std::size_t i) const {
        return cost_in(i, state_->cluster_of(i)) - per_item_ - per_mass_; // without the item itself
    }
    void find_best_other(std::size_t i);
    void find_all();
    void update(std::uint32_t item, std::uint32_t from, std::uint32_t to);

    MatrixState* state_;
    std::uint32_t max_clusters_;
    double per_item_, per_mass_;         // what an item costs for each item and for the mass of a cluster
    std::vector<double> other_cost_;     // of each item in the best of the other clusters,
    std::vector<std::uint32_t> other_;   // and which that is
    std::vector<std::uint64_t> free_at_; // the step from which on the item may move
    std::uint64_t step_ = 0;
    std::vector<std::uint32_t> best_labels_;
    double best_value_;
};

} // namespace partita::search
