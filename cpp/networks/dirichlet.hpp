// The prior of a partition into K labelled clusters: proportions ~ Dirichlet(n0, …, n0), integrated out.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/log_gamma.hpp"
#include "common/log_rising.hpp"
#include "networks/node_partition.hpp"

namespace partita::models {

/// log p(z | K) = log Γ(K n0) − log Γ(K n0 + n) + Σ_k [log Γ(n_k + n0) − log Γ(n0)], in the terms that moves
/// change.
class DirichletPrior {
public:
    DirichletPrior(double n0, std::size_t n_nodes)
        : n0_(n0), n_nodes_(static_cast<double>(n_nodes)), rising_(n0, static_cast<std::int64_t>(n_nodes)),
          join_(n_nodes + 1) {
        for (std::size_t n = 0; n < join_.size(); ++n)
            join_[n] = std::log(static_cast<double>(n) + n0);
    }

    double clusters(std::size_t k) const {
        const auto sum = static_cast<double>(k) * n0_;
        return k == 0 ? 0.0 : common::log_gamma(sum) - common::log_gamma(sum + n_nodes_);
    }
    double cluster(std::int64_t size) const { return rising_(size); }
    /// The change when a node joins a cluster of `size` others.
    double join(std::int64_t size) const { return join_[static_cast<std::size_t>(size)]; }

private:
    double n0_, n_nodes_;
    common::LogRising rising_;
    std::vector<double> join_;
};

/// One prior per side: rows and columns of a bipartite network have their own.
struct Priors {
    DirichletPrior side[2];
    const DirichletPrior& operator[](std::size_t s) const { return side[s]; }
};

/// log p(z | K) with K the number of filled clusters.
inline double log_prior(const NodePartition& state, const Priors& priors) {
    double total = 0.0;
    for (std::size_t s = 0; s < state.n_sides(); ++s) {
        total += priors[s].clusters(state.filled(s));
        for (auto k = state.side(s).first; k < state.side(s).end(); ++k)
            total += priors[s].cluster(state.size(k));
    }
    return total;
}

} // namespace partita::models
