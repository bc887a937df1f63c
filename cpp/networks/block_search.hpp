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
#include "networks/policy.hpp"
#include "partition/climb.hpp"
#include "partition/crossing.hpp"
#include "partition/evolution.hpp"
#include "partition/policy.hpp"

namespace partita::models {

using networks::SearchPlan, networks::StartKind;

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
            return climber.anneal(policy::hot, policy::cold, plan_.effort.anneal_sweeps);
        return climber.climb(plan_.merge_first && is_partition(kind));
    }

    Solution climb(std::span<const std::uint32_t> labels, common::Rng& rng) const {
        auto climber = climber_at(labels, rng);
        const auto found = climber.climb(true);
        return rearranged(climber, found, plan_.effort.rearrange.of_children);
    }

    /// Merges at once may leave a single cluster of every start of a network with weak ones.
    bool is_trivial(const Solution& found) const {
        return plan_.merge_first && !plan_.as_printed &&
               *std::max_element(found.labels.begin(), found.labels.end()) == 0;
    }

    /// Where the signal is weak, the merges of a noisy start leave next to nothing of it: its run begins
    /// again with sweeps, which take longer.
    Solution improve(std::size_t run, const Solution& found, common::Rng& rng) const {
        auto best = found;
        if (plan_.merge_first && is_partition(plan_.runs[run].kind))
            if (auto swept = climber_at(start(run, rng), rng).climb(false); swept.icl > best.icl)
                best = std::move(swept);
        auto climber = climber_at(best.labels, rng);
        return rearranged(climber, best, plan_.effort.rearrange.of_runs);
    }

    Solution refine(const Solution& best, common::Rng& rng) const {
        auto climber = climber_at(best.labels, rng);
        return rearranged(climber, best, plan_.effort.rearrange.of_best);
    }

    bool reheats() const { return plan_.effort.reheat_sweeps > 0; }
    Solution reheat(std::span<const std::uint32_t> labels, common::Rng& rng) const {
        return climber_at(labels, rng).anneal(policy::warm, policy::cool, plan_.effort.reheat_sweeps);
    }

    /// A search that left out clusters far from a node tries them at the end.
    Solution finish(const Solution& best, common::Rng& rng) const {
        const bool completely = model_.network.n_nodes <= networks::policy::max_polished;
        return plan_.as_printed ? best : climber_at(best.labels, rng).finish(completely);
    }

private:
    using Climb = Climber<BlockIcl<State>>;

    Solution rearranged(Climb& climber, const Solution& found, std::size_t patience) const {
        return patience == 0 ? found
                             : climber.rearrange(patience, networks::policy::arrangement_heat,
                                                 plan_.effort.rearrange.clusters);
    }

    Climb climber_at(std::span<const std::uint32_t> labels, common::Rng& rng) const {
        return Climb(BlockIcl<State>(model_, labels, plan_.max_clusters), rng, stop_);
    }

    std::vector<std::uint32_t> start(std::size_t run, common::Rng& rng) const {
        const auto is_given = [](const networks::RunStart& other) { return is_partition(other.kind); };
        const auto begin = plan_.runs.begin();
        if (is_given(plan_.runs[run]))
            return starts_[static_cast<std::size_t>(
                std::count_if(begin, begin + static_cast<std::ptrdiff_t>(run), is_given))];
        if (plan_.runs[run].kind == StartKind::communities)
            return largest_clusters(communities(model_.network, plan_.runs[run].resolution, rng, stop_),
                                    networks::policy::max_communities);
        return random_labels(model_.network, plan_.random_clusters, plan_.max_clusters, rng);
    }

    const BlockModelView<State>& model_;
    const SearchPlan& plan_;
    std::span<const std::vector<std::uint32_t>> starts_;
    const common::StopFlag& stop_;
};

} // namespace partita::models
