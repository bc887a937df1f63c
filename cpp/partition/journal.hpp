// Moves that are kept or undone as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace partita::search {

/// Moves in the order they were made, and what they changed in all. To undo them, clusters must still have
/// the numbers that they had.
class Journal {
public:
    /// An item has left this cluster.
    void add(std::uint32_t item, std::uint32_t from, double change) {
        moves_.emplace_back(item, from);
        change_ += change;
    }
    template <class S> void undo(S& state) {
        for (; !moves_.empty(); moves_.pop_back())
            state.move(moves_.back().first, moves_.back().second);
    }

    double change() const { return change_; }
    std::size_t size() const { return moves_.size(); }

private:
    std::vector<std::pair<std::uint32_t, std::uint32_t>> moves_;
    double change_ = 0;
};

} // namespace partita::search
