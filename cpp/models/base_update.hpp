// Hyperpriors on a base measure: uniform on grids, each parameter drawn given the partition and the other
// parameters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/moments.hpp"
#include "models/variates.hpp"

namespace partita {

template <class Family>
inline constexpr bool has_grids = requires(Family& family) { family.set_grid_place(family.grid_place()); };

/// Draws the base's parameters, if it has grids. True if they were drawn: clusters must then be assigned from
/// the moments.
template <class Family, class Compute>
bool update_base(Family& family, Moments<Family>& moments, Rng& rng, Compute compute_moments) {
    if constexpr (has_grids<Family>) {
        const auto& base = family.base();
        const std::size_t grid_sizes[] = {base.kappas.size(), base.nus.size(), base.spreads.size()};
        if (grid_sizes[0] <= 1 && grid_sizes[1] <= 1 && grid_sizes[2] <= 1)
            return false;
        compute_moments();
        auto place = family.grid_place();
        std::vector<double> scores;
        for (std::size_t parameter = 0; parameter < 3; ++parameter) {
            if (grid_sizes[parameter] <= 1)
                continue;
            scores.assign(grid_sizes[parameter], 0.0);
            for (std::uint32_t g = 0; g < scores.size(); ++g) {
                place[parameter] = g;
                for (std::size_t slot = 0; slot < moments.slots(); ++slot)
                    if (moments.size(slot) > 0)
                        scores[g] += family.log_marginal_at(place, moments.size(slot), moments.mean(slot),
                                                            moments.scatter(slot));
            }
            place[parameter] = static_cast<std::uint32_t>(categorical(rng, scores));
        }
        family.set_grid_place(place);
        return true;
    }
    return false;
}

} // namespace partita
