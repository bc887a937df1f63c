#include "networks/policy.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "partition/policy.hpp"

namespace partita::networks {

namespace {

bool is_small(std::size_t n_nodes) { return n_nodes <= policy::max_small; }
bool is_medium(std::size_t n_nodes) { return !is_small(n_nodes) && n_nodes <= policy::max_medium; }

std::span<const StartKind> cycle_of(std::size_t n_nodes, bool uneven) {
    if (is_small(n_nodes))
        return policy::small_cycle;
    if (is_medium(n_nodes))
        return uneven ? std::span<const StartKind>(policy::uneven_cycle) : policy::medium_cycle;
    return policy::large_cycle;
}

const Effort& effort_of(const SearchProblem& problem, const std::vector<StartKind>& kinds) {
    if (is_small(problem.n_nodes))
        return !problem.plain   ? policy::small
               : problem.uneven ? policy::small_plain_uneven
                                : policy::small_plain;
    if (!is_medium(problem.n_nodes))
        return policy::large;
    const bool has_periphery = std::find(kinds.begin(), kinds.end(), StartKind::periphery) != kinds.end();
    return has_periphery ? policy::medium_uneven : policy::medium;
}

} // namespace

std::vector<StartKind> start_kinds(std::size_t n_nodes, std::size_t restarts, std::size_t n_given,
                                   bool partitions, bool uneven) {
    const auto cycle = cycle_of(n_nodes, uneven);
    std::vector<StartKind> kinds(n_given, StartKind::given);
    std::size_t n_spectral = 0;
    for (std::size_t at = 0; at + n_given < restarts; ++at) {
        auto kind = partitions ? cycle[at % cycle.size()] : StartKind::random;
        if (kind == StartKind::spectral && n_spectral++ >= policy::max_spectral)
            kind = StartKind::communities;
        kinds.push_back(kind);
    }
    return kinds;
}

std::size_t start_clusters(std::size_t n_nodes) {
    const auto root = static_cast<std::size_t>(std::sqrt(4.0 * static_cast<double>(n_nodes)));
    return std::min({n_nodes, std::max(policy::min_start_clusters, root), policy::max_start_clusters});
}

std::vector<std::size_t> start_widths(std::size_t count, std::size_t n_nodes, std::size_t most) {
    const auto clusters = static_cast<double>(start_clusters(n_nodes));
    std::vector<std::size_t> widths;
    for (std::size_t at = 0; at < count; ++at) {
        const auto width = policy::start_widths[at % std::size(policy::start_widths)];
        const auto wanted = static_cast<std::size_t>(std::nearbyint(clusters * width));
        widths.push_back(std::max<std::size_t>(1, std::min({wanted, most, n_nodes})));
    }
    return widths;
}

SearchPlan search_plan(const SearchProblem& problem, const std::vector<StartKind>& kinds, std::uint64_t seed,
                       unsigned threads) {
    namespace shared = partita::policy;
    const auto& effort = effort_of(problem, kinds);
    const auto n_runs = kinds.size();
    const models::EvolutionPlan evolution{
        .trial_runs = problem.as_printed ? n_runs : std::min(effort.trial_runs, n_runs),
        .groups = problem.as_printed
                      ? 1
                      : std::clamp<std::size_t>(n_runs / effort.group_runs, 1, shared::max_groups),
        .generations = shared::max_generations,
        .patience = effort.patience,
        .seed = seed,
        .threads = threads,
        .survivors = is_small(problem.n_nodes) ? n_runs : policy::survivors};
    std::vector<RunStart> runs;
    std::size_t turn = 0;
    for (const auto kind : kinds)
        runs.push_back({kind, kind == StartKind::communities
                                  ? policy::resolutions[turn++ % std::size(policy::resolutions)]
                                  : 1.0});
    const auto most = std::max(problem.max_clusters[0], problem.max_clusters[1]);
    return {evolution,
            {problem.max_clusters[0], problem.max_clusters[1]},
            std::move(runs),
            std::min(start_clusters(problem.n_nodes), most),
            effort,
            problem.n_nodes > policy::max_medium,
            problem.as_printed};
}

} // namespace partita::networks
