// Searches: every loss, each label type, with gaps and without, limits that bind, threads.
#include <algorithm>
#include <numeric>

#include "cell_states.hpp"
#include "check.hpp"
#include "draws/distances.hpp"
#include "draws/search.hpp"
#include "partition/chains.hpp"
#include "partition/large_neighbourhoods.hpp"
#include "partition/runner.hpp"
#include "random_draws.hpp"

namespace {

using namespace partita;

using RunOnProblem = search::Run (*)(const search::Problem&, const search::SearchOptions&, common::Rng&,
                                     const search::Limits&);

std::vector<search::Run> run_each(RunOnProblem one, const search::Problem& problem,
                                  const search::SearchOptions& options, const common::StopFlag& stop) {
    return search::run_all([&](const search::SearchOptions& given, common::Rng& rng,
                               const search::Limits& limits) { return one(problem, given, rng, limits); },
                           options, stop, {});
}

template <class Label>
double exact_loss(const search::Run& run, const Draws<Label>& draws, const LossTables& tables) {
    const auto losses = distances(std::span<const std::uint32_t>(run.labels), draws, tables, 1);
    double sum = 0;
    for (std::size_t t = 0; t < losses.size(); ++t)
        sum += draws.weights[t] * losses[t];
    return sum;
}

template <class Label>
void check_runs(const std::vector<search::Run>& runs, const Draws<Label>& draws, const LossTables& tables,
                const search::SearchOptions& options) {
    CHECK(!runs.empty());
    for (const auto& run : runs) {
        CHECK(near(run.loss, exact_loss(run, draws, tables), 1e-6));
        CHECK(run.clusters <= options.max_clusters);
        CHECK(run.labels.size() == draws.n_items);
    }
}

template <class Label> void check_searches(std::size_t n_draws, double gaps, std::uint32_t max_clusters) {
    constexpr std::size_t n = 20;
    const RandomDraws<Label> owned(n_draws, n, 5, gaps, 11);
    const auto draws = owned.view();
    search::SearchOptions options;
    options.runs = 4;
    options.max_clusters = max_clusters;
    options.start_groups = std::min(max_clusters, 5u);
    options.threads = 2;
    const common::StopFlag stop{false};
    for (const auto& loss : all_losses(n)) {
        const LossTables tables(loss, n);
        const auto found = search::search(draws, tables, options, stop, {}).runs;
        check_runs(found, draws, tables, options);
        options.threads = 1;
        const auto again = search::search(draws, tables, options, stop, {}).runs;
        options.threads = 2;
        CHECK(found.size() == again.size() && found[0].labels == again[0].labels);
        const search::Problem problem(draws, tables);
        search::with_cell_state(loss, [&]<class S>() {
            check_runs(run_each(search::salso_run<S>, problem, options, stop), draws, tables, options);
            check_runs(run_each(search::greedy_run<S>, problem, options, stop), draws, tables, options);
        });
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
    search::SearchOptions options;
    options.runs = 5;
    options.max_clusters = options.start_groups = 4;
    const common::StopFlag stop{false};
    for (const auto& loss : {Loss{Binder{0.5, 1.5}}, Loss{VI{1.7, 0.3}}}) {
        const LossTables tables(loss, draws.n_total());
        const search::Problem problem(draws, tables);
        CHECK(problem.shared() && problem.clusters_per_row() > 2);
        const auto runs = search::search(draws, tables, options, stop, {}).runs;
        draws.sharing = Sharing::never;
        const search::Problem apart(draws, tables);
        draws.sharing = Sharing::always;
        search::LinearState state(apart, 4);
        for (const auto& run : runs) {
            state.assign(run.labels);
            CHECK(near(run.loss, state.value() + apart.constant(), 1e-9));
        }
        if (!with_copies)
            check_runs(run_each(search::salso_run<search::LinearState>, problem, options, stop), draws,
                       tables, options);
    }
}

void check_that_a_stopped_search_still_answers() {
    const RandomDraws<std::uint8_t> owned(600, 50, 5, 0.0, 12);
    const LossTables tables(NVI{}, 50);
    search::SearchOptions options;
    options.max_clusters = options.start_groups = 5;
    const common::StopFlag stop{true};
    const auto runs = search::search(owned.view(), tables, options, stop, {}).runs;
    CHECK(!runs.empty() && runs[0].labels.size() == 50);
}

/// Chains are kept only if they help, and a kept chain's gain is the one booked.
void check_that_chains_help() {
    const RandomDraws<std::uint8_t> owned(20, 30, 4, 0.1, 13);
    const common::StopFlag stop{false};
    const search::Limits limits(stop, std::numeric_limits<double>::infinity());
    with_each_loss(owned, 4, [&](auto& state) {
        common::Rng rng(5, 1);
        state.assign(search::random_labels(30, 4, rng));
        const auto before = state.value();
        const auto labels = state.labels();
        search::Tally tally;
        const bool helped = try_chains(state, tally, limits);
        state.refresh();
        CHECK(helped ? state.value() < before : near(state.value(), before, 1e-9));
        CHECK(helped == (state.labels() != labels));
    });
}

/// When single moves end, the items that are said to be boundary lose no more than any other by leaving,
/// least first.
void check_that_boundary_items_lose_least() {
    const RandomDraws<std::uint8_t> owned(20, 30, 4, 0.0, 13);
    const common::StopFlag stop{false};
    const search::Limits limits(stop, std::numeric_limits<double>::infinity());
    with_each_loss(owned, 4, [&](auto& state) {
        common::Rng rng(5, 1);
        state.assign(search::random_labels(30, 4, rng));
        search::Tally tally;
        descend(state, rng, tally, limits);
        if (state.n_clusters() < 2)
            return;
        auto penalty = [&](std::uint32_t i) {
            const auto scores = state.score_precisely(i).first(state.n_clusters());
            return search::best_other(scores, state.cluster_of(i)).best_score - scores[state.cluster_of(i)];
        };
        CHECK(tally.boundary.size() == 4); // an eighth
        auto last = -std::numeric_limits<double>::infinity();
        for (const auto i : tally.boundary) {
            CHECK(penalty(i) >= last - 1e-5);
            last = penalty(i);
        }
        for (std::uint32_t i = 0; i < 30; ++i)
            if (std::find(tally.boundary.begin(), tally.boundary.end(), i) == tally.boundary.end())
                CHECK(penalty(i) >= last - 1e-5);
    });
}

/// Clusters that were taken apart, or into which a cluster of a draw was put, can be put back; the limit
/// holds.
void check_that_large_neighbourhoods_can_be_undone() {
    const RandomDraws<std::uint8_t> owned(20, 30, 4, 0.1, 13);
    const common::StopFlag stop{false};
    const search::Limits limits(stop, std::numeric_limits<double>::infinity());
    std::size_t changes = 0;
    with_each_loss(owned, 5, [&](auto& state) {
        common::Rng rng(5, 1);
        state.assign(search::random_labels(30, 5, rng));
        auto canonical = [&] {
            auto labels = state.labels();
            search::renumber(labels);
            return labels;
        };
        search::Tally tally;
        for (int attempt = 0; attempt < 40; ++attempt) {
            const auto before = canonical();
            const auto value = state.exact_value();
            const auto draw = search::random_labels(30, 3, rng);
            const auto region = attempt % 2 ? reallocate_region(state, rng, tally, limits)
                                            : gather(state, draw, 5, rng, tally, limits);
            CHECK(state.n_clusters() <= 5);
            changes += canonical() != before;
            restore(state, region.groups);
            CHECK(canonical() == before);
            CHECK(near(state.exact_value(), value, 1e-9));
        }
        const auto value = state.exact_value();
        auto random_draw = [](common::Rng& own) { return search::random_labels(30, 3, own); };
        intensify(state, 20, 5, random_draw, rng, tally, limits);
        CHECK(state.exact_value() <= value + 1e-12);
    });
    CHECK(changes > 100);
}

/// A chain that does not help leaves the partition as it was, also where items stand for several.
void check_that_chains_are_undone_with_copies() {
    std::vector<std::uint32_t> copies(12);
    for (std::size_t i = 0; i < copies.size(); ++i)
        copies[i] = 1 + i % 4;
    const auto total = std::accumulate(copies.begin(), copies.end(), std::size_t{0});
    const LossTables tables(VI{}, total);
    const common::StopFlag stop{false};
    const search::Limits limits(stop, std::numeric_limits<double>::infinity());
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        const RandomDraws<std::uint8_t> owned(20, 12, 6, 0.0, seed);
        auto draws = owned.view();
        draws.copies = copies;
        const search::Problem problem(draws, tables);
        search::LinearState state(problem, 8);
        common::Rng rng(seed, 1);
        state.assign(search::random_labels(12, 8, rng));
        const auto labels = state.labels();
        const auto before = state.value();
        search::Tally tally;
        const bool helped = try_chains(state, tally, limits);
        state.refresh();
        CHECK(helped ? state.value() < before : state.labels() == labels);
    }
}

/// Beyond 65,536 clusters a block's two labels do not fit into one number of 32 bits.
void check_common_blocks_of_many_clusters() {
    constexpr std::uint32_t clusters = 70'000;
    partita::search::Run x, y;
    x.labels.resize(clusters + 2);
    std::iota(x.labels.begin(), x.labels.end(), 0u);
    y.labels = x.labels;
    x.labels[clusters] = 61'357, y.labels[clusters] = 0; // 61357 · 70000 + 0 = 2³² + 22704
    x.labels[clusters + 1] = 0, y.labels[clusters + 1] = 22'704;
    x.clusters = y.clusters = clusters;
    auto blocks = partita::search::common_blocks(x, y);
    std::sort(blocks.begin(), blocks.end());
    CHECK(std::adjacent_find(blocks.begin(), blocks.end()) == blocks.end());
    x.labels[clusters] = 7, y.labels[clusters] = 7;
    blocks = common_blocks(x, y);
    CHECK(blocks[clusters] == blocks[7] && blocks[clusters + 1] != blocks[0]);
}

} // namespace

void test_search() {
    check_common_blocks_of_many_clusters();
    check_that_chains_help();
    check_that_boundary_items_lose_least();
    check_that_large_neighbourhoods_can_be_undone();
    check_that_chains_are_undone_with_copies();
    for (const bool with_copies : {false, true}) {
        check_shared_rows<std::uint8_t>(with_copies);
        check_shared_rows<std::uint16_t>(with_copies);
        check_shared_rows<std::uint32_t>(with_copies);
    }
    for (const double gaps : {0.0, 0.2})
        for (const std::uint32_t limit : {1u, 3u, 20u})
            check_searches<std::uint8_t>(20, gaps, limit);
    check_searches<std::uint16_t>(20, 0.2, 4);
    check_searches<std::uint32_t>(20, 0.0, 4);
    check_searches<std::uint8_t>(700, 0.0, 5); // enough draws for the coarse level
    check_that_a_stopped_search_still_answers();
}
