#include "search/search.hpp"

#include <algorithm>
#include <numeric>

#include "search/level.hpp"
#include "search/pair_state.hpp"
#include "search/random_draw.hpp"
#include "search/sparse_search.hpp"
#include "similarity.hpp"

namespace partita::search {

template <> inline constexpr std::uint32_t insisting_attempts<PairState> = 512; // they cost next to nothing

namespace {

constexpr std::size_t max_coarse = 256, min_coarse = 32; // draws of the first level,
constexpr std::size_t coarse_labels = 1 << 20;           // with about this many labels together
constexpr std::size_t max_groups = 4;                    // of starts, each group on draws of its own
constexpr std::size_t carried_per_group = 2;             // partitions that go on to the next level
constexpr std::size_t finer = 8;                         // times more draws on the next level
constexpr std::size_t insisting_tasks = 4;               // partitions that get moves of many items
constexpr std::size_t insisting_runs = 8;                // fewer runs are requested for speed
constexpr std::size_t small_labels = 1 << 20;            // of all draws: then it is cheap to insist
constexpr std::size_t pair_items = 2048; // up to here Binder's loss is searched on the similarity matrix
constexpr double max_uneven = 1e5;       // weights, for the matrix is in single precision
constexpr std::size_t few_items = 500;   // up to here Binder's loss gets extra runs
constexpr std::uint64_t refining_stream = std::uint64_t{1} << 63; // apart from the streams of the search

template <class Label> bool has_gaps(const Draws<Label>& draws) {
    return std::find(draws.labels.begin(), draws.labels.end(), gap<Label>) != draws.labels.end();
}

/// A function of a random stream that gives the labels of a random draw: a start, items in no cluster where
/// the draw has a gap.
template <class Label> auto random_draw(const Draws<Label>& draws) {
    return [&draws](common::Rng& rng) { return draw_labels(draws, rng.below(draws.n_draws())); };
}

template <class Label> bool is_small(const Draws<Label>& draws) {
    return draws.n_draws() * draws.n_items <= small_labels;
}

/// Crosses the runs of one level; children join them.
template <SearchState S> void cross(Level<S>& level, std::vector<Run>& runs, const Runner& runner) {
    cross(std::span(&level, 1), std::span(&runs, 1), runner);
}

/// Tries chains of moves on the best run.
template <SearchState S> void chain(Level<S>& level, std::vector<Run>& runs, const Runner& runner) {
    const auto& best = *distinct_best_first(runs).front();
    auto chained = runner.run(level.chains(best));
    if (chained.front().loss < best.loss)
        runs.push_back(std::move(chained.front()));
}

/// How many partitions get moves of many items: the fewer, the more runs have led to the best loss.
std::size_t doubtful(const std::vector<Run>& runs) {
    const auto& best = *distinct_best_first(runs).front();
    const auto at_best = static_cast<std::size_t>(std::count_if(
        runs.begin(), runs.end(), [&](const Run& run) { return run.loss <= best.loss + best.rounding; }));
    if (at_best == runs.size() || at_best > 2)
        return 0;
    return at_best == 2 ? 1 : insisting_tasks;
}

/// Adds those of the new runs that are better than the best before; whether there is one.
bool join_better(std::vector<Run>& runs, std::vector<Run> found) {
    const auto& best = *distinct_best_first(runs).front();
    std::erase_if(found, [&](const Run& run) { return !(run.loss < best.loss - best.rounding); });
    return !found.empty() && join(runs, std::move(found));
}

/// What is done with the runs on all draws: crossings, moves of many items where the runs disagree and the
/// problem is small enough to insist, and chains of moves.
template <SearchState S, class RandomDraw>
void finish(Level<S>& level, std::vector<Run>& runs, const Runner& runner, bool may_insist,
            RandomDraw random_draw) {
    const auto n_tasks = may_insist ? doubtful(runs) : 0;
    cross(level, runs, runner);
    for (bool helps = n_tasks > 0; helps && !runner.limits().reached();) {
        const auto best = best_of(runs, n_tasks);
        helps = join_better(runs, runner.run(level.insistences(best, n_tasks, random_draw)));
        if (helps)
            cross(level, runs, runner);
    }
    chain(level, runs, runner);
}

/// The search of Binder's loss on the similarity matrix.
template <class Label>
Found search_pairs(const Draws<Label>& draws, const Binder& loss, const SearchOptions& options,
                   const Limits& limits, const Progress& progress) {
    std::vector<float> matrix(draws.n_items * draws.n_items);
    std::vector<std::int64_t> items(draws.n_items);
    std::iota(items.begin(), items.end(), std::int64_t{0});
    similarity(draws, items, items, std::span(matrix), options.threads);
    const PairProblem problem(std::move(matrix), draws.n_items, loss);
    // Here a run costs next to nothing, so that small problems get more of them.
    auto generous = options;
    if (options.runs > 1 && draws.n_items <= few_items) {
        generous.runs *= 4;
        generous.zealous *= 8;
    }
    const Runner runner(generous, limits, progress);
    Level<PairState> level(problem, runner);
    auto runs = runner.run(level.starts(generous.runs, 0, random_draw(draws)));
    const auto n_started = std::max<std::size_t>(1, runs.size() * options.runs / generous.runs);
    finish(level, runs, runner, options.runs >= insisting_runs, random_draw(draws));
    return {std::move(runs), n_started};
}

/// Fewer for more items: what the first level looks for are the clusters, not each item's place.
std::size_t coarse_draws(std::size_t n_items) {
    return std::clamp(coarse_labels / n_items, min_coarse, max_coarse);
}

/// Starts in several groups, each on few draws of its own: what the groups agree on is no accident of the
/// draws, and where they differ the finer level has something to cross.
template <class Label>
Found search_groups(const Draws<Label>& draws, const LossTables& tables,
                    std::span<const std::uint32_t> shuffled, const Runner& runner) {
    const auto coarse = coarse_draws(draws.n_items);
    const auto n_runs = runner.options().runs;
    const auto groups = std::min<std::size_t>(n_runs, max_groups);
    std::vector<Problem> problems;
    std::vector<Level<State>> levels;
    problems.reserve(groups); // levels refer to them
    levels.reserve(groups);   // and tasks to these
    std::vector<std::vector<Task>> starts;
    for (std::size_t group = 0; group < groups; ++group) {
        std::vector<std::uint32_t> chosen(coarse);
        for (std::size_t d = 0; d < coarse; ++d)
            chosen[d] = shuffled[(group * coarse + d) % shuffled.size()];
        problems.emplace_back(draws, tables, chosen);
        levels.emplace_back(problems.back(), runner, std::uint64_t{group} << 32);
        const auto own = n_runs * (group + 1) / groups - n_runs * group / groups;
        starts.push_back(levels.back().starts(own, group, random_draw(draws)));
    }
    auto runs = runner.run(starts);
    Found carried;
    for (const auto& own : runs)
        carried.n_started += own.size();
    cross(std::span(levels), std::span(runs), runner);
    for (const auto& own : runs)
        for (auto& run : best_of(own, carried_per_group))
            carried.runs.push_back(std::move(run));
    return carried;
}

/// The search of any loss: on few draws first, then on more and more.
template <class Label>
Found search_cells(const Draws<Label>& draws, const LossTables& tables, const Runner& runner) {
    const auto& options = runner.options();
    if (draws.n_draws() < 2 * coarse_draws(draws.n_items)) {
        const Problem problem(draws, tables);
        Level<State> level(problem, runner);
        auto runs = runner.run(level.starts(options.runs, 0, random_draw(draws)));
        const auto n_started = runs.size();
        finish(level, runs, runner, options.runs >= insisting_runs && is_small(draws), random_draw(draws));
        return {std::move(runs), n_started};
    }
    common::Rng rng(options.seed, std::numeric_limits<std::uint64_t>::max());
    const auto shuffled = rng.permutation(draws.n_draws());
    auto [runs, n_started] = search_groups(draws, tables, shuffled, runner);
    for (auto used = coarse_draws(draws.n_items) * finer;; used *= finer) {
        const bool last = used * 2 >= draws.n_draws();
        const Problem problem(draws, tables, std::span(shuffled.data(), last ? 0 : used));
        Level<State> level(problem, runner, std::uint64_t{used} << 32);
        const auto coarser = last ? std::move(runs) : best_of(runs, max_groups);
        runs = runner.run(level.carry_on(coarser));
        if (last) {
            finish(level, runs, runner, options.runs >= insisting_runs && is_small(draws),
                   random_draw(draws));
            return {std::move(runs), n_started};
        }
        cross(level, runs, runner);
    }
}

} // namespace

template <class Label>
Found search(const Draws<Label>& draws, const LossTables& tables, const SearchOptions& options,
             const common::StopFlag& stop, const Progress& progress) {
    const Limits limits(stop, options.seconds);
    if (prefers_sparse(draws, tables.loss(), options))
        return search_sparse(draws, tables, options, limits, progress);
    const auto* binder = std::get_if<Binder>(&tables.loss());
    if (binder && draws.n_items <= pair_items && draws.copies.empty() && !has_gaps(draws) &&
        std::max(binder->a / binder->b, binder->b / binder->a) <= max_uneven)
        return search_pairs(draws, *binder, options, limits, progress);
    return search_cells(draws, tables, Runner(options, limits, progress));
}

template <class Label>
std::vector<Run> refine(const Draws<Label>& draws, const LossTables& tables, const SearchOptions& options,
                        std::vector<Run> starts, const common::StopFlag& stop, const Progress& progress) {
    const Limits limits(stop, options.seconds);
    const Problem problem(draws, tables);
    const Runner runner(options, limits, progress);
    Level<State> level(problem, runner, refining_stream);
    auto runs = runner.run(level.carry_on(starts));
    cross(level, runs, runner);
    return runs;
}

#define INSTANTIATE_REFINE(Label)                                                                            \
    template std::vector<Run> refine(const Draws<Label>&, const LossTables&, const SearchOptions&,           \
                                     std::vector<Run>, const common::StopFlag&, const Progress&);
INSTANTIATE_REFINE(std::uint8_t)
INSTANTIATE_REFINE(std::uint16_t)
INSTANTIATE_REFINE(std::uint32_t)
#undef INSTANTIATE_REFINE

#define INSTANTIATE_SEARCH(Label)                                                                            \
    template Found search(const Draws<Label>&, const LossTables&, const SearchOptions&,                      \
                          const common::StopFlag&, const Progress&);
INSTANTIATE_SEARCH(std::uint8_t)
INSTANTIATE_SEARCH(std::uint16_t)
INSTANTIATE_SEARCH(std::uint32_t)
#undef INSTANTIATE_SEARCH

} // namespace partita::search
