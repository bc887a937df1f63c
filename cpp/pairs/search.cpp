#include "pairs/search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "pairs/components.hpp"
#include "pairs/local.hpp"
#include "pairs/policy.hpp"
#include "pairs/state.hpp"
#include "partition/first_appearance.hpp"
#include "partition/node_moves.hpp"
#include "partition/runner.hpp"
#include "proofs/pair_bound.hpp"
#include "proofs/pair_exact.hpp"

namespace partita::pairs {

namespace {

using search::Run;
using Labels = std::vector<std::uint32_t>;

/// A bound this near to a value proves it, and runs whose values are this near agree.
double rounding_of(double value) { return 1e-9 * (1 + std::abs(value)); }

/// A partition of a component; its loss is the value of the objective.
Run run_to(Labels labels, double value) {
    Run run;
    run.labels = std::move(labels);
    common::renumber(run.labels);
    run.loss = value;
    return run;
}

template <class Objective> class Search {
public:
    Search(const Graph& graph, const Objective& objective, const Constraints& constraints,
           std::span<const std::uint32_t> starts, const Options& options, const common::StopFlag& stop)
        : graph_(graph), objective_(objective), constraints_(constraints), starts_(starts), options_(options),
          limits_(stop, options.seconds),
          components_(find_components(graph, objective.neutral(), constraints)), results_(components_.size()),
          labels_(graph.n_items()), place_(std::max(options.threads, 1u)) {}

    Result run() {
        for (auto& place : place_)
            place.assign(graph_.n_items(), nothing);
        const auto order = largest_first();
        each(order.size(), [&](std::size_t task, Scratch& place) { begin(order[task], place); });
        std::vector<std::uint32_t> open;
        for (const auto c : order)
            if (!results_[c].proven)
                open.push_back(c);
        search_further(open);
        common::renumber(labels_);
        return {std::move(labels_), std::move(components_.of_item), std::move(results_)};
    }

private:
    using Scratch = std::vector<std::uint32_t>;

    template <class Work> void each(std::size_t n_tasks, Work work) {
        common::parallel_for(n_tasks, options_.threads, limits_.stop(),
                             [&](std::size_t task, unsigned worker) { work(task, place_[worker]); });
    }

    std::vector<std::uint32_t> largest_first() const {
        std::vector<std::uint32_t> order(components_.size());
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t x, std::uint32_t y) {
            return components_[x].size() > components_[y].size();
        });
        return order;
    }

    Local local(std::uint32_t component, Scratch& place) const {
        return localise(graph_, constraints_, components_[component], place);
    }

    /// One stream for each run of each component: the same numbers on any number of threads.
    common::Rng stream(std::uint32_t component, std::uint64_t run) const {
        return common::Rng(options_.seed, std::uint64_t{components_[component].front()} << 20 | run);
    }

    std::size_t n_starts() const { return starts_.size() / std::max<std::size_t>(graph_.n_items(), 1); }

    /// A partition of all items as far as it concerns a component.
    static Labels restricted(std::span<const std::uint32_t> labels, const Local& local) {
        Labels own;
        for (const auto item : local.items)
            own.push_back(labels[item]);
        return ranked(own);
    }

    /// Atoms in random clusters, each of about the square root of the number of atoms.
    static Labels at_random(const Local& local, common::Rng& rng) {
        const auto n_atoms = local.atoms.size();
        const auto groups = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(n_atoms))) + 1;
        const auto group = search::random_labels(n_atoms, groups, rng);
        auto labels = local.atom_of();
        for (auto& label : labels)
            label = group[label];
        return labels;
    }

    Labels start(const Local& local, std::uint32_t run, common::Rng& rng) const {
        if (run < n_starts())
            return restricted(starts_.subspan(run * graph_.n_items(), graph_.n_items()), local);
        return run % 2 == 0 || local.is_constrained() ? local.atom_of() : at_random(local, rng);
    }

    /// The first run, or the exact solution of a small component.
    void begin(std::uint32_t component, Scratch& place) {
        if (components_[component].size() == 1)
            return keep_single(component);
        const auto problem = local(component, place);
        auto& result = results_[component];
        result.n_items = problem.n_items();
        auto rng = stream(component, 0);
        auto found = start(problem, 0, rng);
        if (limits_.reached())
            return keep(component, problem, valued(problem, std::move(found)));
        const auto n_atoms = problem.atoms.size();
        if (n_atoms > policy::always_exact) {
            search::improve(under(problem), found, 1, rng, limits_);
            keep(component, problem, valued(problem, std::move(found)));
        }
        if (!result.proven && n_atoms <= max_exact)
            keep(component, problem, valued(problem, best_partition(problem, objective_)), true);
    }

    void keep_single(std::uint32_t component) {
        const auto item = components_[component].front();
        labels_[item] = item;
        results_[component] = {1, 0.0, 0.0, true};
    }

    Problem<Objective> under(const Local& problem) const { return {problem, objective_}; }

    Run valued(const Local& problem, Labels labels) const {
        const auto value = value_of(problem, objective_, labels);
        return run_to(std::move(labels), value);
    }

    /// Records a partition of a component, and whether it is proven best.
    void keep(std::uint32_t component, const Local& problem, const Run& found, bool is_best = false) {
        auto& result = results_[component];
        std::vector<std::uint32_t> first(problem.n_items(), nothing);
        for (std::uint32_t i = 0; i < problem.n_items(); ++i) {
            auto& leader = first[found.labels[i]];
            leader = leader == nothing ? problem.items[i] : leader;
            labels_[problem.items[i]] = leader;
        }
        result.value = found.loss;
        if (is_best)
            result.bound = found.loss;
        else if (!limits_.reached())
            result.bound = std::max(result.bound, lower_bound(problem, objective_, found.labels));
        result.proven = is_best || result.bound >= result.value - rounding_of(result.value);
    }

    /// More runs for the components that are not proven, all of them side by side, then crossings.
    void search_further(const std::vector<std::uint32_t>& open) {
        std::vector<std::vector<Run>> found(open.size());
        std::vector<std::uint32_t> going(open.size()); // places in `open`
        std::iota(going.begin(), going.end(), 0u);
        for (std::uint32_t run = 1; !going.empty() && !limits_.reached(); run += policy::runs_per_wave) {
            std::erase_if(going,
                          [&](std::uint32_t o) { return run >= runs_of(open[o]) || agrees(found[o]); });
            for (const auto o : going)
                found[o].resize(runs_of(open[o]) - 1);
            each(going.size() * policy::runs_per_wave, [&](std::size_t task, Scratch& place) {
                const auto own = run + static_cast<std::uint32_t>(task % policy::runs_per_wave);
                auto& runs = found[going[task / policy::runs_per_wave]];
                if (own < runs_of(open[going[task / policy::runs_per_wave]]) && !limits_.reached())
                    runs[own - 1] = one_run(open[going[task / policy::runs_per_wave]], own, place);
            });
        }
        each(open.size(), [&](std::size_t task, Scratch& place) { cross(open[task], found[task], place); });
    }

    /// Large components get fewer runs: crossing makes the best of a few.
    std::uint32_t runs_of(std::uint32_t component) const {
        const auto affordable = policy::items_times_runs / components_[component].size();
        return std::min(options_.runs,
                        static_cast<std::uint32_t>(std::max<std::size_t>(affordable, policy::min_runs)));
    }

    /// Whether enough runs ended at the same value that more are likely to do so too.
    static bool agrees(const std::vector<Run>& found) {
        if (found.empty())
            return false;
        const auto best = std::ranges::min_element(found, {}, &Run::loss)->loss;
        return search::count_at(best, rounding_of(best), found) >= policy::agreeing_runs;
    }

    Run one_run(std::uint32_t component, std::uint32_t run, Scratch& place) const {
        const auto problem = local(component, place);
        auto rng = stream(component, run);
        auto labels = start(problem, run, rng);
        search::improve(under(problem), labels, options_.zealous, rng, limits_);
        return valued(problem, std::move(labels));
    }

    /// Crosses the best partitions of a component with the best one as long as that gains.
    void cross(std::uint32_t component, std::vector<Run> found, Scratch& place) {
        const auto problem = local(component, place);
        auto rng = stream(component, (1u << 20) - 1);
        found.push_back(run_to(restricted(labels_, problem), results_[component].value));
        std::erase_if(found, [](const Run& run) { return run.labels.empty(); }); // there was no time for it
        const auto distinct = search::best_of(found, policy::crossed + 1);
        auto best = distinct.front();
        for (bool gained = true; gained && !limits_.reached();) {
            gained = false;
            for (const auto& other : std::span(distinct).subspan(1)) {
                auto labels = best.labels;
                search::cross(under(problem), labels, other.labels, rng, limits_);
                auto child = valued(problem, std::move(labels));
                if (child.loss < best.loss - min_gain) {
                    best = std::move(child);
                    gained = true;
                }
            }
        }
        if (best.loss < results_[component].value - min_gain)
            keep(component, problem, best);
    }

    const Graph& graph_;
    Objective objective_;
    const Constraints& constraints_;
    std::span<const std::uint32_t> starts_;
    Options options_;
    search::Limits limits_;
    Components components_;
    std::vector<ComponentResult> results_;
    std::vector<std::uint32_t> labels_; // of each item, the first item of its cluster
    std::vector<Scratch> place_;
};

} // namespace

Result search(const Graph& graph, const Threshold& objective, const Constraints& constraints,
              std::span<const std::uint32_t> starts, const Options& options, const common::StopFlag& stop) {
    return Search<Threshold>(graph, objective, constraints, starts, options, stop).run();
}

Result search(const Graph& graph, const LogMass& objective, const Constraints& constraints,
              std::span<const std::uint32_t> starts, const Options& options, const common::StopFlag& stop) {
    return Search<LogMass>(graph, objective, constraints, starts, options, stop).run();
}

} // namespace partita::pairs
