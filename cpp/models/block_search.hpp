// The search for the partition of largest exact ICL: independent runs, crossed in groups and then together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/block_climb.hpp"
#include "models/communities.hpp"
#include "models/crossing.hpp"

namespace partita::models {

enum class StartKind : std::uint8_t { given = 0, communities = 1, annealed = 2, random = 3 };

/// Where a run starts; `resolution` is for communities.
struct RunStart {
    StartKind kind = StartKind::random;
    double resolution = 1.0;
};

struct SearchPlan {
    std::size_t max_clusters[2]; // clusters allowed on each side
    std::vector<RunStart> runs;  // those of kind `given` take the given partitions in turn
    std::size_t trial_runs;      // if the first so many agree, the others are left out
    std::size_t groups;          // runs that are crossed apart, so that their agreement means something
    std::size_t random_clusters; // clusters of a random start
    std::size_t generations;     // crossovers end after so many, or when the best one stays
    std::size_t patience;        // generations without a better solution, when all groups are crossed
    std::size_t anneal_sweeps, reheat_sweeps; // of annealed starts, and of children that are not crossings
    bool merge_first;                         // merge the clusters of a given start before the first sweep
    bool as_printed;                          // only Algorithm 1 of Côme & Latouche, from each start
    std::uint64_t seed;
    unsigned threads;
};

struct SearchResult {
    Solution best;
    std::vector<double> run_icl;   // of each run, before any crossover; −∞ if a stop came before it
    std::vector<double> group_icl; // the best of each group; empty if the runs agreed
    std::size_t generations = 0;
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

template <NetworkState State> class Evolution {
public:
    Evolution(const BlockModelView<State>& model, const SearchPlan& plan, const common::StopFlag& stop)
        : model_(model), plan_(plan), stop_(stop) {}

    SearchResult run(std::span<const std::vector<std::uint32_t>> starts) {
        const auto n_runs = plan_.runs.size();
        std::vector<Solution> found(n_runs);
        climb(starts, found, 0, std::min(plan_.trial_runs, n_runs));
        if (plan_.trial_runs < n_runs && !agree(std::span(found).first(plan_.trial_runs)))
            climb(starts, found, plan_.trial_runs, n_runs);
        SearchResult result;
        for (const auto& solution : found)
            result.run_icl.push_back(solution.icl);
        auto all = plan_.as_printed || agree(found) ? one_population(found) : crossed(found, result);
        result.best =
            plan_.as_printed || model_.network.n_nodes > max_polished ? all.best() : polished(all.best());
        return result;
    }

private:
    static constexpr std::size_t group_patience = 2, max_parts = 256, reheat_one_in = 3;
    static constexpr double hot = 2.0, warm = 1.0, cold = 0.6, cool = 0.3;
    static constexpr std::size_t max_polished = 20'000, max_cells = std::size_t{1} << 24;

    /// Runs number `first` to `last`, each from its start.
    void climb(std::span<const std::vector<std::uint32_t>> starts, std::vector<Solution>& found,
               std::size_t first, std::size_t last) {
        common::parallel_for(last - first, plan_.threads, stop_, [&](std::size_t task, unsigned) {
            const auto run = first + task;
            if (stop_ && run > 0)
                return;
            common::Rng rng(plan_.seed, run);
            found[run] = climb_from(start(starts, run, rng), plan_.runs[run].kind, rng);
        });
        stream_ = last;
    }

    std::vector<std::uint32_t> start(std::span<const std::vector<std::uint32_t>> starts, std::size_t run,
                                     common::Rng& rng) const {
        const auto is_given = [](const RunStart& other) { return other.kind == StartKind::given; };
        const auto begin = plan_.runs.begin();
        switch (plan_.runs[run].kind) {
        case StartKind::given:
            return starts[static_cast<std::size_t>(
                std::count_if(begin, begin + static_cast<std::ptrdiff_t>(run), is_given))];
        case StartKind::communities:
            return largest_clusters(communities(model_.network, plan_.runs[run].resolution, rng, stop_),
                                    max_parts);
        default:
            return random_labels(model_.network, plan_.random_clusters, plan_.max_clusters, rng);
        }
    }

    Solution climb_from(std::span<const std::uint32_t> labels, StartKind kind, common::Rng& rng) const {
        Climber<State> climber(model_, labels, plan_.max_clusters, rng, stop_);
        if (plan_.as_printed)
            return climber.as_printed();
        if (kind == StartKind::annealed)
            return climber.anneal(hot, cold, plan_.anneal_sweeps);
        return climber.climb(plan_.merge_first && kind != StartKind::random);
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
            evolve(members, plan_.groups == 1 ? plan_.patience : group_patience, result);
            result.group_icl.push_back(members.best().icl);
            same = same && std::abs(result.group_icl.front() - members.best().icl) < min_gain;
            for (const auto& solution : members.members())
                all.add(solution);
        }
        all.keep(found.size());
        if (!same)
            evolve(all, plan_.patience, result);
        return all;
    }

    void evolve(Population& population, std::size_t patience, SearchResult& result) {
        const auto size = population.size();
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

    /// So many children; the best of parents and children, no two alike, live on.
    void breed(Population& population, std::size_t size) {
        std::vector<Solution> children(size);
        common::parallel_for(size, plan_.threads, stop_, [&](std::size_t child, unsigned) {
            if (stop_)
                return;
            common::Rng rng(plan_.seed, stream_ + child);
            children[child] = child_of(population, rng);
        });
        stream_ += size;
        for (auto& child : children)
            population.add(std::move(child));
        population.keep(size);
    }

    /// A crossing of two, or one that was heated a little and cooled: the former brings good parts together,
    /// the latter finds exchanges of a few nodes that no single move begins. One that meets itself is shaken.
    Solution child_of(const Population& population, common::Rng& rng) const {
        const auto place = population.parent(rng), mate = population.parent(rng);
        const auto& one = population.members()[place];
        if (plan_.reheat_sweeps > 0 && rng.below(reheat_one_in) == 0)
            return Climber<State>(model_, one.labels, plan_.max_clusters, rng, stop_)
                .anneal(warm, cool, plan_.reheat_sweeps);
        const auto& other = population.members()[mate];
        const auto labels = place == mate || cells(one, other) > max_cells
                                ? shaken(model_.network, one.labels, rng)
                                : Meet(model_.network, one.labels, other.labels).labels(max_parts);
        return Climber<State>(model_, labels, plan_.max_clusters, rng, stop_).climb(true);
    }

    static std::size_t cells(const Solution& one, const Solution& other) {
        const auto clusters = [](const Solution& solution) {
            return std::size_t{*std::max_element(solution.labels.begin(), solution.labels.end())} + 1;
        };
        return clusters(one) * clusters(other);
    }

    /// A search that left out clusters far from a node tries them at the end.
    Solution polished(const Solution& best) {
        common::Rng rng(plan_.seed, stream_++);
        return Climber<State>(model_, best.labels, plan_.max_clusters, rng, stop_).polish();
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

    const BlockModelView<State>& model_;
    const SearchPlan& plan_;
    const common::StopFlag& stop_;
    std::uint64_t stream_ = 0;
};

} // namespace partita::models
