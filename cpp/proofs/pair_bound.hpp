// Lower bounds on the objective of every partition of a component that obeys the constraints.
#pragma once

#include <cstdint>
#include <span>

#include "pairs/local.hpp"
#include "pairs/objective.hpp"

namespace partita::pairs {

/// The sum of all pairs that gain, plus what bad triangles must lose: of two pairs that gain and a third that
/// costs, every partition gives up one. Triangles are packed so that together they use no more than the
/// weight of each pair; those at which the given partition incurs a loss are chosen, so that the bound equals
/// its value where the packing succeeds. With a limit on the size of clusters also what each item can gain at
/// most within it, where that is the better bound.
double lower_bound(const Local& local, const Threshold& objective, std::span<const std::uint32_t> labels);

/// Every item chooses the size of its cluster and fills it with the items it is most surely with.
double lower_bound(const Local& local, const LogMass& objective, std::span<const std::uint32_t> labels);

} // namespace partita::pairs
