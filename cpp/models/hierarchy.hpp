// Greedy merges of clusters, and the path of merges down to one cluster.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "block_state.hpp"
#include "dirichlet.hpp"

namespace partita {

/// One merge: cluster `from` goes into cluster `into` and the ICL changes by `change`.
struct Merge {
    std::uint32_t into, from;
    double change;
};

/// The changes of ICL that merges of two clusters bring, all pairs kept up to date from merge to merge:
/// O(K³) to begin with, O(K²) a merge.
template <class Emission> class Merger {
public:
    Merger(const BlockState<Emission>& state, const Priors& priors)
        : state_(state), priors_(priors), emission_(state.emission()), directed_(state.network().directed) {
        for (std::size_t s = 0; s < state.n_sides(); ++s) {
            for (auto k = state.side(s).first; k < state.side(s).end(); ++k)
                if (state.size(k) > 0) {
                    slot_.push_back(static_cast<std::uint32_t>(k));
                    side_.push_back(s);
                    count_[s] += 1;
                }
        }
        copy_blocks();
        alive_.assign(slot_.size(), true);
        change_.assign(slot_.size() * slot_.size(), 0.0);
        for (std::size_t a = 0; a < slot_.size(); ++a)
            for (std::size_t b = 0; b < a; ++b)
                if (side_[a] == side_[b])
                    set_change(a, b, blocks_change(a, b));
    }

    std::size_t clusters(std::size_t s) const { return count_[s]; }

    /// The best merge of two clusters of side `only` (2: of any side); from == into if none is left.
    Merge best(std::size_t only = 2) const {
        Merge best{0, 0, -std::numeric_limits<double>::infinity()};
        const double fewer[2] = {fewer_clusters(0), fewer_clusters(1)};
        for (std::size_t a = 0; a < slot_.size(); ++a)
            for (std::size_t b = 0; alive_[a] && b < a; ++b)
                if (alive_[b] && side_[a] == side_[b] && (only == 2 || side_[a] == only))
                    if (const double change = total_change(a, b) + fewer[side_[a]]; change > best.change)
                        best = {static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(a), change};
        return best;
    }

    /// The change of ICL for every pair of clusters (in the order of their slots).
    std::vector<double> all_changes() const {
        const auto n = slot_.size();
        std::vector<double> changes(n * n, 0.0);
        for (std::size_t a = 0; a < n; ++a)
            for (std::size_t b = 0; b < n; ++b)
                if (a != b && side_[a] == side_[b])
                    changes[a * n + b] =
                        total_change(std::max(a, b), std::min(a, b)) + fewer_clusters(side_[a]);
        return changes;
    }

    std::uint32_t slot(std::size_t cluster) const { return slot_[cluster]; }
    std::size_t size() const { return slot_.size(); }

    void merge(const Merge& merge) {
        const std::size_t h = merge.into, g = merge.from;
        for_other_pairs(g, h,
                        [&](std::size_t a, std::size_t b) { // what the two clusters said of each other pair
                            change_[a * slot_.size() + b] -= third(a, b, g) + third(a, b, h);
                        });
        pour(g, h);
        for_other_pairs(
            g, h, [&](std::size_t a, std::size_t b) { change_[a * slot_.size() + b] += third(a, b, h); });
        for (std::size_t a = 0; a < slot_.size(); ++a)
            if (alive_[a] && a != h && side_[a] == side_[h])
                set_change(a, h, blocks_change(a, h));
    }

private:
    std::int64_t& edges(std::size_t k, std::size_t l) { return edges_[k * slot_.size() + l]; }
    std::int64_t& exposure(std::size_t k, std::size_t l) { return exposure_[k * slot_.size() + l]; }
    std::int64_t edges(std::size_t k, std::size_t l) const { return edges_[k * slot_.size() + l]; }
    std::int64_t exposure(std::size_t k, std::size_t l) const { return exposure_[k * slot_.size() + l]; }
    double& value(std::size_t k, std::size_t l) { return value_[k * slot_.size() + l]; }
    double value(std::size_t k, std::size_t l) const { return value_[k * slot_.size() + l]; }

    void copy_blocks() {
        const auto n = slot_.size();
        edges_.resize(n * n);
        exposure_.resize(n * n);
        value_.resize(n * n);
        for (std::size_t k = 0; k < n; ++k) {
            nodes_.push_back(state_.size(slot_[k]));
            for (std::size_t d = 0; d < state_.network().directions(); ++d)
                degree_[d].push_back(state_.degree(d, slot_[k]));
            for (std::size_t l = 0; l < n; ++l) {
                edges(k, l) = state_.edges(slot_[k], slot_[l]);
                exposure(k, l) = state_.exposure(slot_[k], slot_[l]);
                value(k, l) = emission_.cell(edges(k, l), exposure(k, l));
            }
        }
    }

    void set_change(std::size_t a, std::size_t b, double change) {
        change_[std::max(a, b) * slot_.size() + std::min(a, b)] = change;
    }

    /// Blocks of a and b with a third cluster l, before and after a and b are one.
    double third(std::size_t a, std::size_t b, std::size_t l) const {
        double change = emission_.cell(edges(a, l) + edges(b, l), exposure(a, l) + exposure(b, l)) -
                        value(a, l) - value(b, l);
        if (directed_)
            change += emission_.cell(edges(l, a) + edges(l, b), exposure(l, a) + exposure(l, b)) -
                      value(l, a) - value(l, b);
        return change;
    }

    /// The blocks among a and b themselves.
    double within(std::size_t a, std::size_t b) const {
        auto e = edges(a, a) + edges(b, b) + edges(a, b),
             m = exposure(a, a) + exposure(b, b) + exposure(a, b);
        double before = value(a, a) + value(b, b) + value(a, b);
        if (directed_) {
            e += edges(b, a);
            m += exposure(b, a);
            before += value(b, a);
        }
        return emission_.cell(e, m) - before;
    }

    double blocks_change(std::size_t a, std::size_t b) const {
        double change = within(a, b);
        for (std::size_t l = 0; l < slot_.size(); ++l)
            if (alive_[l] && l != a && l != b)
                change += third(a, b, l);
        return change;
    }

    /// The prior's change when side s has one cluster less.
    double fewer_clusters(std::size_t s) const {
        return count_[s] < 2 ? 0.0 : priors_[s].clusters(count_[s] - 1) - priors_[s].clusters(count_[s]);
    }

    /// The change of ICL for a > b, but for the number of clusters.
    double total_change(std::size_t a, std::size_t b) const {
        const auto& prior = priors_[side_[a]];
        double change = change_[a * slot_.size() + b] + prior.cluster(nodes_[a] + nodes_[b]) -
                        prior.cluster(nodes_[a]) - prior.cluster(nodes_[b]);
        if (state_.degree_corrected())
            for (std::size_t d = 0; d < state_.network().directions(); ++d)
                change += degree_term(nodes_[a] + nodes_[b], degree_[d][a] + degree_[d][b]) -
                          degree_term(nodes_[a], degree_[d][a]) - degree_term(nodes_[b], degree_[d][b]);
        return change;
    }

    template <class Visit> void for_other_pairs(std::size_t g, std::size_t h, Visit visit) {
        for (std::size_t a = 0; a < slot_.size(); ++a)
            for (std::size_t b = 0; alive_[a] && a != g && a != h && b < a; ++b)
                if (alive_[b] && b != g && b != h && side_[a] == side_[b])
                    visit(a, b);
    }

    /// Cluster g goes into cluster h.
    void pour(std::size_t g, std::size_t h) {
        const auto pool = [&](std::vector<std::int64_t>& counts) {
            const auto n = slot_.size();
            const auto inside = counts[g * n + g] + counts[h * n + h] + counts[g * n + h] +
                                (directed_ ? counts[h * n + g] : 0);
            for (std::size_t l = 0; l < n; ++l) {
                counts[h * n + l] += counts[g * n + l];
                counts[l * n + h] += counts[l * n + g];
                counts[g * n + l] = counts[l * n + g] = 0;
            }
            counts[h * n + h] = inside;
        };
        pool(edges_);
        pool(exposure_);
        alive_[g] = false;
        count_[side_[g]] -= 1;
        nodes_[h] += nodes_[g];
        for (std::size_t d = 0; d < state_.network().directions(); ++d)
            degree_[d][h] += degree_[d][g];
        for (std::size_t l = 0; l < slot_.size(); ++l) {
            value(h, l) = emission_.cell(edges(h, l), exposure(h, l));
            value(l, h) = emission_.cell(edges(l, h), exposure(l, h));
        }
    }

    const BlockState<Emission>& state_;
    const Priors& priors_;
    const Emission& emission_;
    bool directed_;
    std::size_t count_[2] = {0, 0};
    std::vector<std::uint32_t> slot_;
    std::vector<std::size_t> side_;
    std::vector<std::int64_t> edges_, exposure_, nodes_, degree_[2];
    std::vector<double> value_, change_;
    std::vector<bool> alive_;
};

} // namespace partita
