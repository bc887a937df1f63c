// What Python sees of every search for the largest ICL of a mixture.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "bindings/common/arrays.hpp"
#include "bindings/mcmc/mixture_sampler.hpp"
#include "bindings/partition/evolution.hpp"
#include "mixtures/mixtures.hpp"

inline void bind_mixture_plan(nb::module_& m) {
    using namespace partita::models;
    nb::enum_<MixtureStart>(m, "MixtureStart", "Where a run of the search of a table starts.")
        .value("given", MixtureStart::given)
        .value("seeds", MixtureStart::seeds)
        .value("annealed", MixtureStart::annealed);
    nb::class_<MixtureRun>(m, "MixtureRun", "The start of a run, with its number of seeds.")
        .def(nb::init<MixtureStart, std::size_t>(), nb::arg("kind"), nb::arg("seeds"));
    nb::class_<MixtureSearchPlan>(m, "MixturePlan", "The settings of a search of a table.")
        .def(
            "__init__",
            [](MixtureSearchPlan* self, const EvolutionPlan& evolution, std::size_t max_clusters,
               const nb::list& runs, std::size_t anneal_sweeps, std::size_t reheat_sweeps) {
                new (self) MixtureSearchPlan{evolution, max_clusters, values_of<MixtureRun>(runs),
                                             anneal_sweeps, reheat_sweeps};
            },
            nb::arg("evolution"), nb::kw_only(), nb::arg("max_clusters"), nb::arg("runs"),
            nb::arg("anneal_sweeps"), nb::arg("reheat_sweeps"));
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
            [](const Search& self, const Array2<std::uint32_t>& starts, const MixtureSearchPlan& plan,
               double seconds) {
                return search_tuple(seconds, [&](const partita::common::StopFlag& stop) {
                    return self.maximize(rows_of(starts), plan, stop);
                });
            },
            nb::arg("starts"), nb::arg("plan"), nb::arg("seconds"));
}
