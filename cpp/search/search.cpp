#include "search/search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "search/chains.hpp"
#include "search/pair_state.hpp"
#include "similarity.hpp"

namespace partita {
namespace {

constexpr std::size_t most_coarse = 256, least_coarse = 32; // draws of the first level,
constexpr std::size_t coarse_labels = 1 << 20;              // between them about so many labels
constexpr std::size_t most_groups = 4;                      // of starts, each group on draws of its own
constexpr std::size_t carried_a_group = 2;                  // partitions that go on to the next level
constexpr std::size_t finer = 8;                            // times more draws on the next level
constexpr std::size_t pair_items = 2048; // up to here Binder's loss is searched on the similarity matrix
constexpr std::size_t few_items = 500;   // up to here Binder's loss gets extra runs
constexpr int most_rounds = 8;           // of crossings on one level
constexpr std::size_t draws_a_start = 4; // of which the best becomes a start
constexpr std::uint64_t refining_stream = std::uint64_t{1} << 63; // apart from the streams of the search

/// A partition as the search passes it on: labels 0..K-1, items in no cluster where a draw has a gap.
using Labels = std::vector<std::uint32_t>;

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Items cluster by cluster, clusters and items in random order: neighbours share the rows that a score
/// reads.
template <SearchState S> std::vector<std::uint32_t> cluster_order(const S& state, Rng& rng) {
    const auto items = rng.permutation(state.labels().size());
    const auto ranks = rng.permutation(state.n_clusters());
    std::vector<std::uint32_t> ends(state.n_clusters() + 1), order(items.size());
    for (const auto i : items)
        ++ends[ranks[state.cluster_of(i)] + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    for (const auto i : items)
        order[ends[ranks[state.cluster_of(i)]]++] = i;
    return order;
}

/// Whether the value, computed anew, is below `before` beyond rounding; `before` becomes the value. What ends
/// a loop over steps that are decided in single precision.
template <SearchState S> bool lowered(S& state, double& before) {
    state.refresh();
    const auto limit = before - S::precise_tolerance * std::abs(state.value());
    before = state.value();
    return before < limit;
}

/// Single moves and merges until neither helps.
template <SearchState S> void descend(S& state, Rng& rng, Tally& tally, const Limits& limits) {
    do
        sweeten(state, [&] { return cluster_order(state, rng); }, tally, limits);
    while (merge_best_pairs(state, limits) > 0);
}

/// Puts groups of items back as clusters of their own, wherever they are now.
template <SearchState S> void restore(S& state, const std::vector<std::vector<std::uint32_t>>& groups) {
    for (const auto& group : groups)
        for (const auto i : group)
            state.remove(i);
    for (const auto& group : groups) {
        const auto cluster = state.n_clusters();
        for (const auto i : group)
            state.insert(i, cluster);
    }
}

/// The two clusters, neither of them `besides`, whose merge costs least.
template <SearchState S> ClusterMerge cheapest_merge(const S& state, std::uint32_t besides) {
    const auto changes = state.merge_changes();
    const auto clusters = state.n_clusters();
    ClusterMerge best;
    for (std::uint32_t k = 0; k < clusters; ++k)
        for (std::uint32_t l = k + 1; l < clusters; ++l)
            if (const auto change = changes[std::size_t{k} * clusters + l];
                k != besides && l != besides && change < best.change)
                best = {k, l, change};
    return best;
}

/// Takes a cluster apart and allocates its items anew, one by one: alone, together with another cluster, or,
/// where the limit on clusters binds, after the cheapest merge of two others, which frees a cluster for a
/// split. Kept if it helps.
template <SearchState S>
bool rebuild(S& state, std::uint32_t cluster, std::uint32_t max_clusters, Rng& rng, Tally& tally,
             const Limits& limits) {
    const auto value = state.value();
    std::vector<std::vector<std::uint32_t>> groups{state.members(cluster)};
    auto order = groups[0];
    const auto kind = rng.below(3);
    if (kind == 1 && state.n_clusters() > 2 && state.n_clusters() >= max_clusters) {
        const auto merge = cheapest_merge(state, cluster);
        groups.push_back(state.members(merge.gone));
        const auto anchor = state.members(merge.keep).front(); // numbers may change under way
        for (const auto i : groups[1])
            state.move(i, state.cluster_of(anchor));
    } else if (kind > 0 && state.n_clusters() > 1) {
        const auto second = (cluster + 1 + rng.below(state.n_clusters() - 1)) % state.n_clusters();
        groups.push_back(state.members(static_cast<std::uint32_t>(second)));
        order.insert(order.end(), groups[1].begin(), groups[1].end());
    }
    rng.shuffle(std::span(order));
    for (const auto i : order)
        state.remove(i);
    allocate_in_order(state, order, limits);
    sweep(state, order, tally, limits);
    if (state.value() < value - state.tolerance() * std::abs(value))
        return true;
    restore(state, groups);
    return false;
}

/// Descends, then rebuilds clusters in turn until `patience` attempts in a row were no better.
template <SearchState S>
void improve(S& state, std::uint32_t patience, std::uint32_t max_clusters, Rng& rng, Tally& tally,
             const Limits& limits) {
    descend(state, rng, tally, limits);
    std::uint32_t failures = 0, turn = 0;
    while (failures < patience && !limits.reached()) {
        if (rebuild(state, turn++ % state.n_clusters(), max_clusters, rng, tally, limits)) {
            descend(state, rng, tally, limits);
            failures = 0;
        } else {
            ++failures;
        }
    }
    state.refresh();
}

/// Gives every item a cluster and respects the limit on clusters.
template <SearchState S> void complete(S& state, std::uint32_t max_clusters, Rng& rng, const Limits& limits) {
    std::vector<std::uint32_t> loose;
    for (std::uint32_t i = 0; i < state.labels().size(); ++i)
        if (state.cluster_of(i) == S::nowhere)
            loose.push_back(i);
    rng.shuffle(std::span(loose));
    allocate_in_order(state, loose, limits);
    merge_down_to(state, max_clusters, limits);
}

/// The blocks on which two partitions agree; small ones beyond a multiple of the clusters stay loose.
Labels common_blocks(const Run& x, const Run& y) {
    Labels labels(x.labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i] = x.labels[i] * y.clusters + y.labels[i];
    renumber(labels);
    std::vector<std::uint32_t> sizes(*std::max_element(labels.begin(), labels.end()) + 1);
    for (const auto label : labels)
        ++sizes[label];
    std::vector<std::uint32_t> order(sizes.size()), names(sizes.size(), State::nowhere);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](auto k, auto l) { return sizes[k] > sizes[l]; });
    const auto kept = std::min<std::size_t>(order.size(), 2 * std::max(x.clusters, y.clusters));
    for (std::uint32_t rank = 0; rank < kept; ++rank)
        names[order[rank]] = rank;
    for (auto& label : labels)
        label = names[label];
    return labels;
}

/// Distinct partitions among the runs, best first.
std::vector<const Run*> distinct_best_first(const std::vector<Run>& runs) {
    std::vector<const Run*> order, distinct;
    for (const auto& run : runs)
        order.push_back(&run);
    std::stable_sort(order.begin(), order.end(), [](auto* x, auto* y) { return x->loss < y->loss; });
    for (const auto* run : order)
        if (std::none_of(distinct.begin(), distinct.end(), [&](auto* d) { return d->labels == run->labels; }))
            distinct.push_back(run);
    return distinct;
}

/// One level: a fixed set of draws, states of one kind.
template <SearchState S> class Level {
public:
    Level(const typename S::Setting& setting, const SearchOptions& options, const Limits& limits,
          const Progress& progress, std::uint64_t stream = 0)
        : setting_(setting), options_(options), limits_(limits), progress_(progress), stream_(stream) {}

    /// Starts of all kinds, each improved.
    template <class RandomDraw> std::vector<Run> starts(RandomDraw random_draw, std::size_t first_kind) {
        return each(options_.runs, [&](std::size_t index, Run& run, S& state, Rng& rng) {
            begin(first_kind + index, run, state, rng, random_draw);
            complete(state, options_.max_clusters, rng, limits_);
            const auto patience = options_.zealous ? std::max(options_.zealous, state.n_clusters()) : 0;
            improve(state, patience, options_.max_clusters, rng, run.tally, limits_);
        });
    }

    /// Runs of a coarser level, carried on: near an optimum already, so that single moves and merges suffice.
    /// Items that have no cluster yet get one.
    std::vector<Run> carried_on(const std::vector<Run>& coarser) {
        return each(coarser.size(), [&](std::size_t index, Run& run, S& state, Rng& rng) {
            run = coarser[index];
            state.assign(run.labels);
            complete(state, options_.max_clusters, rng, limits_);
            descend(state, rng, run.tally, limits_);
        });
    }

    /// Crosses the best runs as long as that gives a better one; children join the runs.
    void cross(std::vector<Run>& runs) {
        for (int round = 0; round < most_rounds && !limits_.reached(); ++round) {
            const auto distinct = distinct_best_first(runs);
            const auto pairs = best_pairs(distinct.size());
            auto children = each(pairs.size(), [&](std::size_t index, Run& run, S& state, Rng& rng) {
                run.start = "crossing";
                state.assign(common_blocks(*distinct[pairs[index].first], *distinct[pairs[index].second]));
                complete(state, std::numeric_limits<std::uint32_t>::max(), rng, limits_);
                merge_best_pairs(state, limits_);
                merge_down_to(state, options_.max_clusters, limits_);
                descend(state, rng, run.tally, limits_);
            });
            const auto best = distinct.front()->loss;
            const bool better = std::any_of(children.begin(), children.end(), [&](const Run& child) {
                return child.loss < best - S::precise_tolerance * std::abs(best);
            });
            std::move(children.begin(), children.end(), std::back_inserter(runs));
            if (!better)
                break;
        }
    }

    /// Tries chains of moves on the best run, for which single moves, merges and crossings are used up.
    void chain(std::vector<Run>& runs) {
        const auto& best = *distinct_best_first(runs).front();
        auto chained = each(1, [&](std::size_t, Run& run, S& state, Rng& rng) {
            run = best;
            state.assign(run.labels);
            for (auto before = infinite; lowered(state, before) && try_chains(state, run.tally, limits_);)
                descend(state, rng, run.tally, limits_);
        });
        if (chained.front().loss < best.loss)
            runs.push_back(std::move(chained.front()));
    }

private:
    /// Calls work(index, run, state, rng) for each run on threads, each with a random stream of its own.
    template <class Work> std::vector<Run> each(std::size_t n_runs, Work work) {
        auto runs = do_stage(n_runs, options_, limits_, progress_, [&](std::size_t index) {
            Run run;
            Rng rng(options_.seed, stream_ + index);
            S state(setting_, options_.max_clusters);
            work(index, run, state, rng);
            run.finish(state);
            return run;
        });
        stream_ += n_runs;
        return runs;
    }

    template <class RandomDraw>
    void begin(std::size_t kind, Run& run, S& state, Rng& rng, RandomDraw random_draw) {
        if (kind % 4 == 1) {
            run.start = "sequential";
        } else if (kind % 4 == 3) {
            run.start = "random";
            state.assign(random_labels(setting_.n_items(), options_.start_groups, rng));
        } else {
            run.start = "draw";
            Labels best;
            double least = std::numeric_limits<double>::infinity();
            for (std::size_t count = 0; count < draws_a_start; ++count) {
                state.assign(random_draw(rng));
                if (state.value() < least) {
                    least = state.value();
                    best = state.labels();
                }
            }
            state.assign(best);
        }
    }

    static std::vector<std::pair<std::size_t, std::size_t>> best_pairs(std::size_t n_distinct) {
        std::vector<std::pair<std::size_t, std::size_t>> pairs;
        for (std::size_t y = 1; y < std::min<std::size_t>(n_distinct, 5); ++y)
            for (std::size_t x = 0; x < y && x + y <= 5; ++x)
                pairs.emplace_back(x, y);
        return pairs;
    }

    const typename S::Setting& setting_;
    const SearchOptions& options_;
    const Limits& limits_;
    const Progress& progress_;
    std::uint64_t stream_;
};

template <class Label> Labels draw_labels(const Draws<Label>& draws, std::size_t t) {
    const auto row = draws.draw(t);
    Labels labels(row.size());
    std::transform(row.begin(), row.end(), labels.begin(), [](Label label) {
        return label == gap<Label> ? State::nowhere : static_cast<std::uint32_t>(label);
    });
    return labels;
}

template <class Label> bool has_gaps(const Draws<Label>& draws) {
    return std::find(draws.labels.begin(), draws.labels.end(), gap<Label>) != draws.labels.end();
}

/// The search of Binder's loss on the similarity matrix.
template <class Label>
std::vector<Run> search_pairs(const Draws<Label>& draws, const Binder& loss, const SearchOptions& options,
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
    Level<PairState> level(problem, generous, limits, progress);
    auto runs = level.starts([&](Rng& rng) { return draw_labels(draws, rng.below(draws.n_draws())); }, 0);
    level.cross(runs);
    level.chain(runs);
    return runs;
}

/// Up to `most` distinct partitions, best first.
std::vector<Run> best_of(const std::vector<Run>& runs, std::size_t most) {
    std::vector<Run> best;
    for (const auto* run : distinct_best_first(runs))
        if (best.size() < most)
            best.push_back(*run);
    return best;
}

/// Fewer for more items: what the first level looks for are the clusters, not each item's place.
std::size_t coarse_draws(std::size_t n_items) {
    return std::clamp(coarse_labels / n_items, least_coarse, most_coarse);
}

/// Starts in several groups, each on few draws of its own: what the groups agree on is no accident of the
/// draws, and where they differ the finer level has something to cross.
template <class Label>
std::vector<Run> search_groups(const Draws<Label>& draws, const LossTables& tables,
                               const SearchOptions& options, std::span<const std::uint32_t> shuffled,
                               const Limits& limits, const Progress& progress) {
    std::vector<Run> carried;
    const auto coarse = coarse_draws(draws.n_items);
    const auto groups = std::min<std::size_t>(options.runs, most_groups);
    for (std::size_t group = 0; group < groups; ++group) {
        std::vector<std::uint32_t> chosen(coarse);
        for (std::size_t d = 0; d < coarse; ++d)
            chosen[d] = shuffled[(group * coarse + d) % shuffled.size()];
        const Problem problem(draws, tables, chosen);
        auto own = options;
        own.runs =
            static_cast<std::uint32_t>(options.runs * (group + 1) / groups - options.runs * group / groups);
        Level<State> level(problem, own, limits, progress, std::uint64_t{group} << 32);
        auto runs =
            level.starts([&](Rng& rng) { return draw_labels(draws, rng.below(draws.n_draws())); }, group);
        level.cross(runs);
        for (auto& run : best_of(runs, carried_a_group))
            carried.push_back(std::move(run));
    }
    return carried;
}

/// The search of any loss: on few draws first, then on more and more.
template <class Label>
std::vector<Run> search_cells(const Draws<Label>& draws, const LossTables& tables,
                              const SearchOptions& options, const Limits& limits, const Progress& progress) {
    auto random_draw = [&](Rng& rng) { return draw_labels(draws, rng.below(draws.n_draws())); };
    if (draws.n_draws() < 2 * coarse_draws(draws.n_items)) {
        const Problem problem(draws, tables);
        Level<State> level(problem, options, limits, progress);
        auto runs = level.starts(random_draw, 0);
        level.cross(runs);
        level.chain(runs);
        return runs;
    }
    Rng rng(options.seed, std::numeric_limits<std::uint64_t>::max());
    const auto shuffled = rng.permutation(draws.n_draws());
    auto runs = search_groups(draws, tables, options, shuffled, limits, progress);
    for (auto used = coarse_draws(draws.n_items) * finer;; used *= finer) {
        const bool last = used * 2 >= draws.n_draws();
        const Problem problem(draws, tables, std::span(shuffled.data(), last ? 0 : used));
        Level<State> level(problem, options, limits, progress, std::uint64_t{used} << 32);
        runs = level.carried_on(last ? runs : best_of(runs, most_groups));
        level.cross(runs);
        if (last) {
            level.chain(runs);
            return runs;
        }
    }
}

} // namespace

template <class Label>
std::vector<Run> search(const Draws<Label>& draws, const LossTables& tables, const SearchOptions& options,
                        const StopFlag& stop, const Progress& progress) {
    const Limits limits(stop, options.seconds);
    const auto* binder = std::get_if<Binder>(&tables.loss());
    if (binder && draws.n_items <= pair_items && draws.copies.empty() && !has_gaps(draws))
        return search_pairs(draws, *binder, options, limits, progress);
    return search_cells(draws, tables, options, limits, progress);
}

template <class Label>
std::vector<Run> refine(const Draws<Label>& draws, const LossTables& tables, const SearchOptions& options,
                        std::vector<Run> starts, const StopFlag& stop, const Progress& progress) {
    const Limits limits(stop, options.seconds);
    const Problem problem(draws, tables);
    Level<State> level(problem, options, limits, progress, refining_stream);
    auto runs = level.carried_on(starts);
    level.cross(runs);
    return runs;
}

#define INSTANTIATE_REFINE(Label)                                                                            \
    template std::vector<Run> refine(const Draws<Label>&, const LossTables&, const SearchOptions&,           \
                                     std::vector<Run>, const StopFlag&, const Progress&);
INSTANTIATE_REFINE(std::uint8_t)
INSTANTIATE_REFINE(std::uint16_t)
INSTANTIATE_REFINE(std::uint32_t)
#undef INSTANTIATE_REFINE

template std::vector<Run> search(const Draws<std::uint8_t>&, const LossTables&, const SearchOptions&,
                                 const StopFlag&, const Progress&);
template std::vector<Run> search(const Draws<std::uint16_t>&, const LossTables&, const SearchOptions&,
                                 const StopFlag&, const Progress&);
template std::vector<Run> search(const Draws<std::uint32_t>&, const LossTables&, const SearchOptions&,
                                 const StopFlag&, const Progress&);

} // namespace partita
