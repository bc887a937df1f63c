// Merges under the affiliation model: the dyads between two clusters go inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "networks/merging_clusters.hpp"
#include "networks/network.hpp"

namespace partita::models {

/// O(1) for the change of a pair, O(K) for a merge.
template <class State> class AffiliationMerges {
public:
    AffiliationMerges(const State& state, const MergingClusters& clusters)
        : state_(state), n_(clusters.slot.size()), inside_(state.inside()), now_(state.cells(inside_)),
          between_(n_ * n_) {
        std::vector<std::size_t> place(state.slots());
        for (std::size_t a = 0; a < n_; ++a)
            place[clusters.slot[a]] = a;
        const auto& network = state.network();
        for (std::size_t a = 0; a < n_; ++a)
            for (std::size_t b = 0; b < n_; ++b)
                between(a, b).exposure = network.pair_exposure *
                                         static_cast<std::int64_t>(network.directions()) * clusters.nodes[a] *
                                         clusters.nodes[b];
        each_dyad(network, [&](std::size_t i, std::size_t j, const Dyads& dyads) {
            const auto a = place[state.label(i)], b = place[state.label(j)];
            between(a, b) += dyads;
            between(b, a) += dyads;
        });
    }

    /// The change of log p(X | z) when a and b become one.
    double change(std::size_t a, std::size_t b) const {
        return state_.cells(inside_ + between_[a * n_ + b]) - now_;
    }

    /// Cluster g has gone into cluster h.
    void merge(std::size_t g, std::size_t h) {
        inside_ += between(g, h);
        now_ = state_.cells(inside_);
        for (std::size_t l = 0; l < n_; ++l) {
            between(h, l) += between(g, l);
            between(l, h) = between(h, l);
        }
    }

private:
    Dyads& between(std::size_t a, std::size_t b) { return between_[a * n_ + b]; }

    const State& state_;
    std::size_t n_;
    Dyads inside_;
    double now_;                 // of the dyads that are inside clusters and of the others
    std::vector<Dyads> between_; // of a pair of clusters, both directions; the diagonal is unused
};

} // namespace partita::models
