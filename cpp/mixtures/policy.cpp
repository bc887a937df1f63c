#include "mixtures/policy.hpp"

#include <algorithm>
#include <iterator>

#include "partition/policy.hpp"

namespace partita::mixtures {

SearchPlan search_plan(std::size_t n_items, std::size_t restarts, std::size_t n_given,
                       std::size_t max_clusters, std::uint64_t seed, unsigned threads) {
    namespace shared = partita::policy;
    const bool small = n_items <= policy::max_small;
    const auto most = std::max<std::size_t>(n_items / policy::items_per_run_seed, 1);
    std::vector<RunStart> runs(n_given, {StartKind::given, 0});
    for (std::size_t at = 0; at + n_given < restarts; ++at)
        runs.push_back({small && at % 2 == 1 ? StartKind::annealed : StartKind::seeds,
                        std::min(policy::seeds[at % std::size(policy::seeds)], most)});
    const models::EvolutionPlan evolution{
        .trial_runs = small ? runs.size() : std::min(policy::large_trial_runs, runs.size()),
        .groups = std::clamp<std::size_t>(runs.size() / policy::group_runs, 1, shared::max_groups),
        .generations = shared::max_generations,
        .patience = small ? policy::patience : policy::large_patience,
        .seed = seed,
        .threads = threads};
    return {evolution, max_clusters, std::move(runs), policy::anneal_sweeps,
            small ? policy::reheat_sweeps : 0};
}

} // namespace partita::mixtures
