// Components of items that are ever together, and the optimum of the small ones.
#include "draws/components.hpp"

#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/common/interrupt.hpp"
#include "bindings/draws/problem.hpp"

using namespace nb::literals;

namespace {

using Lists = std::vector<std::vector<std::uint32_t>>;

NumpyOut<std::uint32_t> components(const SampleView& sample) {
    return sample.visit([&](const auto& draws) {
        std::vector<std::uint32_t> found;
        {
            nb::gil_scoped_release release;
            found = partita::search::find_components(draws);
        }
        return to_numpy(std::move(found));
    });
}

/// For each item its component and best label; for each component the least value and that of the given
/// labels; the constant; and whether Ctrl-C came.
nb::tuple solve_parts(const DrawsProblem& problem, std::optional<Array1<std::uint32_t>> labels, Lists atoms,
                      Lists apart, std::size_t max_size, unsigned threads) {
    const partita::Restrictions restrictions{std::move(atoms), std::move(apart), max_size};
    return problem.draws([&](const auto& draws) {
        partita::search::Parts parts;
        double constant = 0;
        const bool interrupted = run_interruptible([&](const partita::common::StopFlag& stop) {
            const partita::search::SparseProblem sparse(draws, problem.tables(), threads,
                                                        partita::search::SparseProblem::Order::as_given);
            constant = sparse.loss_of(0);
            const auto given = labels ? as_span(*labels) : std::span<const std::uint32_t>{};
            parts = partita::search::solve_parts(sparse, given, restrictions, threads, stop);
            for (auto* values : {&parts.least, &parts.given})
                for (auto& value : *values)
                    value *= sparse.unit();
        });
        return nb::make_tuple(to_numpy(std::move(parts.component)), to_numpy(std::move(parts.labels)),
                              to_numpy(std::move(parts.least)), to_numpy(std::move(parts.given)), constant,
                              interrupted);
    });
}

} // namespace

void bind_components(nb::module_& m) {
    m.attr("MAX_ENUMERATED") = partita::search::max_enumerated;
    m.def("components", &components, "sample"_a);
    m.def("solve_parts", &solve_parts, "problem"_a, "labels"_a.none(), "atoms"_a, "apart"_a, "max_size"_a,
          "threads"_a);
}
