// One partition of the nodes of several layers, networks, marks of their edges or tables of the nodes:
// log p(X | z) is the sum over the layers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "networks/affiliation_mark_state.hpp"
#include "networks/affiliation_state.hpp"
#include "networks/block_state.hpp"
#include "networks/emission.hpp"
#include "networks/mark_state.hpp"
#include "networks/marks.hpp"
#include "networks/network.hpp"
#include "networks/node_partition.hpp"
#include "networks/table_state.hpp"

namespace partita::models {

/// The dyads of a network, or the marks on its edges, with the likelihood of a block of them; or a table of
/// the nodes, whose network has no dyads.
struct Layer {
    Network network;
    std::variant<BernoulliBlocks, PoissonBlocks, NormalMarks, CategoryMarks, NodeTable> emission;
    bool degree_corrected = false;
    bool affiliation = false;
};

using LayerState =
    std::variant<BlockState<BernoulliBlocks>, BlockState<PoissonBlocks>, AffiliationState<BernoulliBlocks>,
                 AffiliationState<PoissonBlocks>, MarkState<NormalMarks>, MarkState<CategoryMarks>,
                 AffiliationMarkState<NormalMarks>, AffiliationMarkState<CategoryMarks>, TableState>;

/// The state of free or affiliation blocks for an emission of dyads or of marks.
template <class Emission> struct StatesOf {
    using Free = BlockState<Emission>;
    using Affiliation = AffiliationState<Emission>;
};
template <class Emission>
    requires requires(const Emission& marks) { marks.width(); }
struct StatesOf<Emission> {
    using Free = MarkState<Emission>;
    using Affiliation = AffiliationMarkState<Emission>;
};

template <> struct StatesOf<NodeTable> {
    using Free = TableState;
    using Affiliation = TableState;
};

inline LayerState make_layer_state(const Layer& layer, std::size_t rows, std::size_t columns) {
    return std::visit(
        [&]<class Emission>(const Emission& emission) -> LayerState {
            const bool corrected = layer.degree_corrected;
            if (layer.affiliation)
                return typename StatesOf<Emission>::Affiliation(layer.network, emission, corrected, rows);
            return typename StatesOf<Emission>::Free(layer.network, emission, corrected, rows, columns);
        },
        layer.emission);
}

class LayeredMerges;

/// Every layer has its own counts of the partition; the network of the base class is their union, which
/// determines the clusters near a node.
class LayeredState : public CountedState<LayeredState, NodePartition> {
    friend CountedState;

public:
    using Emission = std::vector<Layer>;
    using Merges = LayeredMerges;

    LayeredState(const Network& network, const Emission& layers, bool, std::size_t capacity_rows,
                 std::size_t capacity_columns = 0)
        : CountedState(network, false, capacity_rows, capacity_columns) {
        for (const auto& layer : layers)
            layers_.push_back(make_layer_state(layer, capacity_rows, capacity_columns));
    }

    const std::vector<LayerState>& layers() const { return layers_; }
    /// Whether a node may belong to a cluster that is far from it in every network.
    bool has_table() const {
        return std::ranges::any_of(
            layers_, [](const auto& layer) { return std::holds_alternative<TableState>(layer); });
    }

    void set_used(std::size_t s, std::size_t used) {
        sides_[s].used = used;
        each([&](auto& layer) { layer.set_used(s, used); });
    }

    void swap_slots(std::size_t a, std::size_t b) {
        if (a == b)
            return;
        swap_names(a, b);
        each([&](auto& layer) { layer.swap_slots(a, b); });
    }

    void look(std::size_t node) {
        NodePartition::look(node);
        each([&](auto& layer) { layer.look(node); });
    }

    template <class Slots> std::span<const double> score_all(const Slots& slots) {
        for (const auto h : slots)
            score_[h] = 0.0;
        each([&](auto& layer) {
            const auto score = layer.score_all(slots);
            for (const auto h : slots)
                score_[h] += score[h];
        });
        return score_;
    }

    using CountedState::score;
    double score(std::size_t h) const {
        return sum([&](const auto& layer) { return layer.score(h); });
    }

    void move(std::size_t to) {
        each([&](auto& layer) { layer.move(to); });
        relabel(to);
    }

    double log_likelihood() const {
        return sum([](const auto& layer) { return layer.log_likelihood(); });
    }

    void rebuild_gains() {
        each([](auto& layer) { layer.rebuild_gains(); });
    }

private:
    template <class Work> void each(Work work) {
        for (auto& layer : layers_)
            std::visit(work, layer);
    }
    template <class Work> double sum(Work work) const {
        double total = 0.0;
        for (const auto& layer : layers_)
            total += std::visit(work, layer);
        return total;
    }

    void recount() {
        count_nodes();
        each([&](auto& layer) { layer.assign(label_, sides_[0].used, sides_[1].used); });
    }

    std::vector<LayerState> layers_;
};

/// Merges as one layer sees them: its blocks, and the degrees of its clusters if it corrects for them.
template <class State> class LayerMerges {
public:
    LayerMerges(const State& state, const MergingClusters& clusters)
        : blocks_(state, clusters), degrees_(state, clusters) {}

    double change(std::size_t a, std::size_t b) const {
        return degrees_.added_to(blocks_.change(a, b), a, b);
    }

    void merge(std::size_t g, std::size_t h) {
        blocks_.merge(g, h);
        degrees_.merge(g, h);
    }

private:
    typename State::Merges blocks_;
    MergingDegrees degrees_;
};

template <class Variant> struct MergesOf;
template <class... States> struct MergesOf<std::variant<States...>> {
    using type = std::variant<LayerMerges<States>...>;
};

/// The changes of all layers, summed.
class LayeredMerges {
public:
    LayeredMerges(const LayeredState& state, const MergingClusters& clusters) {
        for (const auto& layer : state.layers())
            std::visit(
                [&]<class State>(const State& each) {
                    layers_.emplace_back(std::in_place_type<LayerMerges<State>>, each, clusters);
                },
                layer);
    }

    double change(std::size_t a, std::size_t b) const {
        double total = 0.0;
        for (const auto& layer : layers_)
            total += std::visit([&](const auto& each) { return each.change(a, b); }, layer);
        return total;
    }

    void merge(std::size_t g, std::size_t h) {
        for (auto& layer : layers_)
            std::visit([&](auto& each) { each.merge(g, h); }, layer);
    }

private:
    std::vector<MergesOf<LayerState>::type> layers_;
};

} // namespace partita::models
