// What Python sees of every search for the largest ICL of a mixture.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "mixture_sampler.hpp"
#include "models/mixtures.hpp"
#include "search_result.hpp"

inline std::vector<partita::models::MixtureRun> mixture_runs(const Array1<std::uint8_t>& kinds,
                                                             const Array1<std::uint32_t>& seeds) {
    using namespace partita::models;
    if (kinds.size() != seeds.size())
        throw nb::value_error("each run has a kind and a number of seeds");
    std::vector<MixtureRun> runs;
    for (std::size_t run = 0; run < kinds.size(); ++run)
        runs.push_back({static_cast<MixtureStart>(kinds.data()[run]), seeds.data()[run]});
    return runs;
}

/// A constructor of (inputs, prior) and the methods of a search. `make(inputs...)` gives the table and the
/// family.
template <class Family, class... Types, class Make, class... Names>
void bind_mixture_search(nb::module_& m, const char* name, Inputs<Types...>, Make make, Names... names) {
    using namespace partita::models;
    using Search = MixtureMaximum<Family>;
    using Labels = Array1<std::uint32_t>;
    nb::class_<Search>(m, name)
        .def(
            "__init__",
            [make](Search* self, const Types&... inputs, PartitionPriorSettings prior) {
                auto [table, family] = make(inputs...);
                new (self) Search({std::move(table), std::move(family), std::move(prior)});
            },
            names..., nb::arg("prior"))
        .def("icl", [](const Search& self, const Labels& labels) { return self.icl(as_span(labels)); })
        .def("swap_changes",
             [](const Search& self, const Labels& labels, std::size_t item) {
                 return to_numpy(self.swap_changes(as_span(labels), item));
             })
        .def("merge_changes",
             [](const Search& self, const Labels& labels) {
                 return to_numpy(self.merge_changes(as_span(labels)));
             })
        .def("merge_path", [](const Search& self,
                              const Labels& labels) { return path_arrays(self.merge_path(as_span(labels))); })
        .def(
            "maximize",
            [](const Search& self, const Array2<std::uint32_t>& starts, const Array1<std::uint8_t>& kinds,
               const Array1<std::uint32_t>& seeds, std::size_t max_clusters, std::size_t trial_runs,
               std::size_t groups, std::size_t generations, std::size_t patience, std::size_t anneal_sweeps,
               std::size_t reheat_sweeps, std::uint64_t seed, unsigned threads, double seconds) {
                const MixtureSearchPlan plan{{trial_runs, groups, generations, patience, seed, threads},
                                             max_clusters,
                                             mixture_runs(kinds, seeds),
                                             anneal_sweeps,
                                             reheat_sweeps};
                return search_tuple(seconds, [&](const partita::common::StopFlag& stop) {
                    return self.maximize(rows_of(starts), plan, stop);
                });
            },
            nb::arg("starts"), nb::arg("kinds"), nb::arg("seeds"), nb::arg("max_clusters"),
            nb::arg("trial_runs"), nb::arg("groups"), nb::arg("generations"), nb::arg("patience"),
            nb::arg("anneal_sweeps"), nb::arg("reheat_sweeps"), nb::arg("seed"), nb::arg("threads"),
            nb::arg("seconds"));
}
