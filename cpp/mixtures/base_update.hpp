// Hyperpriors on a base measure: uniform on grids, each parameter drawn given the partition and the other
// parameters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/variates.hpp"

namespace partita::models {

template <class Family>
inline constexpr bool has_grids = requires(Family& family) { family.set_grid_place(family.grid_place()); };

/// Draws the base's parameters, if it has grids. True if they were drawn: clusters must then be assigned from
/// the moments.
template <class Family, class Compute>
bool update_base(Family& family, typename Family::Summaries& moments, common::Rng& rng,
                 Compute compute_moments) {
    if constexpr (has_grids<Family>) {
        const auto& base = family.base();
        if (base.spreads.empty())
            return false; // the scale is given: nothing is on a grid
        compute_moments();
        auto place = family.grid_place();
        const std::size_t grid_sizes[] = {base.kappas.size(), base.nus.size(), base.spreads.size()};
        std::vector<double> scores;
        for (std::size_t parameter = 0; parameter < 3; ++parameter) {
            scores.assign(grid_sizes[parameter], 0.0);
            for (std::size_t slot = 0; slot < moments.slots(); ++slot)
                if (moments.size(slot) > 0)
                    family.add_grid_scores(parameter, place, moments.size(slot), moments.mean(slot),
                                           moments.scatter(slot), scores);
            place[parameter] = static_cast<std::uint32_t>(common::draw_from_logs(rng, scores));
        }
        family.set_grid_place(place);
        return true;
    }
    return false;
}

} // namespace partita::models
