// Moves for a limit on clusters that binds: tabu search on the similarity matrix, exchanges of clusters.
#include <algorithm>
#include <limits>

#include "cell_states.hpp"
#include "check.hpp"
#include "draws/matrix_state.hpp"
#include "partition/exchanges.hpp"
#include "partition/improve.hpp"
#include "partition/tabu.hpp"
#include "random_draws.hpp"

namespace {

using namespace partita;
using search::MatrixState;

/// The similarity matrix of draws, by its definition.
search::MatrixProblem pair_problem(const Draws<std::uint8_t>& draws, Binder loss) {
    const auto n = draws.n_items;
    std::vector<double> sums(n * n);
    for (std::size_t t = 0; t < draws.n_draws(); ++t)
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j)
                sums[i * n + j] += draws.draw(t)[i] == draws.draw(t)[j] ? draws.weights[t] : 0.0;
    return {std::vector<float>(sums.begin(), sums.end()), n, loss};
}

std::vector<std::uint32_t> canonical(std::vector<std::uint32_t> labels) {
    search::renumber(labels);
    return labels;
}

/// The value after item i has gone to the cluster.
double value_after(const search::MatrixProblem& problem, const MatrixState& state, std::uint32_t max_clusters,
                   std::uint32_t item, std::uint32_t cluster) {
    MatrixState other(problem, max_clusters);
    other.assign(state.labels());
    other.move(item, cluster);
    return other.exact_value();
}

/// The least change of the value by a move of one item, each computed anew; the limit holds.
double least_change(const search::MatrixProblem& problem, const MatrixState& state,
                    std::uint32_t max_clusters) {
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t i = 0; i < state.labels().size(); ++i) {
        const auto open = state.n_clusters() < max_clusters && !state.is_alone(i);
        for (std::uint32_t k = 0; k < state.n_clusters() + open; ++k)
            if (k != state.cluster_of(i))
                least =
                    std::min(least, value_after(problem, state, max_clusters, i, k) - state.exact_value());
    }
    return least;
}

/// Each step predicts its change, and no other move would be better while no item is held. `shift` is a fault
/// that the check must find.
int count_wrong_predictions(std::uint32_t max_clusters, double shift) {
    constexpr std::size_t n = 24;
    int wrong = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        const RandomDraws<std::uint8_t> owned(15, n, 5, 0.0, seed);
        const auto problem = pair_problem(owned.view(), seed % 2 ? Binder{1, 1} : Binder{0.5, 1.5});
        MatrixState state(problem, max_clusters);
        common::Rng rng(seed, 1);
        state.assign(search::random_labels(n, max_clusters, rng));
        search::Tabu tabu(state, max_clusters);
        for (int step = 0; step < 40; ++step) {
            const auto move = tabu.best_move();
            wrong += !near(move.change, least_change(problem, state, max_clusters) + shift, 1e-9);
            const auto before = state.exact_value();
            tabu.make(move, 0); // not held
            wrong += !near(state.exact_value() - before, move.change + shift, 1e-9);
            wrong += !near(state.value(), state.exact_value(), 1e-9);
            if (step % 3 == 0) // elsewhere than at an optimum, where two moves would alternate
                tabu.make({static_cast<std::uint32_t>(rng.below(n)), 0, 0.0}, 0);
            wrong += state.n_clusters() > max_clusters;
        }
    }
    return wrong;
}

void check_that_held_items_stay() {
    const RandomDraws<std::uint8_t> owned(15, 24, 5, 0.0, 3);
    const auto problem = pair_problem(owned.view(), Binder{1, 1});
    MatrixState state(problem, 4);
    common::Rng rng(3, 1);
    state.assign(search::random_labels(24, 4, rng));
    search::Tabu tabu(state, 4);
    const auto first = tabu.best_move();
    tabu.make(first, 1000);
    for (int step = 0; step < 30; ++step) {
        const auto value = state.value();
        const auto move = tabu.best_move();
        CHECK(move.item != first.item || value + move.change < value);
        tabu.make(move, 0);
    }
}

/// Tabu search ends where its value was least: never above the start, often below a descent.
void check_that_tabu_search_helps() {
    const common::StopFlag stop{false};
    const search::Limits limits(stop, std::numeric_limits<double>::infinity());
    int better = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const RandomDraws<std::uint8_t> owned(15, 40, 6, 0.0, seed);
        const auto problem = pair_problem(owned.view(), Binder{0.5, 1.5});
        MatrixState state(problem, 6);
        common::Rng rng(seed, 1);
        search::Tally tally;
        state.assign(search::random_labels(40, 6, rng));
        descend(state, rng, tally, limits);
        const auto value = state.exact_value();
        search::Tabu(state, 6).run(200, rng, tally, limits);
        CHECK(state.exact_value() <= value + 1e-12);
        CHECK(near(state.value(), state.exact_value(), 1e-12));
        CHECK(state.n_clusters() <= 6);
        better += state.exact_value() < value - 1e-9;
    }
    CHECK(better >= 10);
}

/// A stopped tabu search ends at once, with the partition it began with or a better one.
void check_that_tabu_search_stops() {
    const common::StopFlag stop{true};
    const search::Limits limits(stop, std::numeric_limits<double>::infinity());
    const RandomDraws<std::uint8_t> owned(15, 24, 5, 0.0, 3);
    const auto problem = pair_problem(owned.view(), Binder{1, 1});
    MatrixState state(problem, 4);
    common::Rng rng(3, 1);
    state.assign(search::random_labels(24, 4, rng));
    const auto before = canonical(state.labels());
    search::Tally tally;
    search::Tabu(state, 4).run(std::numeric_limits<std::uint32_t>::max(), rng, tally, limits);
    CHECK(canonical(state.labels()) == before && tally.moves == 0);
}

/// Exchanges lower the value or leave the partition as it was; the number of clusters stays.
void check_exchanges() {
    constexpr std::size_t n = 24;
    const common::StopFlag stop{false};
    const search::Limits limits(stop, std::numeric_limits<double>::infinity());
    int helped = 0, tried = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed)
        with_each_loss(RandomDraws<std::uint8_t>(20, n, 12, 0.0, seed), 10, [&](auto& state) {
            common::Rng rng(seed, 1);
            state.assign(search::random_labels(n, 10, rng));
            search::Tally tally;
            if (seed % 2) // where single moves and merges no longer help
                descend(state, rng, tally, limits);
            if (state.n_clusters() < 10)
                return;
            const auto before = canonical(state.labels());
            const auto value = state.exact_value();
            const bool is_better = try_exchanges(state, tally, limits);
            CHECK(state.n_clusters() == 10);
            CHECK(is_better ? state.exact_value() < value : canonical(state.labels()) == before);
            CHECK(is_better || near(state.exact_value(), value, 1e-9));
            helped += is_better;
            ++tried;
        });
    CHECK(helped > 10 && helped < tried);
}

/// Moves that open and close clusters are undone in any order that they were made in.
void check_that_moves_are_undone() {
    const RandomDraws<std::uint8_t> owned(10, 12, 6, 0.0, 2);
    const LossTables tables(VI{}, 12);
    const search::Problem problem(owned.view(), tables);
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        search::LinearState state(problem, 12);
        common::Rng rng(seed, 1);
        state.assign(search::random_labels(12, 8, rng));
        const auto before = canonical(state.labels());
        search::Undoable<search::LinearState> moves(state);
        for (int step = 0; step < 20; ++step) {
            const auto item = static_cast<std::uint32_t>(rng.below(12));
            moves.move(item,
                       static_cast<std::uint32_t>(rng.below(state.n_clusters() + !state.is_alone(item))));
        }
        moves.undo();
        CHECK(canonical(state.labels()) == before);
    }
}

} // namespace

void test_binding_limits() {
    for (const std::uint32_t max_clusters : {4u, 8u, 24u}) {
        CHECK(count_wrong_predictions(max_clusters, 0) == 0);
        CHECK(count_wrong_predictions(max_clusters, 1e-6) > 0);
    }
    check_that_held_items_stay();
    check_that_tabu_search_helps();
    check_that_tabu_search_stops();
    check_that_moves_are_undone();
    check_exchanges();
}
