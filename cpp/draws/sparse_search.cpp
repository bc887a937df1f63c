#include "draws/sparse_search.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "draws/components.hpp"
#include "draws/differing_items.hpp"
#include "draws/draw_source.hpp"
#include "draws/policy.hpp"
#include "draws/sparse_state.hpp"
#include "partition/blockwise_best.hpp"
#include "partition/candidate_moves.hpp"
#include "partition/level.hpp"

namespace partita::search {
namespace {

constexpr std::uint64_t differing_stream = std::uint64_t{1} << 60, limited_stream = std::uint64_t{1} << 62,
                        refining_stream = std::uint64_t{1} << 63;

/// What scoring one item in one draw costs, in units of one vector of eight cells.
struct Cost {
    double dense = 0, sparse = 0;
};

template <class Label> Cost predicted_cost(const Draws<Label>& draws) {
    const auto n_draws = static_cast<double>(draws.n_draws());
    Cost cost;
    for (std::size_t t = 0; t < draws.n_draws(); ++t) {
        const auto sizes = cluster_sizes(draws.draw(t));
        cost.dense += static_cast<double>(sizes.size()) / draws::policy::clusters_per_vector;
        double entries = 0;
        for (const auto size : sizes)
            if (size > 1)
                entries += size * (draws::policy::list_cost +
                                   draws::policy::entry_cost *
                                       std::min<double>(size, draws::policy::entries_of_long_list));
        cost.sparse += entries / static_cast<double>(draws.n_items);
    }
    return {cost.dense / n_draws, cost.sparse / n_draws};
}

/// The parts that are solved beforehand and the problem that is left. Losses that are not linear have no
/// parts.
class Reduced {
public:
    Reduced(const SparseProblem& whole, unsigned threads, const common::StopFlag& stop) : whole_(whole) {
        if (!whole.is_linear())
            return;
        const auto parts = solve_parts(whole, {}, {}, threads, stop);
        std::vector<std::uint32_t> left, labels(whole.n_items());
        std::uint32_t next = 0; // cluster of the parts that are solved
        for (std::size_t c = 0; c < parts.items.size(); ++c) {
            const auto& items = parts.items[c];
            if (!parts.is_solved(c)) {
                left.insert(left.end(), items.begin(), items.end());
                continue;
            }
            solved_ += parts.least[c];
            const auto first = next;
            for (const auto i : items) {
                labels[i] = first + parts.labels[i];
                next = std::max(next, labels[i] + 1);
            }
        }
        solved_all_ = left.empty();
        std::sort(left.begin(), left.end());
        if (left.size() < whole.n_items())
            rest_.emplace(whole, std::move(left), std::move(labels), solved_);
    }

    bool solved_all() const { return solved_all_; }
    const SparseProblem& rest() const { return rest_ ? rest_->problem() : whole_; }

    /// The labels of the items that are left, 0..K-1; items in no cluster stay in none.
    std::vector<std::uint32_t> restrict(const std::vector<std::uint32_t>& labels) const {
        return rest_ ? rest_->restrict(labels) : labels;
    }

    /// A run on what is left becomes one on all items.
    void complete(Run& run) const {
        if (rest_)
            rest_->complete(run);
    }

    /// The run that solves all parts and searches nothing.
    Run solution() const {
        Run run;
        run.start = "components";
        complete(run);
        run.loss = whole_.loss_of(solved_);
        run.rounding = whole_.unit() * whole_.rounding();
        run.clusters_per_row = whole_.clusters_per_row();
        return run;
    }

private:
    const SparseProblem& whole_;
    std::optional<PartialProblem> rest_;
    double solved_ = 0;
    bool solved_all_ = false;
};

/// The runs after the first ones: only where those differ, for a linear loss; none if they agree.
std::vector<Run> further_runs(const SparseProblem& problem, Level<SparseState>& level, const Runner& free,
                              const std::vector<Run>& first, const RandomDraw& random_draw) {
    const auto n_further = free.options().runs - first.size();
    auto items = differing_items(first);
    if (items.empty())
        return {};
    if (!problem.is_linear())
        return free.run(level.starts(n_further, first.size(), random_draw));
    const DifferingItems differing(problem, std::move(items), *distinct_best_first(first).front());
    Level<SparseState> part(differing.problem(), free, differing_stream);
    auto runs = free.run(part.starts(n_further, first.size(),
                                     [&](common::Rng& rng) { return differing.restrict(random_draw(rng)); }));
    for (auto& run : runs)
        differing.complete(run);
    return runs;
}

/// Runs without a limit on clusters, and what is best in each place of all of them.
SearchResult free_runs(const SparseProblem& problem, const Runner& runner, const RandomDraw& random_draw) {
    auto options = runner.options();
    options.max_clusters = static_cast<std::uint32_t>(problem.n_items());
    options.start_groups = std::min(options.start_groups, options.max_clusters);
    const Runner free(options, runner.limits(), runner.progress());
    Level<SparseState> level(problem, free);
    const auto n_first = options.adapts ? std::min(options.runs, draws::policy::first_runs) : options.runs;
    auto runs = free.run(level.starts(n_first, 0, random_draw));
    if (runs.size() < options.runs && runs.size() == n_first)
        for (auto& run : further_runs(problem, level, free, runs, random_draw))
            runs.push_back(std::move(run));
    const auto n_started = runs.size();
    if (runs.size() > 1 && !free.limits().reached())
        for (auto& run : free.run({blockwise_best<SparseState>(problem, options, runner.limits(), runs)}))
            runs.push_back(std::move(run));
    if (free.limits().reached())
        return {std::move(runs), n_started};
    const auto& best = *distinct_best_first(runs).front();
    auto chained = free.run(level.chains(best));
    if (!chained.empty() && chained.front().loss < best.loss)
        runs.push_back(std::move(chained.front()));
    return {std::move(runs), n_started};
}

/// Merges clusters where there are more than allowed, and goes on from there. Runs that ended at the same
/// partition go on together, and only the best few partitions do.
std::vector<Run> within_limit(const SparseProblem& problem, std::vector<Run> runs, const Runner& runner) {
    const auto limit = runner.options().max_clusters;
    if (std::all_of(runs.begin(), runs.end(), [&](const Run& run) { return run.clusters <= limit; }))
        return runs;
    const auto distinct = best_of(runs, draws::policy::max_limited);
    Level<SparseState> level(problem, runner, limited_stream);
    const auto limited = runner.run(level.refinements(distinct));
    std::vector<Run> all;
    for (auto& run : runs)
        for (std::size_t place = 0; place < limited.size(); ++place)
            if (distinct[place].labels == run.labels) {
                if (run.start == "components" && run.clusters > limit)
                    run.start = "limited"; // no longer the optimum of each component
                run.labels = limited[place].labels;
                run.loss = limited[place].loss;
                run.rounding = limited[place].rounding;
                run.clusters = limited[place].clusters;
                all.push_back(std::move(run));
                break;
            }
    return all;
}

/// Puts the labels of runs in the order of the draws' items.
void give_back(const SparseProblem& problem, std::vector<Run>& runs) {
    for (auto& run : runs) {
        run.labels = problem.to_given(run.labels);
        renumber(run.labels);
    }
}

} // namespace

template <class Label> bool prefers_sparse(const Draws<Label>& draws, const Loss& loss) {
    if (!allows_candidates(loss))
        return false;
    const auto cost = predicted_cost(draws);
    return cost.dense * draws::policy::clusters_per_vector > draws::policy::min_sparse_clusters &&
           cost.sparse < cost.dense;
}

template <class Label>
SearchResult search_sparse(const Draws<Label>& draws, const LossTables& tables, const SearchOptions& options,
                           const Limits& limits, const Progress& progress) {
    const SparseProblem whole(draws, tables, options.threads, SparseProblem::Order::by_locality);
    const Reduced reduced(whole, options.threads, limits.stop());
    const Runner runner(options, limits, progress);
    SearchResult found;
    if (reduced.solved_all()) {
        found = {{reduced.solution()}, 1};
        if (progress)
            progress(found.runs.front());
    } else {
        found = free_runs(reduced.rest(), runner, [&](common::Rng& rng) {
            return reduced.restrict(whole.to_own(draw_labels(draws, rng.below(draws.n_draws()))));
        });
        for (auto& run : found.runs)
            reduced.complete(run);
    }
    found.runs = within_limit(whole, std::move(found.runs), runner);
    give_back(whole, found.runs);
    return found;
}

template <class Label>
std::vector<Run> refine_sparse(const Draws<Label>& draws, const LossTables& tables,
                               const SearchOptions& options, std::vector<Run> starts, const Limits& limits,
                               const Progress& progress) {
    const SparseProblem problem(draws, tables, options.threads, SparseProblem::Order::by_locality);
    for (auto& start : starts)
        start.labels = problem.to_own(start.labels);
    const Runner runner(options, limits, progress);
    Level<SparseState> level(problem, runner, refining_stream);
    auto runs = refine_runs(level, starts, runner);
    give_back(problem, runs);
    return runs;
}

#define INSTANTIATE(Label)                                                                                   \
    template bool prefers_sparse(const Draws<Label>&, const Loss&);                                          \
    template SearchResult search_sparse(const Draws<Label>&, const LossTables&, const SearchOptions&,        \
                                        const Limits&, const Progress&);                                     \
    template std::vector<Run> refine_sparse(const Draws<Label>&, const LossTables&, const SearchOptions&,    \
                                            std::vector<Run>, const Limits&, const Progress&);
PARTITA_FOR_EACH_LABEL(INSTANTIATE)
#undef INSTANTIATE

} // namespace partita::search
