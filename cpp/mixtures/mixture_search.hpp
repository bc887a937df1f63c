// The search for the partition of a table of largest exact ICL: the starts of its runs, and their climbs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/watched_stop.hpp"
#include "mixtures/icl_state.hpp"
#include "mixtures/policy.hpp"
#include "mixtures/seeding.hpp"
#include "partition/climb.hpp"
#include "partition/evolution.hpp"
#include "partition/policy.hpp"

namespace partita::models {

/// A table and its model, as the search sees them.
template <MixtureFamily Family> class MixtureProblem {
public:
    MixtureProblem(const MixtureView<Family>& view, const mixtures::SearchPlan& plan,
                   std::span<const std::vector<std::uint32_t>> starts, const common::StopFlag& stop)
        : view_(view), plan_(plan), starts_(starts), stop_(stop) {}

    std::size_t n_runs() const { return plan_.runs.size(); }
    bool crosses() const { return true; }
    OneSide sides() const { return {view_.table->n_items()}; }

    Solution run(std::size_t run, common::Rng& rng) const {
        auto climber = climber_at(start(run, rng), rng);
        if (plan_.runs[run].kind == mixtures::StartKind::annealed)
            return climber.anneal(policy::hot, policy::cold, plan_.anneal_sweeps);
        return climber.climb(plan_.runs[run].kind == mixtures::StartKind::seeds);
    }

    Solution climb(std::span<const std::uint32_t> labels, common::Rng& rng) const {
        return climber_at(labels, rng).climb(true);
    }

    bool is_trivial(const Solution&) const { return false; }
    Solution improve(std::size_t, const Solution& found, common::Rng&) const { return found; }
    Solution refine(const Solution& best, common::Rng&) const { return best; }

    bool reheats() const { return plan_.reheat_sweeps > 0; }
    Solution reheat(std::span<const std::uint32_t> labels, common::Rng& rng) const {
        return climber_at(labels, rng).anneal(policy::warm, policy::cool, plan_.reheat_sweeps);
    }

    Solution finish(const Solution& best, common::Rng& rng) const {
        return climber_at(best.labels, rng).finish(true);
    }

private:
    Climber<MixtureIcl<Family>> climber_at(std::span<const std::uint32_t> labels, common::Rng& rng) const {
        return {MixtureIcl<Family>(view_, labels, plan_.max_clusters), rng, stop_};
    }

    std::vector<std::uint32_t> start(std::size_t run, common::Rng& rng) const {
        if (plan_.runs[run].kind == mixtures::StartKind::given)
            return starts_[run];
        const auto items = rng.permutation(view_.table->n_items());
        const auto nearest = nearest_seeds(*view_.table, items, plan_.runs[run].seeds, rng);
        std::vector<std::uint32_t> labels(items.size());
        for (std::size_t p = 0; p < items.size(); ++p)
            labels[items[p]] = nearest[p];
        return labels;
    }

    const MixtureView<Family>& view_;
    const mixtures::SearchPlan& plan_;
    std::span<const std::vector<std::uint32_t>> starts_;
    const common::StopFlag& stop_;
};

/// One table and its model: the ICL of partitions, its changes, and the largest.
template <MixtureFamily Family> class MixtureMaximum {
public:
    explicit MixtureMaximum(MixtureView<Family> view) : view_(std::move(view)) {}

    std::size_t n_items() const { return view_.table->n_items(); }

    /// log p(X, z | K), K the number of clusters.
    double icl(std::span<const std::uint32_t> labels) const { return state(labels).log_density(); }

    /// The change of ICL when an item goes to each cluster; the last entry is a new cluster.
    std::vector<double> swap_changes(std::span<const std::uint32_t> labels, std::size_t item) const {
        return state(labels).swap_changes(item);
    }

    /// The change of ICL when two clusters merge, a square matrix.
    std::vector<double> merge_changes(std::span<const std::uint32_t> labels) const {
        const auto merging = state(labels);
        return models::merge_changes(merging.merges(), merging.n_clusters());
    }

    /// Greedy merges from the labels, which are 0, 1, ..., down to one cluster.
    std::vector<Merge> merge_path(std::span<const std::uint32_t> labels,
                                  const common::StopFlag& stop = common::StopFlag()) const {
        const auto merging = state(labels);
        const common::WatchedStop watched(&stop); // the first scores of many clusters take long too
        try {
            return models::merge_path(merging.merges(), stop);
        } catch (const common::Stopped&) {
            return {};
        }
    }

    SearchResult maximize(std::span<const std::vector<std::uint32_t>> starts,
                          const mixtures::SearchPlan& plan, const common::StopFlag& stop) const {
        const MixtureProblem<Family> problem(view_, plan, starts, stop);
        return Evolution(problem, plan.evolution, stop).run();
    }

private:
    MixtureIcl<Family> state(std::span<const std::uint32_t> labels) const {
        return MixtureIcl<Family>(view_, labels, labels.size());
    }

    MixtureView<Family> view_;
};

} // namespace partita::models
