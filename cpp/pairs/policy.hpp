// The search of pair probabilities: every tuning constant with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace partita::pairs::policy {

inline constexpr std::uint32_t always_exact = 8;  // atoms: the exact solution costs less than one run
inline constexpr std::size_t crossed = 4;         // others that are crossed with the best partition
inline constexpr std::uint32_t runs_per_wave = 4; // between two looks at whether the runs agree
inline constexpr std::size_t agreeing_runs = 8;   // at the best value: more are likely to end there too
inline constexpr std::size_t items_times_runs = 2'000'000; // of a component: a large one gets fewer runs,
inline constexpr std::size_t min_runs = 3;                 // but not fewer, since crossing needs them

} // namespace partita::pairs::policy
