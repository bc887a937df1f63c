// The methods that Python asks of every chain.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <utility>

#include "bindings/common/arrays.hpp"
#include "mcmc/chain.hpp"

/// `visit(bound, work)` calls work(chain) with the chain of a Python object, and returns what it returns.
template <class Bound, class Visit> void bind_chain_methods(nb::class_<Bound>& type, Visit visit) {
    type.def_prop_ro("sweeps",
                     [visit](Bound& self) { return visit(self, [](auto& chain) { return chain.sweeps(); }); })
        .def_prop_ro(
            "stat_names",
            [visit](Bound& self) { return visit(self, [](auto& chain) { return chain.stat_names(); }); })
        .def(
            "advance",
            [visit](Bound& self, std::uint64_t sweeps, std::uint64_t warmup, std::uint64_t thin,
                    const partita::common::StopFlag* stop) {
                auto draws = visit(self, [&](auto& chain) {
                    nb::gil_scoped_release release;
                    return partita::common::advance(chain, sweeps, {warmup, thin}, stop);
                });
                return nb::make_tuple(to_numpy(std::move(draws.labels), {draws.n_draws, draws.n_items}),
                                      to_numpy(std::move(draws.stats), {draws.n_draws, draws.n_stats}));
            },
            nb::arg("sweeps"), nb::arg("warmup"), nb::arg("thin"), nb::arg("stop").none() = nb::none())
        .def("state",
             [visit](Bound& self) {
                 const auto bytes = visit(self, [](auto& chain) { return chain.state(); });
                 return nb::bytes(bytes.data(), bytes.size());
             })
        .def(
            "restore",
            [visit](Bound& self, const nb::bytes& bytes) {
                visit(self, [&](auto& chain) { chain.restore(std::string(bytes.c_str(), bytes.size())); });
            },
            nb::arg("state"));
}
