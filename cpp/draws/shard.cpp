#include "draws/shard.hpp"
#include "partition/labels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace partita::search {
namespace {

constexpr double max_units = 0x1p62; // the weights of all blocks sum to 1, so that sums stay below too

} // namespace

template <class Label>
Shard::Shard(const Draws<Label>& draws, const LossTables& tables, std::span<const std::uint32_t> ends,
             std::size_t slots, double unit)
    : unit_(unit) {
    auto own_rows = draws;
    own_rows.sharing = Sharing::never; // what pays must not depend on how draws are spread
    std::uint32_t begin = 0;
    for (const auto end : ends) {
        std::vector<std::uint32_t> chosen(end - begin);
        std::iota(chosen.begin(), chosen.end(), begin);
        weights_.push_back(std::accumulate(draws.weights.begin() + begin, draws.weights.begin() + end, 0.0));
        blocks_.push_back(std::make_unique<Problem>(own_rows, tables, chosen));
        begin = end;
    }
    states_.resize(slots);
    for (auto& states : states_)
        for (const auto& problem : blocks_)
            with_cell_state(tables.loss(), [&]<class S>() {
                states.emplace_back(std::in_place_type<S>, *problem, no_cluster);
            });
}

std::int64_t Shard::in_units(std::size_t block, double value) const {
    if (!(std::abs(value) < max_units * unit_))
        throw std::invalid_argument("the values of the loss are too large for draws in shards");
    return std::llround(value * weights_[block] / unit_);
}

/// Moves one by one must be few, and must never empty a cluster: its number would go to another.
bool Shard::can_move_to(std::span<const std::uint32_t> labels, const Cells& state) const {
    const auto& old = state.labels();
    std::vector<bool> stays(state.n_clusters());
    std::size_t moves = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] >= stays.size())
            return false;
        if (labels[i] == old[i])
            stays[labels[i]] = true;
        else
            ++moves;
    }
    return moves <= labels.size() / 8 && std::find(stays.begin(), stays.end(), false) == stays.end();
}

void Shard::assign(std::size_t slot, std::span<const std::uint32_t> labels) {
    auto& states = states_[slot];
    const auto old = cells(slot).labels();
    if (std::equal(labels.begin(), labels.end(), old.begin()))
        return;
    const bool by_moves = can_move_to(labels, cells(slot));
    const auto assign_one = [&](auto& state) {
        if (!by_moves) {
            state.assign(labels);
            return;
        }
        for (std::size_t i = 0; i < labels.size(); ++i)
            if (labels[i] != old[i])
                state.move(i, labels[i]);
        state.refresh(); // so that nothing depends on the way that led here
    };
    for (auto& state : states)
        std::visit(assign_one, state);
}

std::vector<std::int64_t> Shard::scores(std::size_t slot, std::span<const std::uint32_t> items,
                                        bool precise) {
    const std::size_t columns = n_clusters(slot) + 1;
    std::vector<std::int64_t> total(items.size() * columns);
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
        auto* out = total.data();
        for (const auto i : items) {
            const auto scores =
                std::visit([&](auto& state) { return precise ? state.score_precisely(i) : state.score(i); },
                           states_[slot][block]);
            for (std::size_t k = 0; k < scores.size(); ++k)
                out[k] += in_units(block, scores[k]);
            out += columns;
        }
    }
    return total;
}

std::vector<std::int64_t> Shard::merge_changes(std::size_t slot) const {
    const std::size_t clusters = n_clusters(slot);
    std::vector<std::int64_t> total(clusters * clusters);
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
        const auto changes =
            std::visit([](const auto& state) { return state.merge_changes(); }, states_[slot][block]);
        for (std::size_t pair = 0; pair < total.size(); ++pair)
            total[pair] += in_units(block, changes[pair]);
    }
    return total;
}

std::int64_t Shard::value(std::size_t slot) const {
    std::int64_t total = 0;
    for (std::size_t block = 0; block < blocks_.size(); ++block)
        total += in_units(
            block, blocks_[block]->constant() +
                       std::visit([](const auto& state) { return state.value(); }, states_[slot][block]));
    return total;
}

#define INSTANTIATE(Label)                                                                                   \
    template Shard::Shard(const Draws<Label>&, const LossTables&, std::span<const std::uint32_t>,            \
                          std::size_t, double);
PARTITA_FOR_EACH_LABEL(INSTANTIATE)
#undef INSTANTIATE

} // namespace partita::search
