// Searches: every loss, each label type, with gaps and without, limits that bind, threads.
#include <numeric>

#include "check.hpp"
#include "distances.hpp"
#include "random_draws.hpp"
#include "search/chains.hpp"
#include "search/search.hpp"

namespace {

using namespace partita;

template <class Label>
double exact_loss(const Run& run, const Draws<Label>& draws, const LossTables& tables) {
    const auto losses = distances(std::span<const std::uint32_t>(run.labels), draws, tables, 1);
    double sum = 0;
    for (std::size_t t = 0; t < losses.size(); ++t)
        sum += draws.weights[t] * losses[t];
    return sum;
}

template <class Label>
void check_runs(const std::vector<Run>& runs, const Draws<Label>& draws, const LossTables& tables,
                const SearchOptions& options) {
    CHECK(!runs.empty());
    for (const auto& run : runs) {
        CHECK(near(run.loss, exact_loss(run, draws, tables), 1e-6));
        CHECK(run.clusters <= options.max_clusters);
        CHECK(run.labels.size() == draws.n_items);
    }
}

template <class Label> void check_searches(std::size_t n_draws, double gaps, std::uint32_t max_clusters) {
    const RandomDraws<Label> owned(n_draws, 30, 5, gaps, 11);
    const auto draws = owned.view();
    SearchOptions options;
    options.runs = 5;
    options.max_clusters = max_clusters;
    options.start_groups = std::min(max_clusters, 5u);
    options.threads = 2;
    const StopFlag stop{false};
    for (const auto& loss : all_losses(30)) {
        const LossTables tables(loss, 30);
        const auto found = search(draws, tables, options, stop, {});
        check_runs(found, draws, tables, options);
        options.threads = 1;
        const auto again = search(draws, tables, options, stop, {});
        options.threads = 2;
        CHECK(found.size() == again.size() && found[0].labels == again[0].labels);
        const Problem problem(draws, tables);
        check_runs(run_all(salso_run, problem, options, stop, {}), draws, tables, options);
        check_runs(run_all(greedy_run, problem, options, stop, {}), draws, tables, options);
    }
}

/// Few items, so that clusters repeat and draws share rows.
template <class Label> void check_shared_rows(bool with_copies) {
    const RandomDraws<Label> owned(60, 6, 3, 0.0, 14);
    const std::vector<std::uint32_t> copies{1, 2, 3, 1, 2, 3};
    auto draws = owned.view();
    if (with_copies)
        draws.copies = copies;
    draws.sharing = Sharing::always;
    SearchOptions options;
    options.runs = 5;
    options.max_clusters = options.start_groups = 4;
    const StopFlag stop{false};
    for (const auto& loss : {Loss{Binder{0.5, 1.5}}, Loss{VI{1.7, 0.3}}}) {
        const LossTables tables(loss, draws.n_total());
        const Problem problem(draws, tables);
        CHECK(problem.shared() && problem.clusters_a_row() > 2);
        const auto runs = search(draws, tables, options, stop, {});
        draws.sharing = Sharing::never;
        const Problem apart(draws, tables);
        draws.sharing = Sharing::always;
        State state(apart, 4);
        for (const auto& run : runs) {
            state.assign(run.labels);
            CHECK(near(run.loss, state.value() + apart.constant(), 1e-9));
        }
        if (!with_copies)
            check_runs(run_all(salso_run, problem, options, stop, {}), draws, tables, options);
    }
}

void check_that_a_stopped_search_still_answers() {
    const RandomDraws<std::uint8_t> owned(600, 50, 5, 0.0, 12);
    const LossTables tables(NVI{}, 50);
    SearchOptions options;
    options.max_clusters = options.start_groups = 5;
    const StopFlag stop{true};
    const auto runs = search(owned.view(), tables, options, stop, {});
    CHECK(!runs.empty() && runs[0].labels.size() == 50);
}

/// Chains are kept only if they help, and a kept chain's gain is the one booked.
void check_that_chains_help() {
    const RandomDraws<std::uint8_t> owned(20, 30, 4, 0.1, 13);
    const StopFlag stop{false};
    const Limits limits(stop, std::numeric_limits<double>::infinity());
    for (const auto& loss : all_losses(30)) {
        const LossTables tables(loss, 30);
        const Problem problem(owned.view(), tables);
        State state(problem, 4);
        Rng rng(5, 1);
        state.assign(random_labels(30, 4, rng));
        const auto before = state.value();
        const auto labels = state.labels();
        Tally tally;
        const bool helped = try_chains(state, tally, limits);
        state.refresh();
        CHECK(helped ? state.value() < before : near(state.value(), before, 1e-9));
        CHECK(helped == (state.labels() != labels));
    }
}

/// A chain that does not help leaves the partition as it was, also where items stand for several.
void check_that_chains_are_undone_with_copies() {
    std::vector<std::uint32_t> copies(12);
    for (std::size_t i = 0; i < copies.size(); ++i)
        copies[i] = 1 + i % 4;
    const auto total = std::accumulate(copies.begin(), copies.end(), std::size_t{0});
    const LossTables tables(VI{}, total);
    const StopFlag stop{false};
    const Limits limits(stop, std::numeric_limits<double>::infinity());
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        const RandomDraws<std::uint8_t> owned(20, 12, 6, 0.0, seed);
        auto draws = owned.view();
        draws.copies = copies;
        const Problem problem(draws, tables);
        State state(problem, 8);
        Rng rng(seed, 1);
        state.assign(random_labels(12, 8, rng));
        const auto labels = state.labels();
        const auto before = state.value();
        Tally tally;
        const bool helped = try_chains(state, tally, limits);
        state.refresh();
        CHECK(helped ? state.value() < before : state.labels() == labels);
    }
}

} // namespace

void test_search() {
    check_that_chains_help();
    check_that_chains_are_undone_with_copies();
    for (const bool with_copies : {false, true}) {
        check_shared_rows<std::uint8_t>(with_copies);
        check_shared_rows<std::uint16_t>(with_copies);
        check_shared_rows<std::uint32_t>(with_copies);
    }
    for (const double gaps : {0.0, 0.2})
        for (const std::uint32_t most : {1u, 3u, 30u})
            check_searches<std::uint8_t>(20, gaps, most);
    check_searches<std::uint16_t>(20, 0.2, 4);
    check_searches<std::uint32_t>(20, 0.0, 4);
    check_searches<std::uint8_t>(700, 0.0, 5); // enough draws for the coarse level
    check_that_a_stopped_search_still_answers();
}
