// Which columns take part: a column has one parameter for each cluster, or one for all of them.
//
// Given the partition, the two have the odds
//   prod_k m(x_kj) / m(x_j) times the prior odds,
// with m the marginal likelihood of the cells of column j in cluster k, and of all its cells together: an
// exact Gibbs step for each column. A column with one parameter for all says nothing about the partition.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/random.hpp"

namespace partita::models {

/// A family that may select among its units: columns, or groups of columns with one parameter.
template <class Family>
inline constexpr bool can_select = requires(Family& family) { family.set_included(family.included()); };

/// ln odds that each unit has a parameter for each cluster; the clusters are in the slots below `slots`.
template <class Family> std::vector<double> selection_log_odds(const Family& family, std::size_t slots) {
    auto odds = family.log_odds_without_clusters();
    for (std::size_t slot = 0; slot < slots; ++slot)
        if (family.size(slot) > 0)
            family.add_unit_marginals(slot, odds.data());
    return odds;
}

/// Draws which units take part, if the family selects. `refresh` recomputes the clusters from their items, so
/// that columns which were not looked at have not drifted. True if something changed.
template <class Family, class Refresh>
bool update_selection(Family& family, std::size_t slots, common::Rng& rng, Refresh refresh) {
    if constexpr (can_select<Family>) {
        if (!family.selects())
            return false;
        refresh();
        auto included = family.included();
        const auto odds = selection_log_odds(family, slots);
        for (std::size_t unit = 0; unit < included.size(); ++unit)
            included[unit] = rng.uniform() < 1.0 / (1.0 + std::exp(-odds[unit]));
        if (included == family.included())
            return false;
        family.set_included(included);
        return true;
    }
    return false;
}

/// The copy of a family that proposals work on follows the selection.
template <class Family> void copy_selection(const Family& from, Family& to) {
    if constexpr (can_select<Family>)
        if (from.selects() && from.included() != to.included())
            to.set_included(from.included());
}

} // namespace partita::models
