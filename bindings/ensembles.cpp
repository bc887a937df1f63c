// Clustering ensembles: arrays in, arrays out.
#include "ensembles.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "interrupt.hpp"

using namespace partita;
using ensembles::Concentration;

namespace {

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

template <class Label>
bool sweep(const std::vector<Chain<Label>*>& chains, std::size_t sweeps, unsigned threads) {
    return run_interruptible([&](const StopFlag& stop) {
        parallel_for(chains.size(), threads, [&](std::size_t chain, unsigned) {
            for (std::size_t s = 0; s < sweeps && !stop; ++s)
                chains[chain]->sampler.sweep();
        });
    });
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
        .def_prop_ro("labels", [](const C& c) { return to_numpy(c.sampler.state().labels()); })
        .def_prop_ro("n_clusters", [](const C& c) { return c.sampler.state().n_clusters(); })
        .def_prop_ro("alpha", [](const C& c) { return c.sampler.state().alpha(); })
        .def_prop_ro("beta", [](const C& c) { return c.sampler.state().beta(); })
        .def_prop_ro("log_joint", [](const C& c) { return c.sampler.log_joint(); });
    m.def("nbce_sweep", &sweep<Label>, nb::arg("chains"), nb::arg("sweeps"), nb::arg("threads"));
}

} // namespace

void bind_ensembles(nb::module_& m) {
    bind_chain<std::uint8_t>(m, "NbceChain8");
    bind_chain<std::uint16_t>(m, "NbceChain16");
    bind_chain<std::uint32_t>(m, "NbceChain32");
}
