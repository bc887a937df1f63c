// What the atoms of a component cost in one cluster.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "common/keyed_sums.hpp"
#include "pairs/local.hpp"
#include "pairs/objective.hpp"

namespace partita::pairs {

inline constexpr std::uint32_t max_table = 8192; // atoms: half a gigabyte

/// Costs between atoms: what two of them add to the objective if they are in one cluster.
class AtomCosts {
public:
    AtomCosts(const Local& local, const Threshold& objective)
        : local_(&local), objective_(objective), atom_(local.atom_of()) {
        common::KeyedSums sums(local.atoms.size());
        for (std::uint32_t v = 0; v < local.atoms.size(); ++v) {
            add_attractions(v, sums);
            within_.push_back((objective.repulsion() * size(v) * (size(v) - 1) - sums[v]) / 2);
            for (const auto w : sums.keys())
                if (w != v) {
                    listed_.values.push_back(w);
                    costs_.push_back(local_->are_apart(v, w)
                                         ? std::numeric_limits<double>::infinity()
                                         : objective.repulsion() * size(v) * size(w) - sums[w]);
                }
            listed_.close();
        }
    }

    std::uint32_t size() const { return local_->atoms.size(); }
    double size(std::uint32_t v) const { return static_cast<double>(local_->atoms[v].size()); }
    double within(std::uint32_t v) const { return within_[v]; }
    double within_atoms() const { return std::accumulate(within_.begin(), within_.end(), 0.0); }
    std::span<const std::uint32_t> listed(std::uint32_t v) const { return listed_[v]; }
    std::span<const double> costs(std::uint32_t v) const {
        return {costs_.data() + listed_.offsets[v], costs_.data() + listed_.offsets[v + 1]};
    }
    double cost(std::uint32_t v, std::uint32_t w) const {
        const auto near = listed_[v];
        const auto found = std::find(near.begin(), near.end(), w);
        return found == near.end() ? unlisted(v, w)
                                   : costs(v)[static_cast<std::size_t>(found - near.begin())];
    }
    /// All costs, (atoms, atoms), where most pairs are listed, as looking for one in a list takes as long as
    /// the list is; else nothing.
    std::vector<double> table() const {
        std::vector<double> all;
        if (size() > max_table || costs_.size() * 4 < static_cast<std::size_t>(size()) * size())
            return all;
        all.reserve(static_cast<std::size_t>(size()) * size());
        for (std::uint32_t v = 0; v < size(); ++v) {
            for (std::uint32_t w = 0; w < size(); ++w)
                all.push_back(unlisted(v, w));
            const auto near = listed_[v];
            for (std::size_t e = 0; e < near.size(); ++e)
                all[static_cast<std::size_t>(v) * size() + near[e]] = costs(v)[e];
        }
        return all;
    }

private:
    void add_attractions(std::uint32_t v, common::KeyedSums& sums) const {
        sums.clear();
        for (const auto i : local_->atoms[v])
            local_->each_neighbour(
                i, [&](std::uint32_t j, double p) { sums.add(atom_[j], objective_.attraction(p)); });
    }

    double unlisted(std::uint32_t v, std::uint32_t w) const {
        return local_->are_apart(v, w) ? std::numeric_limits<double>::infinity()
                                       : objective_.repulsion() * size(v) * size(w);
    }

    const Local* local_;
    Threshold objective_;
    std::vector<std::uint32_t> atom_;
    Lists listed_;
    std::vector<double> costs_, within_; // of the lists, and of the atoms themselves
};

} // namespace partita::pairs
