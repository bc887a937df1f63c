// A network as the block models see it: compressed rows, nothing copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace partita::models {

/// Compressed rows: the neighbours of node i are to[start[i]] .. to[start[i + 1] - 1].
struct Neighbours {
    std::span<const std::int64_t> start;
    std::span<const std::uint32_t> to;
    std::span<const std::uint32_t> count; // empty: every entry counts one

    bool empty() const { return to.empty(); }

    /// Calls visit(neighbour, count) for each entry of row i.
    template <class Visit> void each(std::size_t i, Visit visit) const {
        for (auto at = start[i]; at < start[i + 1]; ++at)
            visit(to[static_cast<std::size_t>(at)],
                  count.empty() ? std::int64_t{1} : std::int64_t{count[static_cast<std::size_t>(at)]});
    }
};

/// Edges of some dyads, and the exposure of these dyads.
struct Dyads {
    std::int64_t edges = 0, exposure = 0;

    Dyads& operator+=(const Dyads& more) {
        edges += more.edges;
        exposure += more.exposure;
        return *this;
    }
    Dyads operator+(const Dyads& more) const { return {edges + more.edges, exposure + more.exposure}; }
    Dyads operator-(const Dyads& less) const { return {edges - less.edges, exposure - less.exposure}; }
};

/// Nodes 0 .. n_nodes - 1; loops live apart from the edges. An undirected network holds each edge in both
/// rows of `edges[0]`; a directed one holds rows in edges[0], columns in edges[1]. A bipartite network is
/// undirected, its first n_rows nodes are the rows, and only dyads between a row and a column exist.
struct Network {
    std::size_t n_nodes = 0;
    std::size_t n_rows = 0; // = n_nodes unless bipartite
    bool directed = false;
    Neighbours edges[2];
    Neighbours missing[2]; // dyads that were not observed, laid out like the edges; may be empty
    std::span<const std::uint32_t> loop;         // edges from each node to itself; empty: no loops
    std::span<const std::uint8_t> loop_observed; // empty: loops are no dyads
    std::span<const double> mark[2];   // of each edge, laid out like edges[d].to; empty: edges have none
    std::span<const double> loop_mark; // of each node's loop
    // Exposure is counted in integers: one pair of nodes and one loop. (2, 1) makes a loop half a pair.
    std::int64_t pair_exposure = 1;
    std::int64_t loop_exposure = 1;

    bool bipartite() const { return n_rows != n_nodes; }
    std::size_t directions() const { return directed ? 2 : 1; }
    std::size_t side(std::size_t node) const { return node < n_rows ? 0 : 1; }
    std::int64_t loop_edges(std::size_t node) const { return loop.empty() ? 0 : loop[node]; }
    std::int64_t loop_dyad(std::size_t node) const {
        return loop_observed.empty() ? 0 : loop_observed[node] * loop_exposure;
    }
    /// Calls visit(neighbour, mark) for each edge of a node in direction d.
    template <class Visit> void each_mark(std::size_t d, std::size_t node, Visit visit) const {
        for (auto at = edges[d].start[node]; at < edges[d].start[node + 1]; ++at)
            visit(edges[d].to[static_cast<std::size_t>(at)], mark[d][static_cast<std::size_t>(at)]);
    }
    /// What a loop adds to a degree: one edge out and one in; in an undirected network it has both ends here.
    std::int64_t loop_ends(std::size_t node) const { return loop_edges(node) * (directed ? 1 : 2); }
};

/// Calls visit(i, j, dyads) for all that a network has beyond pairs that were observed without an edge:
/// edges, pairs that were not observed (their exposure is below 0) and loops. An undirected pair comes once.
template <class Visit> void each_dyad(const Network& network, Visit visit) {
    for (std::size_t i = 0; i < network.n_nodes; ++i) {
        const auto once = [&](std::size_t j) { return network.directed || i < j; };
        network.edges[0].each(i, [&](std::size_t j, std::int64_t count) {
            if (once(j))
                visit(i, j, Dyads{count, 0});
        });
        if (!network.missing[0].empty())
            network.missing[0].each(i, [&](std::size_t j, std::int64_t) {
                if (once(j))
                    visit(i, j, Dyads{0, -network.pair_exposure});
            });
        visit(i, i, Dyads{network.loop_edges(i), network.loop_dyad(i)});
    }
}

/// Calls visit(i, j, mark) for every edge, an undirected one once.
template <class Visit> void each_marked_edge(const Network& network, Visit visit) {
    for (std::size_t i = 0; i < network.n_nodes; ++i) {
        network.each_mark(0, i, [&](std::size_t j, double mark) {
            if (network.directed || i < j)
                visit(i, j, mark);
        });
        if (network.loop_edges(i) > 0)
            visit(i, i, network.loop_mark[i]);
    }
}

} // namespace partita::models
