// Clustering ensembles: arrays in, arrays out.
#include "ensembles.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"

using namespace partita;
using ensembles::Concentration;

namespace {

const std::vector<std::string> stat_names{"log_density", "n_clusters", "alpha", "beta"};

/// A chain together with the arrays it reads.
template <class Label> struct Chain {
    Array2<Label> codes;
    Array1<std::uint32_t> n_labels;
    ensembles::Sampler<Label> sampler;

    Chain(Array2<Label> codes, Array1<std::uint32_t> n_labels, ensembles::Weights weights,
          std::uint32_t truncation, Concentration alpha, Concentration beta, Rng rng)
        : codes(codes), n_labels(n_labels),
          sampler({as_span(codes), as_span(n_labels)}, weights, truncation, alpha, beta, rng) {}
};

/// Labels and statistics after every sweep s > warmup with (s - warmup) divisible by thin.
template <class Label>
auto advance(Chain<Label>& chain, std::uint64_t sweeps, std::uint64_t warmup, std::uint64_t thin) {
    auto& sampler = chain.sampler;
    const auto n_items = sampler.state().n_items();
    const auto draws_after = [&](std::uint64_t s) { return s > warmup ? (s - warmup) / thin : 0; };
    const auto n_draws = draws_after(sampler.sweeps() + sweeps) - draws_after(sampler.sweeps());
    std::vector<std::uint32_t> labels(n_draws * n_items);
    std::vector<double> stats;
    {
        nb::gil_scoped_release release;
        auto* next = labels.data();
        for (std::uint64_t s = 0; s < sweeps; ++s) {
            const auto drawn = draws_after(sampler.sweeps());
            sampler.sweep();
            if (draws_after(sampler.sweeps()) == drawn)
                continue;
            const auto& state = sampler.state();
            state.write_labels(next);
            next += n_items;
            stats.insert(stats.end(), {sampler.log_joint(), static_cast<double>(state.n_clusters()),
                                       state.alpha(), state.beta()});
        }
    }
    return nb::make_tuple(to_numpy(std::move(labels), {n_draws, n_items}),
                          to_numpy(std::move(stats), {n_draws, stat_names.size()}));
}

template <class Label> void bind_chain(nb::module_& m, const char* name) {
    using C = Chain<Label>;
    nb::class_<C>(m, name)
        .def(
            "__init__",
            [](C* self, Array2<Label> codes, Array1<std::uint32_t> n_labels, bool sticks,
               std::uint32_t truncation, std::array<double, 4> alpha, std::array<double, 4> beta,
               std::uint64_t seed, std::uint64_t stream) {
                const auto given = [](const std::array<double, 4>& c) {
                    return Concentration{c[0], c[1] != 0.0, c[2], c[3]};
                };
                nb::gil_scoped_release release;
                new (self) C(codes, n_labels, sticks ? ensembles::Weights::tsb : ensembles::Weights::fsd,
                             truncation, given(alpha), given(beta), Rng(seed, stream));
            },
            nb::arg("codes"), nb::arg("n_labels"), nb::arg("sticks"), nb::arg("truncation"), nb::arg("alpha"),
            nb::arg("beta"), nb::arg("seed"), nb::arg("stream"))
        .def_prop_ro("sweeps", [](const C& c) { return c.sampler.sweeps(); })
        .def_prop_ro("stat_names", [](const C&) { return stat_names; })
        .def("advance", &advance<Label>, nb::arg("sweeps"), nb::arg("warmup"), nb::arg("thin"))
        .def("state",
             [](C& c) {
                 const auto bytes = c.sampler.bytes();
                 return nb::bytes(bytes.data(), bytes.size());
             })
        .def(
            "restore", [](C& c, const nb::bytes& bytes) { c.sampler.restore({bytes.c_str(), bytes.size()}); },
            nb::arg("state"));
}

} // namespace

void bind_ensembles(nb::module_& m) {
    bind_chain<std::uint8_t>(m, "NbceChain8");
    bind_chain<std::uint16_t>(m, "NbceChain16");
    bind_chain<std::uint32_t>(m, "NbceChain32");
}
