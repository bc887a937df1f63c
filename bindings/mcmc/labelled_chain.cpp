// Block models whose clusters have priors of their own: the conversion of arrays.
#include <nanobind/nanobind.h>

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/common/interrupt.hpp"
#include "bindings/mcmc/chain.hpp"
#include "mcmc/labelled_chain.hpp"
#include "networks/block_model.hpp"

using namespace partita::models;

namespace {

using Labels = Array1<std::uint32_t>;

std::vector<double> copy_of(const Array2<double>& array) {
    return {array.data(), array.data() + array.size()};
}

nb::tuple climb(const LabelledModel& model, const Labels& labels, std::uint64_t seed, std::size_t sweeps) {
    std::vector<std::uint32_t> found;
    double density = 0.0;
    const bool interrupted = run_interruptible([&](const partita::common::StopFlag& stop) {
        partita::common::Rng rng(seed, 0);
        found = model.climb(as_span(labels), rng, sweeps, stop);
        density = model.log_density(model.make_state(found));
    });
    return nb::make_tuple(to_numpy(std::move(found)), density, interrupted);
}

} // namespace

void bind_labelled_chain(nb::module_& m) {
    nb::class_<LabelledModel>(m, "LabelledModel",
                              "Blocks with priors of their own; use partita.models instead.")
        .def(
            "__init__",
            [](LabelledModel* self, const BlockModel& model, bool counts, const Array2<double>& first,
               const Array2<double>& second, bool degree_corrected, double n0) {
                const auto& network = model.network();
                LabelledBlocks blocks(counts, first.shape(0), copy_of(first), copy_of(second),
                                      1.0 / static_cast<double>(network.pair_exposure));
                new (self) LabelledModel(network, std::move(blocks), degree_corrected, n0);
            },
            nb::keep_alive<1, 2>(), nb::arg("model"), nb::arg("counts"), nb::arg("first"), nb::arg("second"),
            nb::arg("degree_corrected"), nb::arg("n0"))
        .def("icl", [](const LabelledModel& self,
                       const Labels& labels) { return self.log_density(self.make_state(as_span(labels))); })
        .def("climb", &climb, nb::arg("labels"), nb::arg("seed"), nb::arg("sweeps"));

    nb::class_<LabelledChain> chain(m, "LabelledChain", "A chain of a LabelledModel.");
    chain.def(
        "__init__",
        [](LabelledChain* self, const LabelledModel& model, std::uint64_t seed, std::uint64_t stream) {
            new (self) LabelledChain(model, seed, stream);
        },
        nb::keep_alive<1, 2>(), nb::arg("model"), nb::arg("seed"), nb::arg("stream"));
    bind_chain_methods(chain, [](LabelledChain& self, auto work) { return work(self); });
}
