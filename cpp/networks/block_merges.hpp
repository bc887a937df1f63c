// Merges when every block has a parameter of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "networks/merging_clusters.hpp"
#include "networks/pair_changes.hpp"

namespace partita::models {

/// The changes of log p(X | z) for all pairs.
template <class State> class BlockMerges : public PairChanges<BlockMerges<State>> {
    using Base = PairChanges<BlockMerges>;
    friend Base;

public:
    BlockMerges(const State& state, const MergingClusters& clusters)
        : Base(clusters), emission_(state.emission()), directed_(state.network().directed), edges_(n_ * n_),
          exposure_(n_ * n_), value_(n_ * n_) {
        for (std::size_t k = 0; k < n_; ++k)
            for (std::size_t l = 0; l < n_; ++l) {
                edges(k, l) = state.edges(clusters.slot[k], clusters.slot[l]);
                exposure(k, l) = state.exposure(clusters.slot[k], clusters.slot[l]);
                value(k, l) = emission_.cell(edges(k, l), exposure(k, l));
            }
        this->compute_changes();
    }

private:
    using Base::n_;

    std::int64_t& edges(std::size_t k, std::size_t l) { return edges_[k * n_ + l]; }
    std::int64_t& exposure(std::size_t k, std::size_t l) { return exposure_[k * n_ + l]; }
    std::int64_t edges(std::size_t k, std::size_t l) const { return edges_[k * n_ + l]; }
    std::int64_t exposure(std::size_t k, std::size_t l) const { return exposure_[k * n_ + l]; }
    double& value(std::size_t k, std::size_t l) { return value_[k * n_ + l]; }
    double value(std::size_t k, std::size_t l) const { return value_[k * n_ + l]; }

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

    void pour(std::size_t g, std::size_t h) {
        const auto pool = [&](std::vector<std::int64_t>& counts) {
            const auto inside = counts[g * n_ + g] + counts[h * n_ + h] + counts[g * n_ + h] +
                                (directed_ ? counts[h * n_ + g] : 0);
            for (std::size_t l = 0; l < n_; ++l) {
                counts[h * n_ + l] += counts[g * n_ + l];
                counts[l * n_ + h] += counts[l * n_ + g];
                counts[g * n_ + l] = counts[l * n_ + g] = 0;
            }
            counts[h * n_ + h] = inside;
        };
        pool(edges_);
        pool(exposure_);
        for (std::size_t l = 0; l < n_; ++l) {
            value(h, l) = emission_.cell(edges(h, l), exposure(h, l));
            value(l, h) = emission_.cell(edges(l, h), exposure(l, h));
        }
    }

    const typename State::Emission& emission_;
    bool directed_;
    std::vector<std::int64_t> edges_, exposure_;
    std::vector<double> value_;
};

} // namespace partita::models
