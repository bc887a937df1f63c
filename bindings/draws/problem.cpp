#include "bindings/draws/problem.hpp"

#include <nanobind/stl/optional.h>

#include "bindings/bindings.hpp"
#include "draws/memory.hpp"

using namespace nb::literals;
using partita::Sharing;
using partita::search::StateKind;

namespace {

template <class... Labels> void bind_labels(nb::class_<SampleView>& sample) {
    (sample.def(nb::init<const Array2<Labels>&, Array1<double>>(), "labels"_a.noconvert(), "weights"_a), ...);
}

} // namespace

void bind_problem(nb::module_& m) {
    nb::enum_<Sharing>(m, "Sharing", "Whether draws that have a cluster in common share its row.")
        .value("never", Sharing::never)
        .value("where_it_pays", Sharing::where_it_pays)
        .value("always", Sharing::always);
    nb::enum_<StateKind>(m, "StateKind", "How the partitions of a search are kept.")
        .value("where_it_pays", StateKind::where_it_pays)
        .value("dense", StateKind::dense)
        .value("sparse", StateKind::sparse)
        .value("matrix", StateKind::matrix);
    auto sample =
        nb::class_<SampleView>(m, "Sample", "Distinct draws and their weights, borrowed from NumPy.");
    bind_labels<std::int8_t, std::int16_t, std::int32_t, std::uint8_t, std::uint16_t, std::uint32_t>(sample);
    nb::class_<DrawsProblem>(m, "Problem", "Distinct draws under a loss.")
        .def(nb::init<SampleView, const LossHandle&, std::optional<Array1<std::uint32_t>>, Sharing>(),
             "sample"_a, "loss"_a, "copies"_a.none() = nb::none(), "sharing"_a = Sharing::where_it_pays)
        .def_prop_ro("state", &DrawsProblem::state, "How the default search keeps its partitions.")
        .def(
            "bytes_needed",
            [](const DrawsProblem& problem, StateKind state, std::uint32_t max_clusters, unsigned threads) {
                return problem.draws([&](const auto& draws) {
                    return partita::search::bytes_needed(draws, state, max_clusters, threads);
                });
            },
            "state"_a, "max_clusters"_a, "threads"_a,
            "Bytes that a search needs beyond the sample, predicted before it starts.");
}
