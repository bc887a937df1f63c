// What Python sees of every mixture sampler.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>

#include <optional>
#include <utility>
#include <vector>

#include "bindings/common/arrays.hpp"
#include "bindings/mcmc/chain.hpp"
#include "mixtures/mixtures.hpp"

/// Log weights of new items for every cluster of a given partition (canonical labels), the last column for a
/// new one.
template <class Family>
NumpyOut<double> score_table(partita::models::MixtureSampler<Family>& sampler,
                             const Array1<std::uint32_t>& labels, double alpha, const nb::list& place,
                             const typename Family::Table& table) {
    sampler.set_state(as_span(labels), alpha, values_of<std::uint32_t>(place));
    const auto clusters = sampler.n_clusters(), columns = clusters + 1;
    std::vector<double> scores(table.n_items() * columns);
    {
        nb::gil_scoped_release release;
        for (std::size_t row = 0; row < table.n_items(); ++row) {
            const auto found = sampler.score_new(table.item(row));
            std::copy_n(found.begin(), clusters, scores.begin() + static_cast<std::ptrdiff_t>(row * columns));
            scores[row * columns + clusters] = found[sampler.open_slot()];
        }
    }
    return to_numpy(std::move(scores), {table.n_items(), columns});
}

/// The types of what a sampler's table and family are made of.
template <class... Types> struct Inputs {};

/// A constructor of (inputs, prior, moves, random numbers, start) and the methods of a chain.
/// `make(inputs...)` gives the table and the family.
template <class Family, class... Types, class Make, class... Names>
nb::class_<partita::models::MixtureSampler<Family>>
bind_sampler(nb::module_& m, const char* name, Inputs<Types...>, Make make, Names... names) {
    using namespace partita::models;
    using Sampler = MixtureSampler<Family>;
    nb::class_<Sampler> type(m, name);
    type.def(
        "__init__",
        [make](Sampler* self, const Types&... inputs, PartitionPriorSettings prior,
               std::optional<double> split_merges, std::uint32_t restricted_scans, std::uint64_t seed,
               std::uint64_t stream, const Array1<std::uint32_t>& labels, std::uint64_t warmup) {
            auto [table, family] = make(inputs...);
            new (self)
                Sampler(std::move(table), std::move(family), std::move(prior),
                        MixtureMoves{split_merges, restricted_scans, warmup}, seed, stream, as_span(labels));
        },
        names..., nb::arg("prior"), nb::arg("split_merges").none(), nb::arg("restricted_scans"),
        nb::arg("seed"), nb::arg("stream"), nb::arg("labels"), nb::arg("warmup") = 0);
    bind_chain_methods(type, [](Sampler& self, auto work) { return work(self); });
    return type;
}
