// Every state with every algorithm that its concept allows, compiled without optimisation: a state that lacks
// a verb does not compile. For each state, registered by one line: the predicted change of a move and of a
// merge is the recomputed one, taking an item out and putting it back changes nothing, no algorithm ends
// above its start, and all of them end.
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

#include "check.hpp"
#include "draws/cell_states.hpp"
#include "draws/matrix_state.hpp"
#include "draws/similarity.hpp"
#include "draws/sparse_state.hpp"
#include "mixtures/icl_state.hpp"
#include "mixtures/mixtures.hpp"
#include "networks/block_model.hpp"
#include "pairs/state.hpp"
#include "partition/blockwise_best.hpp"
#include "partition/candidate_moves.hpp"
#include "partition/constrained_state.hpp"
#include "partition/finish.hpp"
#include "partition/node_moves.hpp"
#include "partition/tabu.hpp"
#include "random_draws.hpp"
#include "random_pairs.hpp"

namespace {

using namespace partita;

constexpr std::size_t n_items = 14;
constexpr std::uint32_t max_clusters = 6;

// --- States of an expected loss ---

template <search::SearchState S> void check_moves(S& state, common::Rng& rng) {
    for (std::uint32_t i = 0; i < state.labels().size(); ++i) {
        const auto start = state.labels();
        const auto value = state.exact_value();
        const auto given = state.score_precisely(i);
        const std::vector<double> scores(given.begin(), given.end());
        const auto own = state.cluster_of(i);
        const auto to = static_cast<std::uint32_t>(rng.below(scores.size()));
        if (std::isfinite(scores[to]) && !(state.is_alone(i) && to >= state.n_clusters())) {
            state.move(i, to);
            CHECK(near(state.exact_value() - value, scores[to] - scores[own], 1e-5));
        }
        state.assign(start);
        state.remove(i);
        state.insert(i, state.n_clusters() < max_clusters && own >= state.n_clusters() ? state.n_clusters()
                                                                                       : own);
        state.assign(start);
        CHECK(near(state.exact_value(), value));
    }
}

template <search::SearchState S> void check_merges(S& state) {
    const auto changes = state.merge_changes();
    const std::size_t clusters = state.n_clusters();
    const auto start = state.labels();
    const auto value = state.exact_value();
    for (std::uint32_t k = 0; k < clusters; ++k)
        for (std::uint32_t l = k + 1; l < clusters; ++l)
            if (std::isfinite(changes[k * clusters + l])) {
                state.merge(k, l);
                CHECK(near(state.exact_value() - value, changes[k * clusters + l], 1e-5));
                state.assign(start);
            }
}

/// Runs work(state) from the same start each time: the value does not rise.
template <search::SearchState S, class Work> void check_falls(S& state, std::uint32_t limit, Work work) {
    const auto start = state.labels();
    const auto value = state.exact_value();
    work();
    CHECK(state.exact_value() <= value + state.rounding() + 1e-6 * std::abs(value));
    CHECK(state.n_clusters() <= limit);
    state.assign(start);
}

/// Constraints may need more clusters than a limit would allow, and the best of several partitions block by
/// block has no limit.
template <search::SearchState S>
void check_loss_state(const typename S::Setting& setting, std::uint32_t limit = max_clusters) {
    common::Rng rng(3, 1);
    const common::StopFlag stop{false};
    const search::Limits limits(stop, std::numeric_limits<double>::infinity());
    const auto random_draw = [&](common::Rng& own) {
        return search::random_labels(setting.n_items(), 4, own);
    };
    search::Tally tally;
    S state(setting, limit);
    state.assign(search::random_labels(setting.n_items(), max_clusters, rng));
    search::complete(state, limit, rng, limits);
    check_moves(state, rng);
    check_merges(state);
    check_falls(state, limit, [&] { descend(state, rng, tally, limits); });
    check_falls(state, limit, [&] { improve(state, search::Patience{5}, limit, rng, tally, limits); });
    check_falls(state, limit, [&] { try_chains(state, tally, limits); });
    check_falls(state, limit, [&] { try_exchanges(state, tally, limits); });
    if constexpr (search::TabuState<S>)
        check_falls(state, limit, [&] { search::Tabu(state, limit).run(20, rng, tally, limits); });
    check_falls(state, limit, [&] { intensify(state, 10, limit, random_draw, rng, tally, limits); });
    check_falls(state, n_items, [&] { take_better_blocks(state, random_draw(rng), limits); });
}

void check_draws(const Loss& loss, double gaps) {
    const RandomDraws<std::uint8_t> owned(20, n_items, 4, gaps, 13);
    const LossTables tables(loss, n_items);
    const search::Problem dense(owned.view(), tables);
    search::with_cell_state(loss, [&]<class S>() { check_loss_state<S>(dense); });
    if (search::allows_candidates(loss))
        check_loss_state<search::SparseState>(
            search::SparseProblem(owned.view(), tables, 1, search::SparseProblem::Order::as_given));
}

Restrictions some_restrictions() {
    Restrictions restrictions;
    restrictions.apart.resize(n_items);
    for (std::uint32_t i = 0; i < n_items; i += 2)
        restrictions.atoms.push_back(i < 6 ? std::vector{i, i + 1} : std::vector{i});
    for (std::uint32_t i = 7; i < n_items; i += 2)
        restrictions.atoms.push_back({i});
    for (const std::uint32_t i : {1u, 8u}) {
        restrictions.apart[i].push_back(12);
        restrictions.apart[12].push_back(i);
    }
    restrictions.max_size = 8;
    return restrictions;
}

/// A search that is stopped before it began still obeys.
template <search::SearchState S>
void check_that_stopped_searches_obey(const search::Problem& problem, const Restrictions& restrictions) {
    const search::ConstrainedProblem<search::Problem> setting(problem, restrictions);
    search::ConstrainedState<S> state(setting, n_items);
    const common::StopFlag stop{true};
    common::Rng rng(5, 1);
    search::complete(state, n_items, rng, search::Limits(stop, 1.0));
    std::vector<std::size_t> sizes(n_items);
    for (std::size_t a = 0; a < setting.n_items(); ++a) {
        CHECK(state.cluster_of(a) < state.n_clusters());
        sizes[state.cluster_of(a)] += setting.atom(a).size();
        for (const auto b : setting.apart(a))
            CHECK(state.cluster_of(a) != state.cluster_of(b));
    }
    for (const auto size : sizes)
        CHECK(size <= restrictions.max_size);
}

void check_matrix_and_constraints() {
    const RandomDraws<std::uint8_t> owned(20, n_items, 4, 0.0, 13);
    std::vector<float> matrix(n_items * n_items);
    std::vector<std::int64_t> items(n_items);
    std::iota(items.begin(), items.end(), std::int64_t{0});
    const common::StopFlag stop{false};
    similarity(owned.view(), items, items, std::span(matrix), 1, stop, [] { return false; });
    const search::MatrixProblem problem(std::move(matrix), n_items, Binder{});
    check_loss_state<search::MatrixState>(problem);
    const auto restrictions = some_restrictions();
    check_loss_state<search::ConstrainedState<search::MatrixState>>(
        search::ConstrainedProblem<search::MatrixProblem>(problem, restrictions), n_items);
    for (const auto& loss : all_losses(n_items)) {
        const LossTables tables(loss, n_items);
        const search::Problem dense(owned.view(), tables);
        search::with_cell_state(loss, [&]<class S>() {
            check_loss_state<search::ConstrainedState<S>>(
                search::ConstrainedProblem<search::Problem>(dense, restrictions), n_items);
            check_that_stopped_searches_obey<S>(dense, restrictions);
        });
    }
}

// --- States of nodes: sets of items that move together ---

template <search::RebuiltState S, class Value>
void check_node_moves(S& state, common::Rng& rng, Value value) {
    for (std::uint32_t node = 0; node < state.n_nodes(); ++node) {
        const auto start = state.labels();
        const auto own = state.cluster_of(node);
        const auto before = value(start);
        const auto taken_out = state.take_out(node);
        CHECK(state.members(state.cluster_of(node)).size() == 1);
        CHECK(near(value(state.labels()) - before, taken_out));
        state.move(node, own);
        CHECK(state.labels() == start);
        const auto change = state.improve(node);
        CHECK(change <= 0 && (change < 0 || state.cluster_of(node) == own));
        CHECK(near(value(state.labels()) - before, change));
        state.each_follower(
            node, [&](std::uint32_t other) { CHECK(state.cluster_of(other) != state.cluster_of(node)); });
        CHECK(!state.members(state.near_cluster(state.cluster_of(node), rng)).empty());
        state.move(node, own);
    }
}

template <search::NodeProblem P, class Value, class Obeys>
void check_node_problem(const P& problem, std::vector<std::uint32_t> start, Value value, Obeys obeys) {
    common::Rng rng(3, 1);
    const common::StopFlag stop{false};
    const search::Limits limits(stop, std::numeric_limits<double>::infinity());
    const auto other = problem.state(problem.nodes(), search::random_labels(start.size(), 4, rng)).labels();
    auto improved = start;
    search::improve(problem, improved, 3, rng, limits);
    for (const auto& from : {start, improved}) { // from where most attempts are undone too
        auto state = problem.state(problem.nodes(), from);
        check_node_moves(state, rng, value);
        CHECK(near(value(state.labels()), value(from)));
        const auto falls = [&](auto work) {
            auto labels = from;
            work(labels);
            CHECK(value(labels) <= value(from) + 1e-9);
            CHECK(obeys(labels));
        };
        falls([&](auto& labels) { search::descend(problem, labels, rng, limits); });
        falls([&](auto& labels) { search::rebuild_all(problem, labels, rng, limits); });
        falls([&](auto& labels) { search::improve(problem, labels, 3, rng, limits); });
        falls([&](auto& labels) { search::cross(problem, labels, other, rng, limits); });
    }
}

void check_pairs() {
    const auto check = [](const auto& objective, bool constrained) {
        const RandomPairs owned(20, 0.5, constrained, 3);
        const auto local = owned.local();
        using Objective = std::remove_cvref_t<decltype(objective)>;
        check_node_problem(
            pairs::Problem<Objective>{local, objective}, local.atom_of(),
            [&](const auto& labels) { return pairs::value_of(local, objective, labels); },
            [&](const auto& labels) { return owned.obeys(labels); });
    };
    for (const bool constrained : {false, true}) {
        check(pairs::Threshold{0.5, 0.0}, constrained);
        check(pairs::LogMass{1.0, 1.0}, constrained);
    }
}

// --- States of a log density ---

template <models::ClimbState S> void check_density_moves(const S& state, common::Rng& rng) {
    for (std::size_t i = 0; i < state.n_items(); ++i) {
        auto asked = state;
        const auto scored = asked.score(i);
        for (const auto place : {scored.own, static_cast<std::size_t>(rng.below(scored.scores.size()))})
            if (const double change = scored.scores[place] - scored.scores[scored.own];
                std::isfinite(change)) {
                auto moved = state;
                moved.score(i);
                moved.put(i, place);
                CHECK(near(moved.log_density() - state.log_density(), change, 1e-8));
            }
    }
}

template <models::ClimbState S> void check_density_merge(S state) {
    auto merges = state.merges();
    const auto best = merges.best(merges.n_sides());
    if (!best.exists())
        return;
    const double before = state.log_density();
    CHECK(near(merges.change(best.into, best.from), best.change, 1e-12));
    merges.merge(best);
    state.apply(merges);
    CHECK(near(state.log_density() - before, best.change, 1e-8));
}

template <models::ClimbState S> void check_density_state(const S& state) {
    common::Rng rng(3, 1);
    const common::StopFlag stop{false};
    check_density_moves(state, rng);
    check_density_merge(state);
    const auto rises = [&](auto climb) {
        models::Climber<S> climber(state, rng, stop);
        const models::Solution found = climb(climber);
        CHECK(found.icl >= state.log_density() - 1e-8);
        CHECK(found.labels.size() == state.n_items());
    };
    rises([](auto& climber) { return climber.climb(false); });
    rises([](auto& climber) { return climber.climb_by_complete_sweeps(); });
    rises([](auto& climber) { return climber.finish(true); });
    if constexpr (models::RegionState<S>) {
        rises([](auto& climber) { return climber.rearrange(2, 2.0, 3); });
        rises([](auto& climber) { return climber.as_printed(); });
    }
    CHECK(std::isfinite(models::Climber<S>(state, rng, stop).climb(true).icl));
    CHECK(std::isfinite(models::Climber<S>(state, rng, stop).anneal(2.0, 0.6, 4).icl));
}

std::vector<std::uint32_t> some_labels(std::size_t n, std::uint32_t clusters) {
    std::vector<std::uint32_t> labels(n);
    for (std::uint32_t i = 0; i < n; ++i)
        labels[i] = i * 7 % clusters;
    return labels;
}

/// A ring with chords, undirected.
models::NetworkArrays some_network() {
    models::NetworkArrays arrays;
    arrays.n_nodes = arrays.n_rows = n_items;
    auto& rows = arrays.edges[0];
    rows.start.push_back(0);
    for (std::uint32_t i = 0; i < n_items; ++i) {
        for (std::uint32_t j = 0; j < n_items; ++j)
            if (const auto apart = (i + n_items - j) % n_items;
                apart == 1 || apart == n_items - 1 || (i != j && i % 4 == j % 4)) {
                rows.to.push_back(j);
                rows.count.push_back(1);
            }
        rows.start.push_back(static_cast<std::int64_t>(rows.to.size()));
    }
    return arrays;
}

/// One column: values of three groups.
models::NumberTable some_numbers() {
    std::vector<double> data;
    for (std::size_t i = 0; i < n_items; ++i)
        data.push_back(static_cast<double>(i % 3) * 4.0 + 0.3 * static_cast<double>(i % 5));
    return {std::move(data), 1};
}

const models::GammaBase some_base{{0.0}, {1.0}, {2.0}, {1.0}};

models::NodeTable some_table() {
    auto table = std::make_shared<models::ProductTable>(n_items, 0.0);
    table->add(some_numbers());
    models::Product family;
    family.add(models::DiagonalGaussian(some_base, n_items + 1));
    return {std::move(table), std::move(family)};
}

void check_networks() {
    const std::size_t most[2] = {max_clusters, 1};
    const auto check = [&](const models::BlockModel& model) {
        model.with_view([&]<class State>(const models::BlockModelView<State>& view) {
            check_density_state(models::BlockIcl<State>(view, some_labels(n_items, 4), most));
        });
    };
    for (const bool counts : {false, true})
        for (const bool affiliation : {false, true})
            check(models::BlockModel(some_network(), {counts, 1.0, 1.0, counts, affiliation}, 1.0, 1.0));
    std::vector<models::LayerArrays> layers(2, {some_network(), {}, {}});
    check(models::BlockModel(some_network(), layers, 1.0, 1.0));
    check(models::BlockModel(some_network(), layers, 1.0, 1.0, {some_table()}));
}

void check_mixtures() {
    models::FiniteMixturePrior prior;
    for (std::size_t t = 0; t <= n_items; ++t)
        prior.log_v.push_back(-static_cast<double>(t));
    const models::MixtureView<models::DiagonalGaussian> view{
        std::make_shared<models::NumberTable>(some_numbers()),
        models::DiagonalGaussian(some_base, n_items + 1), prior};
    check_density_state(
        models::MixtureIcl<models::DiagonalGaussian>(view, some_labels(n_items, 4), max_clusters));
}

} // namespace

void test_states() {
    for (const auto& loss : all_losses(n_items))
        for (const double gaps : {0.0, 0.2})
            check_draws(loss, gaps);
    check_matrix_and_constraints();
    check_pairs();
    check_networks();
    check_mixtures();
}
