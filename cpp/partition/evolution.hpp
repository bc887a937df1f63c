// The search for the partition of largest exact ICL, of whatever model: independent runs, crossed in groups
// and then together.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "common/parallel.hpp"
#include "common/random.hpp"
#include "partition/crossing.hpp"
#include "partition/policy.hpp"
#include "partition/solution.hpp"
#include "partition/sweep.hpp"

namespace partita::models {

struct EvolutionPlan {
    std::size_t trial_runs;  // if the first of them, this many, agree, the others are left out
    std::size_t groups;      // runs crossed separately, so that agreement between groups is evidence
    std::size_t generations; // crossovers end after this many, or when the best one stays
    std::size_t patience;    // generations without a better solution, when all groups are crossed
    std::uint64_t seed;
    unsigned threads;
    std::size_t survivors = std::numeric_limits<std::size_t>::max(); // solutions of a generation, at most
};

struct SearchResult {
    Solution best;
    std::vector<double> run_icl;   // of each run by itself, before any crossover; −∞ if a stop came before it
    std::vector<double> group_icl; // the best of each group; empty if the runs agreed
    std::size_t generations = 0;
};

/// What the search asks of a model and its data.
template <class P>
concept IclProblem = requires(const P& problem, std::size_t run, std::span<const std::uint32_t> labels,
                              const Solution& solution, common::Rng& rng) {
    { problem.n_runs() } -> std::same_as<std::size_t>;
    { problem.crosses() } -> std::same_as<bool>;                       // or keeps the best run as it is
    { problem.run(run, rng) } -> std::same_as<Solution>;               // a climb from the start of a run
    { problem.climb(labels, rng) } -> std::same_as<Solution>;          // from a start with too many clusters
    { problem.is_trivial(solution) } -> std::same_as<bool>;            // agreement of runs on it says little
    { problem.improve(run, solution, rng) } -> std::same_as<Solution>; // a run that disagrees with others
    { problem.refine(solution, rng) } -> std::same_as<Solution>; // the best, if groups of runs do not agree
    { problem.reheats() } -> std::same_as<bool>;                 // whether some children are
    { problem.reheat(labels, rng) } -> std::same_as<Solution>;   // heated a little and cooled
    { problem.finish(solution, rng) } -> std::same_as<Solution>; // what the search returns
    problem.sides();                                             // of the items; see crossing.hpp
};

/// Solutions, the best first.
class Population {
public:
    void add(Solution solution) {
        if (!solution.labels.empty())
            members_.push_back(std::move(solution));
    }

    /// Ranks the solutions, drops all but one of those that are alike, and keeps at most `most`.
    void keep(std::size_t most) {
        std::stable_sort(members_.begin(), members_.end(),
                         [](const Solution& a, const Solution& b) { return a.icl > b.icl; });
        const auto twins = [](const Solution& a, const Solution& b) { return a.icl - b.icl < min_gain; };
        members_.erase(std::unique(members_.begin(), members_.end(), twins), members_.end());
        members_.resize(std::min(members_.size(), most));
    }

    std::size_t size() const { return members_.size(); }
    const Solution& best() const { return members_.front(); }
    const std::vector<Solution>& members() const { return members_; }

    /// The better of two drawn at random, as a place.
    std::size_t parent(common::Rng& rng) const {
        const auto one = rng.below(size()), other = rng.below(size());
        return std::min(one, other);
    }

private:
    std::vector<Solution> members_;
};

template <IclProblem Problem> class Evolution {
public:
    Evolution(const Problem& problem, const EvolutionPlan& plan, const common::StopFlag& stop)
        : problem_(problem), plan_(plan), stop_(stop) {}

    SearchResult run() {
        const auto n_runs = problem_.n_runs(), trials = std::min(plan_.trial_runs, n_runs);
        std::vector<Solution> found(n_runs);
        const auto first = std::span(found).first(trials);
        climb(found, 0, trials);
        if (agree(first) && problem_.is_trivial(found.front())) {
            stream_ = n_runs; // the streams of all runs are taken
            improve(first);
        }
        SearchResult result;
        if (!agree(first))
            climb(found, trials, n_runs);
        const bool crosses = problem_.crosses() && !agree(found);
        if (crosses)
            improve(found);
        for (const auto& solution : found)
            result.run_icl.push_back(solution.icl);
        auto all = crosses ? crossed(found, result) : one_population(found);
        common::Rng rng(plan_.seed, stream_++);
        result.best = problem_.finish(all.best(), rng);
        return result;
    }

private:
    /// Runs number `first` to `last`, each from its start.
    void climb(std::vector<Solution>& found, std::size_t first, std::size_t last) {
        common::parallel_for(last - first, plan_.threads, stop_, [&](std::size_t task, unsigned) {
            const auto run = first + task;
            if (stop_ && run > 0)
                return;
            common::Rng rng(plan_.seed, run);
            found[run] = problem_.run(run, rng);
        });
        stream_ = std::max<std::uint64_t>(stream_, last);
    }

    /// Each run goes on by itself, since runs do not agree or their agreement says little.
    void improve(std::span<Solution> found) {
        each(found.size(), [&](std::size_t run, common::Rng& rng) {
            if (found[run].labels.empty())
                return;
            if (auto better = problem_.improve(run, found[run], rng); better.icl > found[run].icl)
                found[run] = std::move(better);
        });
    }

    /// Calls work(task, rng), each task with the next stream, until it is stopped.
    template <class Work> void each(std::size_t n_tasks, Work work) {
        common::parallel_for(n_tasks, plan_.threads, stop_, [&](std::size_t task, unsigned) {
            common::Rng rng(plan_.seed, stream_ + task);
            if (!stop_)
                work(task, rng);
        });
        stream_ += n_tasks;
    }

    /// Crosses the runs of each group, and all of them if the groups do not agree.
    Population crossed(const std::vector<Solution>& found, SearchResult& result) {
        Population all;
        bool same = true;
        for (std::size_t group = 0; group < plan_.groups; ++group) {
            Population members;
            for (auto run = group; run < found.size(); run += plan_.groups)
                members.add(found[run]);
            if (members.members().empty())
                continue;
            evolve(members, plan_.groups == 1 ? plan_.patience : policy::group_patience, result);
            result.group_icl.push_back(members.best().icl);
            same = same && std::abs(result.group_icl.front() - members.best().icl) < min_gain;
            for (const auto& solution : members.members())
                all.add(solution);
        }
        all.keep(found.size());
        if (!same)
            evolve(all, plan_.patience, result);
        if (!same || plan_.groups == 1)
            refine(all, result);
        return all;
    }

    /// The best by itself, and if that helps crossed with the others again.
    void refine(Population& population, SearchResult& result) {
        for (std::size_t t = 0; t < policy::max_refinements && !stop_; ++t) {
            const double before = population.best().icl;
            common::Rng rng(plan_.seed, stream_++);
            population.add(problem_.refine(population.best(), rng));
            population.keep(population.size());
            if (population.best().icl <= before + min_gain)
                break;
            evolve(population, 1, result);
        }
    }

    void evolve(Population& population, std::size_t patience, SearchResult& result) {
        const auto size = std::min(population.size(), plan_.survivors);
        population.keep(size);
        std::size_t idle = 0;
        for (std::size_t t = 0; t < plan_.generations && idle < patience && population.size() > 1 && !stop_;
             ++t) {
            const double before = population.best().icl;
            breed(population, size);
            ++result.generations;
            idle = population.best().icl > before + min_gain ? 0 : idle + 1;
        }
    }

    /// Makes this many children; the best of parents and children, no two alike, survive.
    void breed(Population& population, std::size_t size) {
        std::vector<Solution> children(size);
        each(size, [&](std::size_t child, common::Rng& rng) { children[child] = child_of(population, rng); });
        for (auto& child : children)
            population.add(std::move(child));
        population.keep(size);
    }

    /// A crossing of two, or one that was heated a little and cooled: the former brings good parts together,
    /// the latter finds exchanges of a few items that no single move begins. A crossing of a solution with
    /// itself is perturbed.
    Solution child_of(const Population& population, common::Rng& rng) const {
        const auto place = population.parent(rng), mate = population.parent(rng);
        const auto& one = population.members()[place];
        if (problem_.reheats() && rng.below(policy::reheat_one_in) == 0)
            return problem_.reheat(one.labels, rng);
        if (place == mate)
            return problem_.climb(shaken(problem_.sides(), one.labels, rng), rng);
        const auto& other = population.members()[mate];
        return problem_.climb(meet_of_sides(problem_.sides(), one.labels, other.labels, policy::max_parts),
                              rng);
    }

    static Population one_population(const std::vector<Solution>& found) {
        Population all;
        for (const auto& solution : found)
            all.add(solution);
        all.keep(found.size());
        return all;
    }

    /// Whether those that were found are one solution.
    static bool agree(std::span<const Solution> found) {
        double least = std::numeric_limits<double>::infinity(), most = -least;
        for (const auto& solution : found)
            if (!solution.labels.empty()) {
                least = std::min(least, solution.icl);
                most = std::max(most, solution.icl);
            }
        return most - least < min_gain;
    }

    const Problem& problem_;
    const EvolutionPlan& plan_;
    const common::StopFlag& stop_;
    std::uint64_t stream_ = 0;
};

} // namespace partita::models
