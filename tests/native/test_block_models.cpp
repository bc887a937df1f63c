// Block models: directed, undirected and bipartite networks, both kinds of edges and of blocks.
#include "chains.hpp"
#include "networks/block_model.hpp"

namespace {

using namespace partita::models;
namespace common = partita::common;

/// Compressed rows of the entries of a matrix that are not 0.
NeighbourArrays rows_of(const std::vector<std::vector<std::uint32_t>>& matrix) {
    NeighbourArrays rows;
    rows.start.push_back(0);
    for (const auto& row : matrix) {
        for (std::size_t j = 0; j < row.size(); ++j)
            if (row[j] > 0) {
                rows.to.push_back(static_cast<std::uint32_t>(j));
                rows.count.push_back(row[j]);
            }
        rows.start.push_back(static_cast<std::int64_t>(rows.to.size()));
    }
    return rows;
}

struct Kind {
    bool directed, bipartite, loops;
};

NetworkArrays network_of(std::size_t n, Kind kind, std::uint32_t most) {
    common::Rng rng(5);
    const std::size_t n_rows = kind.bipartite ? (n + 1) / 2 : n;
    std::vector<std::vector<std::uint32_t>> out(n, std::vector<std::uint32_t>(n)), in = out;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = kind.directed ? 0 : i + 1; j < n; ++j) {
            if (i == j || (kind.bipartite && (i < n_rows) == (j < n_rows)))
                continue;
            const auto count = static_cast<std::uint32_t>(rng.below(2) * (1 + rng.below(most)));
            out[i][j] = count;
            (kind.directed ? in : out)[j][i] = count;
        }
    NetworkArrays arrays;
    arrays.n_nodes = n;
    arrays.n_rows = n_rows;
    arrays.directed = kind.directed;
    arrays.edges[0] = rows_of(out);
    if (kind.directed)
        arrays.edges[1] = rows_of(in);
    if (kind.loops) {
        arrays.loop.assign(n, 1);
        arrays.loop_observed.assign(n, 1);
    }
    return arrays;
}

MakeChain chain_of(std::shared_ptr<const BlockModel> model, std::size_t n) {
    return [=](std::uint64_t seed) {
        const std::vector<double> log_k(n, 0.0);
        auto sampler =
            std::make_shared<BlockSampler>(*model, ChainPlan{{log_k, log_k}, 1.0, 1, 2, 2, seed, 0});
        return AnyChain{
            [=] { sampler->visit([](auto& chain) { chain.sweep(); }); },
            [=] {
                std::vector<std::uint32_t> labels(n);
                sampler->visit([&](auto& chain) { chain.write_labels(labels.data()); });
                return labels;
            },
            [=] { return sampler->visit([](auto& chain) { return chain.log_density(); }); },
            [=] { return sampler->visit([](auto& chain) { return chain.state(); }); },
            [=](std::string bytes) { sampler->visit([&](auto& chain) { chain.restore(bytes); }); }};
    };
}

/// The ICL of the best labels is theirs, on any number of threads, and greedy merges end at it less the
/// steps.
void check_maximum(const BlockModel& model, std::size_t n) {
    SearchPlan plan{
        .evolution = {.trial_runs = 3, .groups = 2, .generations = 3, .patience = 2, .seed = 1, .threads = 2},
        .max_clusters = {n, n},
        .runs = {{StartKind::random}, {StartKind::annealed}, {StartKind::communities}, {}, {}, {}},
        .random_clusters = 3,
        .effort = {.anneal_sweeps = 3,
                   .reheat_sweeps = 2,
                   .trial_runs = 3,
                   .patience = 2,
                   .group_runs = 3,
                   .rearrange = {.of_runs = 2, .of_children = 1, .of_best = 2}},
        .merge_first = false,
        .as_printed = false};
    const common::StopFlag stop;
    const auto found = model.maximize({}, plan, stop);
    CHECK(near(found.best.icl, model.icl(found.best.labels)));
    plan.evolution.threads = 1;
    CHECK(model.maximize({}, plan, stop).best.labels == found.best.labels);
    plan.as_printed = true;
    const auto printed = model.maximize({}, plan, stop);
    CHECK(near(printed.best.icl, model.icl(printed.best.labels)));
    for (const auto& merge : model.merge_path(found.best.labels))
        CHECK(std::isfinite(merge.change));
    for (std::size_t node = 0; node < n; ++node)
        for (const double change : model.swap_changes(found.best.labels, node))
            CHECK(std::isfinite(change));
}

/// Every score is the change of the likelihood, fresh and after many moves, for few slots and for many.
template <class State>
void check_scores(const BlockModelView<State>& view, std::size_t n, std::size_t clusters) {
    common::Rng rng(3);
    std::vector<std::uint32_t> labels(n);
    for (std::size_t i = 0; i < n; ++i)
        labels[i] = static_cast<std::uint32_t>(i < clusters ? i : rng.below(clusters));
    auto state = make_state(view, labels, 1);
    for (std::size_t step = 0; step < 60; ++step) {
        const auto node = rng.below(n);
        const auto own = state.label(node);
        const auto to = static_cast<std::uint32_t>(rng.below(clusters));
        const std::uint32_t some[2] = {own, to};
        const double before = state.log_likelihood();
        state.look(node);
        const auto all = state.score();
        const double change = all[to] - all[own];
        const auto few = state.score(std::span(some).first(own == to ? 1 : 2));
        CHECK(near(change, few[to] - few[own]));
        CHECK(near(change, state.score(to) - state.score(own)));
        state.move(to);
        CHECK(near(change, state.log_likelihood() - before));
    }
}

/// A chain is made without its start, and a restored one never has one: no climb has been run before a sweep.
void check_unstarted() {
    constexpr std::size_t n = 12;
    std::vector<std::vector<std::uint32_t>> cliques(n, std::vector<std::uint32_t>(n));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            cliques[i][j] = i != j && (i < n / 2) == (j < n / 2);
    NetworkArrays arrays;
    arrays.n_nodes = arrays.n_rows = n;
    arrays.edges[0] = rows_of(cliques);
    const BlockModel model(std::move(arrays), EdgePrior{}, 1.0, 1.0);
    const std::vector<double> log_k(n, 0.0);
    const auto filled = [](auto& chain) { return chain.filled(0); };
    BlockSampler sampler(model, ChainPlan{{log_k, log_k}, 1.0, 1, 2, 4, 1, 0});
    CHECK(sampler.visit(filled) == 1);
    const auto state = sampler.visit([](auto& chain) { return chain.state(); }); // starts it
    CHECK(sampler.visit(filled) == 2);
    BlockSampler restored(model, ChainPlan{{log_k, log_k}, 1.0, 1, 2, 4, 7, 0});
    CHECK(restored.visit(filled) == 1);
    restored.visit([&](auto& chain) { chain.restore(state); });
    CHECK(restored.visit([](auto& chain) { return chain.state(); }) == state);
}

void check_model(std::size_t n, Kind kind, bool counts, bool corrected, bool affiliation) {
    const auto model = std::make_shared<BlockModel>(
        network_of(n, kind, counts ? 5 : 1), EdgePrior{counts, 1.0, 1.0, corrected, affiliation}, 1.0, 1.0);
    check_maximum(*model, n);
    if (!kind.bipartite)
        model->with_view([&](const auto& view) { check_scores(view, n, (n + 1) / 2); });
    check_chain(chain_of(model, n));
}

/// Among 40 clusters the states keep what a node takes along when it leaves.
void check_many_clusters() {
    for (const bool directed : {false, true})
        for (const bool counts : {false, true}) {
            const BlockModel model(network_of(70, {directed, false, false}, counts ? 3 : 1),
                                   EdgePrior{counts, 1.0, 1.0, counts, false}, 1.0, 1.0);
            model.with_view([](const auto& view) { check_scores(view, 70, 40); });
        }
}

} // namespace

void test_block_models() {
    check_unstarted();
    check_many_clusters();
    for (const std::size_t n : {2u, 3u, 14u})
        for (const auto kind : {Kind{true, false, false}, Kind{false, false, true}, Kind{false, true, false}})
            for (const bool counts : {false, true}) {
                check_model(n, kind, counts, false, false);
                if (counts && !kind.bipartite)
                    check_model(n, kind, counts, true, false);
                if (!kind.bipartite)
                    check_model(n, kind, counts, false, true);
            }
}
