// Clustering ensembles: arrays in, arrays out.
#include "ensembles/sampler.hpp"

#include <nanobind/stl/variant.h>

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/mcmc/chain.hpp"

namespace ensembles = partita::ensembles;
using ensembles::Concentration;

namespace {

/// A chain together with the arrays it reads.
template <class Label> struct BoundChain {
    Array2<Label> codes;
    Array1<std::uint32_t> n_labels;
    Array1<double> powers;
    ensembles::Sampler<Label> sampler;

    BoundChain(Array2<Label> codes, Array1<std::uint32_t> n_labels, Array1<double> powers,
               ensembles::Weights weights, std::uint32_t truncation, Concentration alpha, Concentration beta,
               partita::common::Rng rng)
        : codes(codes), n_labels(n_labels), powers(powers),
          sampler({as_span(codes), as_span(n_labels), as_span(powers)}, weights, truncation, alpha, beta,
                  rng) {}
};

template <class Label> void bind_chain(nb::module_& m, const char* name) {
    using C = BoundChain<Label>;
    nb::class_<C> type(m, name);
    type.def(
        "__init__",
        [](C* self, Array2<Label> codes, Array1<std::uint32_t> n_labels, Array1<double> weights, bool sticks,
           std::uint32_t truncation, Concentration alpha, Concentration beta, std::uint64_t seed,
           std::uint64_t stream) {
            new (self) C(codes, n_labels, weights, sticks ? ensembles::Weights::tsb : ensembles::Weights::fsd,
                         truncation, alpha, beta, partita::common::Rng(seed, stream));
        },
        nb::arg("codes"), nb::arg("n_labels"), nb::arg("weights"), nb::arg("sticks"), nb::arg("truncation"),
        nb::arg("alpha"), nb::arg("beta"), nb::arg("seed"), nb::arg("stream"));
    bind_chain_methods(type, [](C& self, auto work) { return work(self.sampler); });
}

} // namespace

void bind_ensembles(nb::module_& m) {
    bind_chain<std::uint8_t>(m, "NbceChain8");
    bind_chain<std::uint16_t>(m, "NbceChain16");
    bind_chain<std::uint32_t>(m, "NbceChain32");
}
