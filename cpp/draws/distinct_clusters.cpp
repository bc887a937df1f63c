#include "draws/distinct_clusters.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "draws/cluster_table.hpp"

namespace partita::search {
namespace {

constexpr std::size_t first_part = 8; // one draw in this many is looked at before all others; fewer than two
                                      // such draws show no repeats, so that few draws never share rows

/// The share of distinct clusters in the first part of the draws beyond which more than `max_share` of all
/// are to be expected. Let each item have M clusters, equally likely: of T draws about M (1 - exp(-T / M))
/// are distinct. Shares of 1/4, 1/2 and 1 of all draws are then 0.79, 0.91 and 1 of an eighth of them; where
/// some clusters are likelier than others, repeats show even earlier.
double max_share_at_first(double max_share) { return 1 - (1 - max_share) / 4; }

/// Calls use(i, cluster) for each item of each distinct cluster, clusters in order.
template <class Label, class Use>
void for_each_member(const Draws<Label>& draws, std::span<const DistinctCluster> first_seen, Use use) {
    std::vector<std::uint32_t> numbers;
    for (std::size_t first = 0, last; first < first_seen.size(); first = last) {
        const auto labels = draws.draw(first_seen[first].draw);
        numbers.assign(count_clusters(labels), no_cluster);
        for (last = first; last < first_seen.size() && first_seen[last].draw == first_seen[first].draw;
             ++last)
            numbers[first_seen[last].label] = static_cast<std::uint32_t>(last);
        for (std::size_t i = 0; i < labels.size(); ++i)
            if (numbers[labels[i]] != no_cluster)
                use(i, numbers[labels[i]]);
    }
}

/// The clusters of each item, item after item.
template <class Label>
void list_by_item(const Draws<Label>& draws, std::span<const DistinctCluster> first_seen,
                  DistinctClusters& found) {
    found.begin.assign(draws.n_items + 1, 0);
    for_each_member(draws, first_seen, [&](std::size_t i, std::uint32_t) { ++found.begin[i + 1]; });
    std::partial_sum(found.begin.begin(), found.begin.end(), found.begin.begin());
    found.clusters.resize(found.begin.back());
    auto next = found.begin;
    for_each_member(draws, first_seen,
                    [&](std::size_t i, std::uint32_t cluster) { found.clusters[next[i]++] = cluster; });
}

} // namespace

template <class Label>
std::optional<DistinctClusters>
find_distinct_clusters(const Draws<Label>& draws, std::span<const std::uint32_t> chosen,
                       std::span<const double> coefficients, double max_share) {
    ClusterTable table;
    std::size_t visits = 0; // the sum over items of their distinct clusters so far
    const auto keys = random_keys(draws.n_items);
    const auto labels = static_cast<double>(draws.n_items);
    const auto max_visits = max_share * labels * static_cast<double>(chosen.size());
    const auto first = std::max<std::size_t>(chosen.size() / first_part, 1);
    const auto max_visits_at_first = max_share_at_first(max_share) * labels * static_cast<double>(first);
    for (std::size_t t = 0; t < chosen.size(); ++t) {
        const auto known = table.clusters.size();
        for (const auto& cluster : clusters_of(draws.draw(chosen[t]), chosen[t], keys))
            table.add(cluster, coefficients[t]);
        for (auto number = known; number < table.clusters.size(); ++number)
            visits += table.clusters[number].size;
        const auto so_far = static_cast<double>(visits);
        if (so_far > max_visits || (t + 1 == first && so_far > max_visits_at_first))
            return std::nullopt;
    }
    DistinctClusters found;
    list_by_item(draws, table.clusters, found);
    found.coefficients = std::move(table.coefficients);
    return found;
}

#define INSTANTIATE(Label)                                                                                   \
    template std::optional<DistinctClusters> find_distinct_clusters(                                         \
        const Draws<Label>&, std::span<const std::uint32_t>, std::span<const double>, double);
PARTITA_FOR_EACH_LABEL(INSTANTIATE)
#undef INSTANTIATE

} // namespace partita::search
