// Some of the draws of a search whose draws are spread over workers. Scores leave as whole numbers of one
// small unit: their sums are exact, so that it does not matter which worker holds which draws.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "draws/cell_states.hpp"

namespace partita::search {

class Shard {
public:
    /// The draws come in blocks, draws ends[b - 1] .. ends[b] - 1, whose scores are rounded together. `slots`
    /// partitions are under search at the same time.
    template <class Label>
    Shard(const Draws<Label>& draws, const LossTables& tables, std::span<const std::uint32_t> ends,
          std::size_t slots, double unit);
    Shard(Shard&&) = default;
    Shard(const Shard&) = delete; // its states refer to its blocks

    /// Makes `labels` (0..K-1, each in use) the partition of a slot, by moves where few items differ.
    void assign(std::size_t slot, std::span<const std::uint32_t> labels);

    /// Scores of the items for each of the K clusters and a new one, row after row, in units.
    std::vector<std::int64_t> scores(std::size_t slot, std::span<const std::uint32_t> items, bool precise);

    /// Changes of the value if clusters k < l were merged, at k * K + l, in units.
    std::vector<std::int64_t> merge_changes(std::size_t slot) const;

    /// Part of the expected loss that these draws make up, in units.
    std::int64_t value(std::size_t slot) const;

    std::uint32_t n_clusters(std::size_t slot) const { return cells(slot).n_clusters(); }

private:
    bool can_move_to(std::span<const std::uint32_t> labels, const Cells& state) const;
    const Cells& cells(std::size_t slot) const {
        return std::visit([](const auto& state) -> const Cells& { return state; }, states_[slot].front());
    }
    std::int64_t in_units(std::size_t block, double value) const;

    double unit_;
    std::vector<double> weights_; // of the blocks
    std::vector<std::unique_ptr<Problem>> blocks_;
    using AnyState = std::variant<LinearState, RatioState, CustomState>;
    std::vector<std::vector<AnyState>> states_; // [slot][block]
};

} // namespace partita::search
