// The best of all partitions of a few items.
#include "draws/enumerate.hpp"

#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/common/interrupt.hpp"
#include "bindings/draws/problem.hpp"

using namespace nb::literals;

namespace {

using Lists = std::vector<std::vector<std::uint32_t>>;

nb::tuple enumerate_best(const DrawsProblem& problem, std::size_t max_clusters, Lists atoms, Lists apart,
                         std::size_t max_size, unsigned threads, double seconds) {
    const partita::Restrictions restrictions{std::move(atoms), std::move(apart), max_size};
    return problem.draws([&](const auto& draws) {
        partita::Enumerated best;
        const auto deadline = deadline_after(seconds);
        const partita::common::StopFlag stop;
        const bool interrupted = run_interruptible(
            stop,
            [&] {
                best = partita::enumerate_best(draws, problem.tables(), max_clusters, restrictions, threads,
                                               stop);
            },
            [&] { stop_after(deadline, stop); });
        return nb::make_tuple(to_numpy(std::move(best.labels)), best.loss, interrupted, bool{stop});
    });
}

} // namespace

void bind_enumerate(nb::module_& m) {
    m.def("enumerate_best", &enumerate_best, "problem"_a, "max_clusters"_a, "atoms"_a, "apart"_a,
          "max_size"_a, "threads"_a, "seconds"_a);
}
