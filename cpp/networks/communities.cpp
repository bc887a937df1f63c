#include "networks/communities.hpp"

#include <cstddef>
#include <limits>
#include <numeric>

#include "common/keyed_sums.hpp"
#include "networks/policy.hpp"
#include "partition/first_appearance.hpp"
#include "partition/node_moves.hpp"

namespace partita::models {

namespace {

/// A weighted undirected graph: a pair stands in both rows, a loop in `inside` with both of its ends.
struct WeightedGraph {
    std::vector<std::size_t> start{0};
    std::vector<std::uint32_t> to;
    std::vector<double> weight;
    std::vector<double> inside;

    std::size_t n_nodes() const { return inside.size(); }

    template <class Visit> void each(std::size_t i, Visit visit) const {
        for (auto at = start[i]; at < start[i + 1]; ++at)
            visit(to[at], weight[at]);
    }

    double degree(std::size_t i) const {
        double total = inside[i];
        each(i, [&](std::uint32_t, double weight) { total += weight; });
        return total;
    }
};

WeightedGraph without_directions(const Network& network) {
    WeightedGraph graph;
    for (std::size_t i = 0; i < network.n_nodes; ++i) {
        for (std::size_t d = 0; d < network.directions(); ++d)
            network.edges[d].each(i, [&](std::uint32_t other, std::int64_t count) {
                graph.to.push_back(other);
                graph.weight.push_back(static_cast<double>(count));
            });
        graph.start.push_back(graph.to.size());
        graph.inside.push_back(2.0 * static_cast<double>(network.loop_edges(i)));
    }
    return graph;
}

/// Nodes of one level in communities of high modularity; at first each is alone.
class Communities {
public:
    Communities(const WeightedGraph& graph, double resolution)
        : graph_(graph), label_(graph.n_nodes()), degree_(graph.n_nodes()), links_(graph.n_nodes()) {
        std::iota(label_.begin(), label_.end(), 0u);
        for (std::size_t i = 0; i < graph.n_nodes(); ++i)
            degree_[i] = graph.degree(i);
        total_ = degree_;
        const double all = std::accumulate(degree_.begin(), degree_.end(), 0.0);
        penalty_ = all > 0.0 ? resolution / all : 0.0;
    }

    std::uint32_t n_nodes() const { return static_cast<std::uint32_t>(label_.size()); }
    std::uint32_t cluster_of(std::uint32_t node) const { return label_[node]; }
    const std::vector<std::uint32_t>& labels() const { return label_; }
    template <class Visit> void each_follower(std::uint32_t node, Visit visit) const {
        graph_.each(node, [&](std::uint32_t other, double) {
            if (label_[other] != label_[node])
                visit(other);
        });
    }

    double improve(std::uint32_t node) {
        const auto own = label_[node];
        graph_.each(node, [&](std::uint32_t other, double weight) { links_.add(label_[other], weight); });
        total_[own] -= degree_[node];
        auto best = own;
        const double stays = gain(node, own);
        double best_gain = stays + min_gain;
        for (const auto community : links_.keys())
            if (const double found = gain(node, community); found > best_gain) {
                best_gain = found;
                best = community;
            }
        links_.clear();
        total_[best] += degree_[node];
        label_[node] = best;
        return best == own ? 0.0 : stays - best_gain;
    }

private:
    static constexpr double min_gain = 1e-12;

    double gain(std::uint32_t node, std::uint32_t community) const {
        return links_[community] - penalty_ * degree_[node] * total_[community];
    }

    const WeightedGraph& graph_;
    std::vector<std::uint32_t> label_;
    std::vector<double> degree_, total_;
    common::KeyedSums links_;
    double penalty_;
};

/// One node for each community.
WeightedGraph aggregated(const WeightedGraph& graph, const std::vector<std::uint32_t>& label,
                         std::size_t communities) {
    const auto members = listed(std::span(label), static_cast<std::uint32_t>(communities));
    WeightedGraph coarse;
    coarse.inside.assign(communities, 0.0);
    common::KeyedSums links(communities);
    for (std::size_t k = 0; k < communities; ++k) {
        for (const auto i : members[k]) {
            coarse.inside[k] += graph.inside[i];
            graph.each(i, [&](std::uint32_t other, double weight) {
                if (label[other] == k)
                    coarse.inside[k] += weight;
                else
                    links.add(label[other], weight);
            });
        }
        for (const auto other : links.keys()) {
            coarse.to.push_back(other);
            coarse.weight.push_back(links[other]);
        }
        links.clear();
        coarse.start.push_back(coarse.to.size());
    }
    return coarse;
}

} // namespace

std::vector<std::uint32_t> communities(const Network& network, double resolution, common::Rng& rng,
                                       const common::StopFlag& stop) {
    auto graph = without_directions(network);
    std::vector<std::uint32_t> labels(network.n_nodes);
    std::iota(labels.begin(), labels.end(), 0u);
    const search::Limits limits(stop, std::numeric_limits<double>::infinity());
    while (!stop) {
        Communities level(graph, resolution);
        search::move_all(level, rng, limits, networks::policy::community_rounds);
        auto moved = level.labels();
        const auto n_moved = common::renumber(moved);
        for (auto& label : labels)
            label = moved[label];
        if (n_moved == graph.n_nodes())
            break;
        graph = aggregated(graph, moved, n_moved);
    }
    common::renumber(labels);
    return labels;
}

} // namespace partita::models
