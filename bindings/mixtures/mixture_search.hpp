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
    using namespace partita::mixtures;
    nb::class_<SearchPlan>(m, "MixturePlan", "The settings of a search of a table; cpp/mixtures/policy.")
        .def(
            "__init__",
            [](SearchPlan* self, std::size_t n_items, std::size_t restarts, std::size_t n_given,
               std::size_t max_clusters, std::uint64_t seed, unsigned threads) {
                new (self) SearchPlan(search_plan(n_items, restarts, n_given, max_clusters, seed, threads));
            },
            nb::kw_only(), nb::arg("n_items"), nb::arg("restarts"), nb::arg("n_given"),
            nb::arg("max_clusters"), nb::arg("seed"), nb::arg("threads"))
        .def_prop_ro("kinds", [](const SearchPlan& self) {
            constexpr const char* names[] = {"given", "seeds", "annealed"};
            nb::list kinds;
            for (const auto& run : self.runs)
                kinds.append(names[static_cast<std::size_t>(run.kind)]);
            return kinds;
        });
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
        .def("merge_path", &merge_path<Search>)
        .def(
            "maximize",
            [](const Search& self, const Array2<std::uint32_t>& starts,
               const partita::mixtures::SearchPlan& plan, double seconds) {
                return search_tuple(seconds, [&](const partita::common::StopFlag& stop) {
                    return self.maximize(rows_of(starts), plan, stop);
                });
            },
            nb::arg("starts"), nb::arg("plan"), nb::arg("seconds"));
}
