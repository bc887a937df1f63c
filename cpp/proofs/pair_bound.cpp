#include "proofs/pair_bound.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proofs/atom_costs.hpp"

namespace partita::pairs {

namespace {

/// Triangles at which the partition incurs a loss, packed greedily.
class Packing {
public:
    Packing(const AtomCosts& costs, std::span<const std::uint32_t> cluster)
        : costs_(&costs), cluster_(cluster), table_(costs.table()) {
        for (std::uint32_t v = 0; v < costs.size(); ++v) {
            for (std::size_t e = 0; e < costs.listed(v).size(); ++e)
                if (costs.costs(v)[e] < 0 && cluster[costs.listed(v)[e]] == cluster[v])
                    companions_.values.push_back(costs.listed(v)[e]);
            companions_.close();
        }
    }

    /// The loss that no partition avoids.
    double total() {
        for (std::uint32_t v = 0; v < costs_->size(); ++v) {
            const auto near = costs_->listed(v);
            const auto cost = costs_->costs(v);
            for (std::size_t e = 0; e < near.size(); ++e)
                if (v < near[e] && cost[e] < 0 && cluster_[v] != cluster_[near[e]])
                    pay_for_cut(v, near[e]);
        }
        std::vector<std::uint32_t> seen_from(costs_->size(), nothing);
        for (std::uint32_t v = 0; v < costs_->size(); ++v)
            for (const auto w : joined_at_cost(v, seen_from))
                pay_for_join(v, w);
        return total_;
    }

private:
    /// Two atoms that gain together are apart: a third that is joined to one of them is repelled by the
    /// other.
    void pay_for_cut(std::uint32_t v, std::uint32_t w) {
        for (const auto& [near, far] : {std::pair{v, w}, std::pair{w, v}})
            for (const auto third : companions_[near]) {
                if (left(v, w) <= 0)
                    return;
                if (cost(third, far) > 0)
                    pack(v, w, third);
            }
    }

    /// Two atoms that cost together are joined: a third is attracted by both.
    void pay_for_join(std::uint32_t v, std::uint32_t w) {
        for (const auto third : companions_[v]) {
            if (left(v, w) <= 0)
                return;
            if (third != w && cost(third, w) < 0)
                pack(v, w, third);
        }
    }

    void pack(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
        const auto amount = std::min({left(x, y), left(x, z), left(y, z)});
        if (amount <= 0)
            return;
        for (const auto& [v, w] : {std::pair{x, y}, std::pair{x, z}, std::pair{y, z}})
            use(v, w, amount);
        total_ += amount;
    }

    /// What a pair costs; in a table, what is not used up of that.
    double cost(std::uint32_t v, std::uint32_t w) const {
        return table_.empty() ? costs_->cost(v, w) : table_[entry(v, w)];
    }

    /// The weight of a pair that is not used up yet.
    double left(std::uint32_t v, std::uint32_t w) {
        return table_.empty() ? in_map(v, w) : std::abs(table_[entry(v, w)]);
    }

    void use(std::uint32_t v, std::uint32_t w, double amount) {
        if (table_.empty())
            in_map(v, w) -= amount;
        else
            for (const auto place : {entry(v, w), entry(w, v)})
                table_[place] -= std::copysign(amount, table_[place]);
    }

    double& in_map(std::uint32_t v, std::uint32_t w) {
        const auto key = std::uint64_t{std::min(v, w)} << 32 | std::max(v, w);
        const auto [place, is_new] = left_.try_emplace(key, 0.0);
        if (is_new)
            place->second = std::abs(costs_->cost(v, w));
        return place->second;
    }

    std::size_t entry(std::uint32_t v, std::uint32_t w) const {
        return static_cast<std::size_t>(v) * costs_->size() + w;
    }

    /// Atoms after v that are in its cluster at a cost, by way of an atom that both are attracted by.
    std::vector<std::uint32_t> joined_at_cost(std::uint32_t v, std::vector<std::uint32_t>& seen_from) const {
        std::vector<std::uint32_t> found;
        for (const auto third : companions_[v])
            for (const auto w : companions_[third])
                if (w > v && seen_from[w] != v) {
                    seen_from[w] = v;
                    if (cost(v, w) > 0)
                        found.push_back(w);
                }
        std::sort(found.begin(), found.end());
        return found;
    }

    const AtomCosts* costs_;
    std::span<const std::uint32_t> cluster_; // of each atom
    Lists companions_;                       // atoms of the same cluster by which an atom is attracted
    std::vector<double> table_;              // (atoms, atoms), or empty: then what is left is in a map
    std::unordered_map<std::uint64_t, double> left_;
    double total_ = 0;
};

/// The most that an atom can gain from others if its cluster has room for so many items of them: the best of
/// them first, the last one in part.
double most_gained(const AtomCosts& costs, std::uint32_t v, double room) {
    std::vector<std::pair<double, double>> gains; // per item, and the items
    for (std::size_t e = 0; e < costs.listed(v).size(); ++e)
        if (const auto cost = costs.costs(v)[e]; cost < 0) {
            const auto items = costs.size(costs.listed(v)[e]);
            gains.emplace_back(cost / items, items);
        }
    std::sort(gains.begin(), gains.end());
    double gained = 0;
    for (const auto& [gain, items] : gains) {
        const auto taken = std::min(items, room);
        gained += gain * taken;
        room -= taken;
    }
    return gained;
}

/// No cluster is larger than the limit: every atom gains from no more others than there is room for.
double bound_of_size(const AtomCosts& costs, double max_size) {
    double gains = 0;
    for (std::uint32_t v = 0; v < costs.size(); ++v)
        gains += most_gained(costs, v, max_size - costs.size(v)) / 2;
    return gains;
}

} // namespace

double lower_bound(const Local& local, const Threshold& objective, std::span<const std::uint32_t> labels) {
    const AtomCosts costs(local, objective);
    double gains = 0;
    for (std::uint32_t v = 0; v < costs.size(); ++v)
        for (const auto cost : costs.costs(v))
            gains += std::min(cost, 0.0) / 2;
    std::vector<std::uint32_t> cluster(costs.size());
    for (std::uint32_t v = 0; v < costs.size(); ++v)
        cluster[v] = labels[local.atoms[v].front()];
    const auto packed = gains + Packing(costs, cluster).total();
    const auto limited = local.is_limited() ? bound_of_size(costs, local.max_size) : packed;
    return costs.within_atoms() + std::max(packed, limited);
}

double lower_bound(const Local& local, const LogMass& objective, std::span<const std::uint32_t>) {
    double bound = 0;
    for (std::uint32_t i = 0; i < local.n_items(); ++i) {
        const auto begin = local.probabilities.begin();
        std::vector<double> surest(begin + local.neighbours.offsets[i],
                                   begin + local.neighbours.offsets[i + 1]);
        std::sort(surest.begin(), surest.end(), std::greater<>());
        double mass = 0, least = 0;
        for (std::size_t e = 0; e < std::min<std::size_t>(surest.size(), local.max_size - 1); ++e) {
            mass += surest[e];
            const auto size = static_cast<double>(e + 2);
            least = std::min(least, objective.of_size(size) / size - objective.of_mass(mass));
        }
        bound += least;
    }
    return bound;
}

} // namespace partita::pairs
