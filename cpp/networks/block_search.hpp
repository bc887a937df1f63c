// The search for the partition of a network of largest exact ICL: the starts of its runs, and their climbs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "networks/communities.hpp"
#include "networks/icl_state.hpp"
#include "partition/climb.hpp"
#include "partition/crossing.hpp"
#include "partition/evolution.hpp"

namespace partita::models {

enum class StartKind : std::uint8_t { given, communities, annealed, random };

/// Where a run starts; `resolution` is for communities.
struct RunStart {
    StartKind kind = StartKind::random;
    double resolution = 1.0;
};

/// New arrangements of clusters end after this many failed attempts per cluster in a row; 0: none are tried.
struct Rearrangements {
    std::size_t of_runs = 0;     // of each run, if runs do not agree
    std::size_t of_children = 0; // of each crossing
    std::size_t of_best = 0;     // of the best, if groups of runs do not agree
    std::size_t clusters = 3;    // taken apart together, at most
};

struct SearchPlan {
    EvolutionPlan evolution;
    std::size_t max_clusters[2];              // clusters allowed on each side
    std::vector<RunStart> runs;               // those of kind `given` take the given partitions in turn
    std::size_t random_clusters;              // clusters of a random start
    std::size_t anneal_sweeps, reheat_sweeps; // of annealed starts, and of children that are not crossings
    Rearrangements rearrange;                 // of few clusters at a time
    bool merge_first;                         // merge the clusters of a given start before the first sweep
    bool as_printed;                          // only Algorithm 1 of Côme & Latouche, from each start
};

/// A network and its model, as the search sees them.
template <NetworkState State> class BlockProblem {
public:
    BlockProblem(const BlockModelView<State>& model, const SearchPlan& plan,
                 std::span<const std::vector<std::uint32_t>> starts, const common::StopFlag& stop)
        : model_(model), plan_(plan), starts_(starts), stop_(stop) {}

    std::size_t n_runs() const { return plan_.runs.size(); }
    bool crosses() const { return !plan_.as_printed; }
    const Network& sides() const { return model_.network; }

    Solution run(std::size_t run, common::Rng& rng) const {
        const auto kind = plan_.runs[run].kind;
        auto climber = climber_at(start(run, rng), rng);
        if (plan_.as_printed)
            return climber.as_printed();
        if (kind == StartKind::annealed)
            return climber.anneal(hot, cold, plan_.anneal_sweeps);
        return climber.climb(plan_.merge_first && kind == StartKind::given);
    }

    Solution climb(std::span<const std::uint32_t> labels, common::Rng& rng) const {
        auto climber = climber_at(labels, rng);
        const auto found = climber.climb(true);
        return rearranged(climber, found, plan_.rearrange.of_children);
    }

    /// Merges at once may leave a single cluster of every start of a network with weak ones.
    bool doubts(const Solution& found) const {
        return plan_.merge_first && !plan_.as_printed &&
               *std::max_element(found.labels.begin(), found.labels.end()) == 0;
    }

    /// Where the signal is weak, the merges of a noisy start leave next to nothing of it: its run begins
    /// again with sweeps, which take longer.
    Solution improve(std::size_t run, const Solution& found, common::Rng& rng) const {
        auto best = found;
        if (plan_.merge_first && plan_.runs[run].kind == StartKind::given)
            if (auto swept = climber_at(start(run, rng), rng).climb(false); swept.icl > best.icl)
                best = std::move(swept);
        auto climber = climber_at(best.labels, rng);
        return rearranged(climber, best, plan_.rearrange.of_runs);
    }

    Solution refine(const Solution& best, common::Rng& rng) const {
        auto climber = climber_at(best.labels, rng);
        return rearranged(climber, best, plan_.rearrange.of_best);
    }

    bool reheats() const { return plan_.reheat_sweeps > 0; }
    Solution reheat(std::span<const std::uint32_t> labels, common::Rng& rng) const {
        return climber_at(labels, rng).anneal(warm, cool, plan_.reheat_sweeps);
    }

    /// A search that left out clusters far from a node tries them at the end.
    Solution finish(const Solution& best, common::Rng& rng) const {
        const bool as_it_is = plan_.as_printed || model_.network.n_nodes > max_polished;
        return as_it_is ? best : climber_at(best.labels, rng).polish();
    }

private:
    static constexpr std::size_t max_parts = 256, max_polished = 20'000;
    static constexpr double hot = 2.0, warm = 1.0, cold = 0.6, cool = 0.3;
    static constexpr double arrangement_heat = 2.0;

    using Climb = Climber<BlockIcl<State>>;

    Solution rearranged(Climb& climber, const Solution& found, std::size_t patience) const {
        return patience == 0 ? found
                             : climber.rearrange(patience, arrangement_heat, plan_.rearrange.clusters);
    }

    Climb climber_at(std::span<const std::uint32_t> labels, common::Rng& rng) const {
        return Climb(BlockIcl<State>(model_, labels, plan_.max_clusters), rng, stop_);
    }

    std::vector<std::uint32_t> start(std::size_t run, common::Rng& rng) const {
        const auto is_given = [](const RunStart& other) { return other.kind == StartKind::given; };
        const auto begin = plan_.runs.begin();
        switch (plan_.runs[run].kind) {
        case StartKind::given:
            return starts_[static_cast<std::size_t>(
                std::count_if(begin, begin + static_cast<std::ptrdiff_t>(run), is_given))];
        case StartKind::communities:
            return largest_clusters(communities(model_.network, plan_.runs[run].resolution, rng, stop_),
                                    max_parts);
        default:
            return random_labels(model_.network, plan_.random_clusters, plan_.max_clusters, rng);
        }
    }

    const BlockModelView<State>& model_;
    const SearchPlan& plan_;
    std::span<const std::vector<std::uint32_t>> starts_;
    const common::StopFlag& stop_;
};

} // namespace partita::models
