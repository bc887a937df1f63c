// What Python gives to every search for the largest ICL, and gets back from it.
#pragma once

#include <nanobind/nanobind.h>

#include <limits>
#include <utility>
#include <vector>

#include "bindings/common/arrays.hpp"
#include "bindings/common/interrupt.hpp"
#include "partition/evolution.hpp"

inline std::vector<std::vector<std::uint32_t>> rows_of(const Array2<std::uint32_t>& array) {
    std::vector<std::vector<std::uint32_t>> rows;
    for (std::size_t r = 0; r < array.shape(0); ++r)
        rows.emplace_back(array.data() + r * array.shape(1), array.data() + (r + 1) * array.shape(1));
    return rows;
}

inline nb::tuple path_arrays(const std::vector<partita::models::Merge>& path) {
    std::vector<std::uint32_t> into, from;
    std::vector<double> change;
    for (const auto& merge : path) {
        into.push_back(merge.into);
        from.push_back(merge.from);
        change.push_back(merge.change);
    }
    return nb::make_tuple(to_numpy(std::move(into)), to_numpy(std::move(from)), to_numpy(std::move(change)));
}

inline void bind_evolution_plan(nb::module_& m) {
    using partita::models::EvolutionPlan;
    constexpr auto all = std::numeric_limits<std::size_t>::max();
    nb::class_<EvolutionPlan>(m, "EvolutionPlan", "Runs, groups of runs, and generations of crossings.")
        .def(
            "__init__",
            [](EvolutionPlan* self, std::size_t trial_runs, std::size_t groups, std::size_t generations,
               std::size_t patience, std::uint64_t seed, unsigned threads, std::size_t survivors) {
                new (self) EvolutionPlan{trial_runs, groups, generations, patience, seed, threads, survivors};
            },
            nb::kw_only(), nb::arg("trial_runs"), nb::arg("groups"), nb::arg("generations"),
            nb::arg("patience"), nb::arg("seed"), nb::arg("threads"), nb::arg("survivors") = all);
}

/// Runs maximize(stop) with a time limit: labels, ICL, ICL of runs and groups, generations, whether
/// Ctrl-C came, and whether the search was stopped.
template <class Maximize> nb::tuple search_tuple(double seconds, Maximize maximize) {
    partita::models::SearchResult result;
    const auto deadline = deadline_after(seconds);
    const partita::common::StopFlag stop;
    const bool interrupted =
        run_interruptible(stop, [&] { result = maximize(stop); }, [&] { stop_after(deadline, stop); });
    return nb::make_tuple(to_numpy(std::move(result.best.labels)), result.best.icl,
                          to_numpy(std::move(result.run_icl)), to_numpy(std::move(result.group_icl)),
                          result.generations, interrupted, static_cast<bool>(stop));
}
