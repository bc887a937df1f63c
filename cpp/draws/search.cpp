#include "draws/search.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "draws/cell_states.hpp"
#include "draws/draw_source.hpp"
#include "draws/matrix_state.hpp"
#include "draws/policy.hpp"
#include "draws/similarity.hpp"
#include "draws/sparse_search.hpp"
#include "partition/breed.hpp"
#include "partition/finish.hpp"
#include "partition/level.hpp"
#include "partition/tabu.hpp"

namespace partita::search {

namespace {

const Breeding matrix_breeding{draws::policy::population, draws::policy::children,
                               draws::policy::fruitless_generations, draws::policy::enough_at_best};
constexpr std::uint64_t further_stream = std::uint64_t{1} << 32;  // of further starts, and
constexpr std::uint64_t refining_stream = std::uint64_t{1} << 63; // apart from the streams of the search

template <class Label> bool has_gaps(const Draws<Label>& draws) {
    return !draws.complete &&
           std::find(draws.labels.begin(), draws.labels.end(), gap<Label>) != draws.labels.end();
}

/// The similarity matrix of the draws; nothing if there is no time for it.
template <class Label>
std::vector<float> similarity_matrix(const Draws<Label>& draws, unsigned threads, const Limits& limits) {
    std::vector<float> matrix(draws.n_items * draws.n_items);
    std::vector<std::int64_t> items(draws.n_items);
    std::iota(items.begin(), items.end(), std::int64_t{0});
    const common::StopFlag stop;
    similarity(draws, items, items, std::span(matrix), threads, stop, [&] { return limits.reached(); });
    return stop ? std::vector<float>{} : matrix;
}

/// The search of Binder's loss on the similarity matrix.
SearchResult search_pairs(const MatrixProblem& problem, const RandomDraw& random_draw,
                          const SearchOptions& options, const Limits& limits, const Progress& progress) {
    const Runner runner(options, limits, progress);
    Level<MatrixState> level(problem, runner);
    const bool is_small = problem.n_items() <= draws::policy::max_tabu_items;
    const auto tabu = [&options](MatrixState& state, common::Rng& rng, Tally& tally, const Limits& until) {
        Tabu(state, options.max_clusters).run(draws::policy::tabu_patience, rng, tally, until);
    };
    const auto after_start = [&](MatrixState& state, common::Rng& rng, Tally& tally, const Limits& until) {
        if (is_small)
            tabu(state, rng, tally, until);
    };
    auto runs = runner.run(level.starts(options.runs, 0, random_draw, after_start));
    auto n_started = runs.size();
    auto thorough = options;
    thorough.zealous *= draws::policy::further_persistence;
    const Runner patient(thorough, limits, progress);
    Level<MatrixState> further(problem, patient, further_stream);
    auto try_harder = [&](auto&, auto& found) {
        if (options.adapts && is_small && !limits.reached()) {
            auto more = patient.run(further.starts(2 * options.runs, options.runs, random_draw, tabu));
            n_started += more.size();
            std::move(more.begin(), more.end(), std::back_inserter(found));
        }
        if (is_small)
            intensify(level, found, runner, random_draw);
        breed(level, found, runner, matrix_breeding, tabu);
    };
    finish(level, runs, runner, options.runs >= draws::policy::min_intensified_runs, try_harder, false,
           draws::policy::matrix_part_at_best);
    return {std::move(runs), n_started};
}

/// Fewer for more items: what the first level looks for are the clusters, not each item's place. A part of
/// all, so that the groups of starts differ, but not of few.
std::size_t coarse_draws(const DrawSource& draws, std::size_t n_runs) {
    const auto most = n_runs < draws::policy::min_intensified_runs ? draws::policy::max_coarse / 2
                                                                   : draws::policy::max_coarse;
    return std::min(std::clamp(draws::policy::coarse_labels / draws.n_items, draws::policy::min_coarse, most),
                    std::max(draws::policy::few_draws, draws.n_draws / draws::policy::max_groups));
}

/// Whether there are too few draws, or too few labels, to begin with some of the draws.
bool has_one_level(const DrawSource& draws, std::size_t n_runs) {
    return draws.n_draws < 2 * coarse_draws(draws, n_runs) ||
           (draws.n_draws < 2 * draws::policy::max_coarse && draws.n_labels() < draws::policy::few_labels);
}

/// Starts in several groups, each on few draws of its own: what the groups agree on is no accident of the
/// draws, and where they differ the finer level has something to cross.
template <SearchState S>
SearchResult search_groups(const DrawSource& draws, std::span<const std::uint32_t> shuffled,
                           const Runner& runner) {
    const auto n_runs = runner.options().runs;
    const auto coarse = coarse_draws(draws, n_runs);
    const auto groups = std::min<std::size_t>(n_runs, draws::policy::max_groups);
    std::vector<Problem> problems;
    std::vector<Level<S>> levels;
    problems.reserve(groups); // levels refer to them
    levels.reserve(groups);   // and tasks to these
    std::vector<std::vector<Task>> starts;
    for (std::size_t group = 0; group < groups; ++group) {
        std::vector<std::uint32_t> chosen(coarse);
        for (std::size_t d = 0; d < coarse; ++d)
            chosen[d] = shuffled[(group * coarse + d) % shuffled.size()];
        problems.push_back(draws.problem(chosen));
        levels.emplace_back(problems.back(), runner, std::uint64_t{group} << 32);
        const auto own = n_runs * (group + 1) / groups - n_runs * group / groups;
        starts.push_back(levels.back().starts(own, group, draws.random_draw));
    }
    auto runs = runner.run(starts);
    SearchResult carried;
    for (const auto& own : runs)
        carried.n_started += own.size();
    cross(std::span(levels), std::span(runs), runner);
    for (const auto& own : runs)
        for (auto& run : best_of(own, draws::policy::kept_per_group))
            carried.runs.push_back(std::move(run));
    return carried;
}

/// The search of any loss: on few draws first, then on more and more.
template <SearchState S> SearchResult search_cells(const DrawSource& draws, const Runner& runner) {
    const auto& options = runner.options();
    const bool may_intensify = options.runs >= draws::policy::min_intensified_runs &&
                               draws.n_labels() <= draws::policy::max_intensified_labels;
    const auto intensifies = [&](auto& level, auto& runs) {
        intensify(level, runs, runner, draws.random_draw);
    };
    if (has_one_level(draws, options.runs)) {
        const auto problem = draws.problem({});
        Level<S> level(problem, runner);
        auto runs = runner.run(level.starts(options.runs, 0, draws.random_draw));
        const auto n_started = runs.size();
        finish(level, runs, runner, may_intensify, intensifies);
        return {std::move(runs), n_started};
    }
    common::Rng rng(options.seed, std::numeric_limits<std::uint64_t>::max());
    const auto shuffled = rng.permutation(draws.n_draws);
    auto [runs, n_started] = search_groups<S>(draws, shuffled, runner);
    for (auto used = coarse_draws(draws, options.runs) * draws::policy::finer;;
         used *= draws::policy::finer) {
        const bool last = used * 2 >= draws.n_draws;
        const auto problem = draws.problem(std::span(shuffled.data(), last ? 0 : used));
        Level<S> level(problem, runner, std::uint64_t{used} << 32);
        const auto coarser = last ? std::move(runs) : best_of(runs, draws::policy::max_groups);
        runs = refine_runs(level, coarser, runner, last);
        if (last) {
            finish(level, runs, runner, may_intensify, intensifies, distinct_best_first(coarser).size() == 1);
            return {std::move(runs), n_started};
        }
        cross(level, runs, runner);
    }
}

template <SearchState S>
std::vector<Run> refine_cells(const Problem& problem, const std::vector<Run>& starts, const Runner& runner) {
    Level<S> level(problem, runner, refining_stream);
    auto runs = refine_runs(level, starts, runner);
    cross(level, runs, runner);
    return runs;
}

/// Whether the loss is Binder's and is searched on the similarity matrix, which takes 4 bytes for each pair
/// of items.
template <class Label> bool takes_matrix(const Draws<Label>& draws, const Loss& loss) {
    const auto* binder = std::get_if<Binder>(&loss);
    return binder && draws.n_items <= draws::policy::max_matrix_items && draws.copies.empty() &&
           !has_gaps(draws) &&
           std::max(binder->a / binder->b, binder->b / binder->a) <= draws::policy::max_matrix_weight_ratio;
}

} // namespace

template <class Label> StateKind choose_state(const Draws<Label>& draws, const Loss& loss) {
    if (prefers_sparse(draws, loss))
        return StateKind::sparse;
    return takes_matrix(draws, loss) ? StateKind::matrix : StateKind::dense;
}

template <class Label>
SearchResult search(const Draws<Label>& draws, const LossTables& tables, const SearchOptions& options,
                    const common::StopFlag& stop, const Progress& progress) {
    const Limits limits(stop, options.seconds);
    const auto state = state_of(draws, tables.loss(), options);
    if (state == StateKind::sparse)
        return search_sparse(draws, tables, options, limits, progress);
    const DrawSource source(draws, tables);
    if (state == StateKind::matrix)
        if (auto matrix = similarity_matrix(draws, options.threads, limits); !matrix.empty())
            return search_pairs({std::move(matrix), draws.n_items, std::get<Binder>(tables.loss())},
                                source.random_draw, options, limits, progress);
    return with_cell_state(
        tables.loss(), [&]<class S>() { return search_cells<S>(source, Runner(options, limits, progress)); });
}

template <class Label>
std::vector<Run> refine(const Draws<Label>& draws, const LossTables& tables, const SearchOptions& options,
                        std::vector<Run> starts, const common::StopFlag& stop, const Progress& progress) {
    const Limits limits(stop, options.seconds);
    if (state_of(draws, tables.loss(), options) == StateKind::sparse)
        return refine_sparse(draws, tables, options, std::move(starts), limits, progress);
    const Problem problem(draws, tables);
    return with_cell_state(tables.loss(), [&]<class S>() {
        return refine_cells<S>(problem, starts, Runner(options, limits, progress));
    });
}

#define INSTANTIATE_REFINE(Label)                                                                            \
    template std::vector<Run> refine(const Draws<Label>&, const LossTables&, const SearchOptions&,           \
                                     std::vector<Run>, const common::StopFlag&, const Progress&);
PARTITA_FOR_EACH_LABEL(INSTANTIATE_REFINE)
#undef INSTANTIATE_REFINE

#define INSTANTIATE_SEARCH(Label)                                                                            \
    template StateKind choose_state(const Draws<Label>&, const Loss&);                                       \
    template SearchResult search(const Draws<Label>&, const LossTables&, const SearchOptions&,               \
                                 const common::StopFlag&, const Progress&);
PARTITA_FOR_EACH_LABEL(INSTANTIATE_SEARCH)
#undef INSTANTIATE_SEARCH

} // namespace partita::search
