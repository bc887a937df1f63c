#include "networks/block_model.hpp"

#include <numeric>
#include <stdexcept>

namespace partita::models {

template class BlockChain<BlockState<BernoulliBlocks>>;
template class BlockChain<BlockState<PoissonBlocks>>;
template class BlockChain<AffiliationState<BernoulliBlocks>>;
template class BlockChain<AffiliationState<PoissonBlocks>>;
template class BlockChain<LayeredState>;

namespace {

Network network_of(const NetworkArrays& arrays) {
    Network network;
    network.n_nodes = arrays.n_nodes;
    network.n_rows = arrays.n_rows;
    network.directed = arrays.directed;
    for (std::size_t d = 0; d < network.directions(); ++d) {
        network.edges[d] = arrays.edges[d].view();
        network.missing[d] = arrays.missing[d].view();
    }
    for (std::size_t d = 0; d < network.directions(); ++d)
        network.mark[d] = arrays.mark[d];
    network.loop_mark = arrays.loop_mark;
    network.loop = arrays.loop;
    network.loop_observed = arrays.loop_observed;
    network.pair_exposure = arrays.pair_exposure;
    network.loop_exposure = arrays.loop_exposure;
    return network;
}

std::int64_t count_edges(const Network& network) {
    const auto& edges = network.edges[0];
    std::int64_t total = edges.count.empty()
                             ? static_cast<std::int64_t>(edges.to.size())
                             : std::accumulate(edges.count.begin(), edges.count.end(), std::int64_t{0});
    return std::accumulate(network.loop.begin(), network.loop.end(), total);
}

std::variant<BernoulliBlocks, PoissonBlocks> make_emission(const Network& network, const EdgePrior& prior) {
    const auto edges = count_edges(network);
    const auto n = static_cast<std::int64_t>(network.n_nodes);
    if (prior.counts)
        return PoissonBlocks(prior.first, prior.second, 1.0 / static_cast<double>(network.pair_exposure),
                             edges);
    return BernoulliBlocks(prior.first, prior.second, edges, n * n);
}

decltype(Layer::emission) make_marks(const Network& network, const MarkPrior& prior) {
    const auto& given = prior.parameters;
    if (prior.kind == MarkKind::normal)
        return NormalMarks(given[0], given[1], given[2], given[3]);
    return CategoryMarks(prior.n_categories, given[0], count_edges(network));
}

/// Each network with its dyads, and again with the marks of its edges if it has any; then the tables.
std::vector<Layer> make_layers(const std::vector<LayerArrays>& several, std::vector<NodeTable> tables) {
    std::vector<Layer> layers;
    for (const auto& each : several) {
        const auto network = network_of(each.arrays);
        const auto& prior = each.prior;
        auto dyads = make_emission(network, prior);
        std::visit(
            [&](auto& emission) {
                layers.push_back({network, std::move(emission), prior.degree_corrected, prior.affiliation});
            },
            dyads);
        if (each.marks.kind != MarkKind::none)
            layers.push_back({network, make_marks(network, each.marks), false, prior.affiliation});
    }
    for (auto& table : tables) {
        Network nodes;
        nodes.n_nodes = nodes.n_rows = table.table->n_items();
        layers.push_back({nodes, std::move(table)});
    }
    return layers;
}

} // namespace

BlockModel::BlockModel(NetworkArrays arrays, EdgePrior prior, double n0_rows, double n0_columns)
    : arrays_(std::move(arrays)), network_(network_of(arrays_)),
      emission_(std::visit([](auto emission) -> decltype(emission_) { return emission; },
                           make_emission(network_, prior))),
      priors_{{DirichletPrior(n0_rows, network_.n_rows),
               DirichletPrior(n0_columns, network_.n_nodes - network_.n_rows)}},
      degree_corrected_(prior.degree_corrected), affiliation_(prior.affiliation) {
    if (affiliation_ && network_.bipartite())
        throw std::invalid_argument(
            "rows and columns share no clusters: a bipartite network has no affiliation");
}

BlockModel::BlockModel(NetworkArrays cover, std::vector<LayerArrays> layers, double n0_rows,
                       double n0_columns, std::vector<NodeTable> tables)
    : arrays_(std::move(cover)), layer_arrays_(std::move(layers)), network_(network_of(arrays_)),
      emission_(make_layers(layer_arrays_, std::move(tables))),
      priors_{{DirichletPrior(n0_rows, network_.n_rows),
               DirichletPrior(n0_columns, network_.n_nodes - network_.n_rows)}} {}

double BlockModel::icl(std::span<const std::uint32_t> labels) const {
    return with_view([&]<class State>(const BlockModelView<State>& view) {
        const auto state = make_state(view, labels, 0);
        return state.log_likelihood() + log_prior(state, priors_);
    });
}

std::vector<double> BlockModel::swap_changes(std::span<const std::uint32_t> labels, std::size_t node,
                                             std::span<const std::uint32_t> slots) const {
    return with_view([&]<class State>(const BlockModelView<State>& view) {
        auto state = make_state(view, labels, 1);
        const auto s = network_.side(node);
        const auto& prior = priors_[s];
        const std::size_t own = state.label(node), filled = state.filled(s);
        const bool alone = state.size(own) == 1;
        state.set_used(s, state.side(s).used + 1);
        state.look(node);
        const auto score = slots.empty() ? state.score() : state.score(slots);
        const auto value = [&](std::size_t h) {
            const auto others = state.size(h) - (h == own ? 1 : 0);
            const auto clusters = filled - (alone ? 1 : 0) + (others == 0 ? 1 : 0);
            return score[h] + prior.join(others) + prior.clusters(clusters);
        };
        std::vector<double> changes;
        for (const auto h : slots)
            changes.push_back(value(h) - value(own));
        for (auto h = state.side(s).first; slots.empty() && h < state.side(s).end(); ++h)
            changes.push_back(value(h) - value(own));
        return changes;
    });
}

std::vector<double> BlockModel::merge_changes(std::span<const std::uint32_t> labels) const {
    return with_view([&]<class State>(const BlockModelView<State>& view) {
        const auto state = make_state(view, labels, 0);
        const Merger<State> merges(state, priors_);
        return models::merge_changes(merges, merges.size());
    });
}

std::vector<Merge> BlockModel::merge_path(std::span<const std::uint32_t> labels,
                                          const common::StopFlag& stop) const {
    return with_view([&]<class State>(const BlockModelView<State>& view) {
        const auto state = make_state(view, labels, 0);
        return models::merge_path(Merger<State>(state, priors_), stop);
    });
}

SearchResult BlockModel::maximize(std::span<const std::vector<std::uint32_t>> starts, const SearchPlan& plan,
                                  const common::StopFlag& stop) const {
    return with_view([&]<class State>(const BlockModelView<State>& view) {
        const BlockProblem problem(view, plan, starts, stop);
        return Evolution(problem, plan.evolution, stop).run();
    });
}

BlockSampler::BlockSampler(const BlockModel& model, ChainPlan plan)
    : chain_(model.with_view([&]<class State>(const BlockModelView<State>& view) -> AnyBlockChain {
          return BlockChain<State>(view, std::move(plan));
      })) {}

} // namespace partita::models
