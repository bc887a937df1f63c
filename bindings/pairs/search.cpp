// Pair probabilities: estimates from them, and the probabilities of draws.
#include <nanobind/stl/optional.h>

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/common/interrupt.hpp"
#include "bindings/draws/problem.hpp"
#include "bindings/pairs/graph.hpp"
#include "pairs/from_draws.hpp"
#include "pairs/search.hpp"

using namespace nb::literals;

namespace {

nb::tuple as_tuple(pairs::Result result, bool interrupted) {
    std::vector<double> values, bounds;
    std::vector<std::uint8_t> proven;
    for (const auto& component : result.components) {
        values.push_back(component.value);
        bounds.push_back(component.bound);
        proven.push_back(component.proven);
    }
    return nb::make_tuple(to_numpy(std::move(result.labels)), to_numpy(std::move(result.component)),
                          to_numpy(std::move(values)), to_numpy(std::move(bounds)),
                          to_numpy(std::move(proven)), interrupted);
}

template <class Objective>
nb::tuple search_pairs(const GraphArrays& graph, const Objective& objective,
                       const ConstraintArrays& constraints, Array2<std::uint32_t> starts,
                       const pairs::Options& options) {
    pairs::Result result;
    const bool interrupted = run_interruptible([&](const partita::common::StopFlag& stop) {
        result = pairs::search(graph.view(), objective, constraints.view(), as_span(starts), options, stop);
    });
    return as_tuple(std::move(result), interrupted);
}

nb::tuple pairs_of(const SampleView& sample, double above, unsigned threads) {
    return sample.visit([&](const auto& draws) {
        pairs::PairList list;
        const bool interrupted = run_interruptible([&](const partita::common::StopFlag& stop) {
            list = pairs::pairs_of(draws, above, threads, stop);
        });
        return nb::make_tuple(to_numpy(std::move(list.left)), to_numpy(std::move(list.right)),
                              to_numpy(std::move(list.probability)), interrupted);
    });
}

} // namespace

void bind_pairs(nb::module_& m) {
    nb::class_<GraphArrays>(m, "PairGraph", "Items and their listed pairs, in symmetric rows.")
        .def(nb::init<Array1<std::int64_t>, Array1<std::uint32_t>, Array1<double>>(), "offsets"_a,
             "neighbours"_a, "probabilities"_a);
    nb::class_<ConstraintArrays>(m, "PairConstraints",
                                 "What must be together, apart, or from other sources; the largest clusters.")
        .def(nb::init<std::optional<Array1<std::uint32_t>>, std::optional<Array1<std::int64_t>>,
                      std::optional<Array1<std::uint32_t>>, std::optional<Array1<std::uint32_t>>,
                      std::uint32_t>(),
             "atom"_a.none(), "offsets"_a.none(), "apart"_a.none(), "source"_a.none(), "max_size"_a);
    nb::class_<pairs::Threshold>(m, "ThresholdObjective")
        .def(nb::init<double, double>(), "threshold"_a, "unlisted"_a);
    nb::class_<pairs::LogMass>(m, "LogMassObjective").def(nb::init<double, double>(), "a"_a, "b"_a);
    nb::class_<pairs::Options>(m, "PairOptions")
        .def(nb::init<std::uint32_t, std::uint32_t, double, unsigned, std::uint64_t>(), "runs"_a, "zealous"_a,
             "seconds"_a, "threads"_a, "seed"_a);
    m.def("search_pairs", &search_pairs<pairs::Threshold>, "graph"_a, "objective"_a, "constraints"_a,
          "starts"_a, "options"_a);
    m.def("search_pairs", &search_pairs<pairs::LogMass>, "graph"_a, "objective"_a, "constraints"_a,
          "starts"_a, "options"_a);
    m.def("pairs_of", &pairs_of, "sample"_a, "above"_a, "threads"_a);
}
