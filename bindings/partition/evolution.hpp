// What Python gives to every search for the largest ICL, and gets back from it.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "bindings/common/arrays.hpp"
#include "bindings/common/interrupt.hpp"
#include "partition/evolution.hpp"
#include "partition/merges.hpp"

inline std::vector<std::vector<std::uint32_t>> rows_of(const Array2<std::uint32_t>& array) {
    std::vector<std::vector<std::uint32_t>> rows;
    for (std::size_t r = 0; r < array.shape(0); ++r)
        rows.emplace_back(array.data() + r * array.shape(1), array.data() + (r + 1) * array.shape(1));
    return rows;
}

/// Greedy merges from the labels: clusters kept, clusters absorbed, change of the log density. Their work
/// grows with the cube of the number of clusters.
template <class Model> nb::tuple merge_path(const Model& model, const Array1<std::uint32_t>& labels) {
    const auto given = as_span(labels);
    const double clusters = given.empty() ? 0 : 1.0 + *std::max_element(given.begin(), given.end());
    std::vector<partita::models::Merge> path;
    run_or_raise(clusters * clusters * clusters,
                 [&](const partita::common::StopFlag& stop) { path = model.merge_path(given, stop); });
    std::vector<std::uint32_t> into, from;
    std::vector<double> change;
    for (const auto& merge : path) {
        into.push_back(merge.into);
        from.push_back(merge.from);
        change.push_back(merge.change);
    }
    return nb::make_tuple(to_numpy(std::move(into)), to_numpy(std::move(from)), to_numpy(std::move(change)));
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
