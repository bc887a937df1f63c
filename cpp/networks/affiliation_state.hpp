// The affiliation model's state: one parameter for all dyads inside clusters, one for all dyads between them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "networks/affiliation_merges.hpp"
#include "networks/network.hpp"
#include "networks/node_partition.hpp"

namespace partita::models {

/// The dyads that are not inside clusters are between them, so two cells of integers, inside and between,
/// determine the likelihood. Integers do not drift, and a score costs O(1) per cluster. There is one side: a
/// bipartite network has no dyads inside clusters.
template <class EdgeModel>
class AffiliationState : public CountedState<AffiliationState<EdgeModel>, NodePartition> {
    using Base = CountedState<AffiliationState, NodePartition>;
    friend Base;

public:
    using Emission = EdgeModel;
    using Merges = AffiliationMerges<AffiliationState>;

    AffiliationState(const Network& network, const Emission& emission, bool degree_corrected,
                     std::size_t capacity, std::size_t = 0)
        : Base(network, degree_corrected, capacity, 0), emission_(&emission) {}

    /// What merges add up: edges and exposure of dyads.
    using Number = std::int64_t;
    static constexpr std::size_t width() { return 2; }
    std::array<Number, 2> inside() const { return {inside_.edges, inside_.exposure}; }
    double cells(const Number* inside) const { return cells(Dyads{inside[0], inside[1]}); }
    template <class Visit> void each_part(Visit visit) const {
        each_dyad(*network_, [&](std::size_t i, std::size_t j, const Dyads& dyads) {
            const Number part[2] = {dyads.edges, dyads.exposure};
            visit(i, j, part);
        });
    }
    void add_pairs(std::int64_t nodes, std::int64_t others, Number* part) const {
        part[1] +=
            network_->pair_exposure * static_cast<std::int64_t>(network_->directions()) * nodes * others;
    }

    void swap_slots(std::size_t a, std::size_t b) { this->swap_names(a, b); }

    void move(std::size_t to) {
        inside_ += this->seen_inside(to) - this->seen_inside(label_[node_]);
        this->relabel(to);
    }

    double log_likelihood() const { return this->with_degree_terms(cells(inside_)); }

    /// The log marginal likelihood of both cells if these dyads are inside clusters and the others between.
    double cells(const Dyads& inside) const {
        const auto between = all_ - inside;
        return emission_->cell(inside.edges, inside.exposure) +
               emission_->cell(between.edges, between.exposure);
    }

    void rebuild_gains() {} // whole numbers do not drift

private:
    using Base::label_, Base::network_, Base::node_;

    /// h -> the change of log p(X | z) when the node goes to h, without the degree terms of the cluster it
    /// leaves. What does not depend on h is worked out once.
    auto score_of_slot() const {
        return
            [this, rest = inside_ - this->seen_inside(label_[node_]), now = cells(inside_)](std::size_t h) {
                const double change = cells(rest + this->seen_inside(h)) - now;
                return this->degree_corrected_ ? change + this->degree_gain(h) : change;
            };
    }

    void recount() {
        this->count_nodes();
        inside_ = all_ = {};
        for (const auto size : this->size_)
            inside_.exposure += pairs(size);
        all_.exposure = pairs(static_cast<std::int64_t>(network_->n_nodes));
        each_dyad(*network_, [&](std::size_t i, std::size_t j, const Dyads& dyads) {
            all_ += dyads;
            if (label_[i] == label_[j])
                inside_ += dyads;
        });
    }

    /// Exposure among this many nodes, without loops.
    std::int64_t pairs(std::int64_t nodes) const {
        return network_->pair_exposure * nodes * (nodes - 1) / (network_->directed ? 1 : 2);
    }

    const Emission* emission_;
    Dyads inside_, all_;
};

} // namespace partita::models
