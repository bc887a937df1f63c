// Expected losses of merges and splits; empty if the time limit came first.
#include "draws/merge_split_losses.hpp"

#include <limits>

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/common/interrupt.hpp"
#include "bindings/draws/problem.hpp"

using namespace nb::literals;

namespace {

nb::object merge_losses(Array1<std::uint32_t> estimate, const DrawsProblem& problem, unsigned threads,
                        double seconds) {
    return problem.draws([&](const auto& draws) {
        std::vector<double> result;
        run_for(seconds, [&](const partita::common::StopFlag& stop) {
            result = partita::merge_losses(as_span(estimate), draws, problem.tables(), threads, stop);
        });
        const std::size_t k = result.empty() ? 0 : partita::count_clusters(as_span(estimate));
        return nb::cast(to_numpy(std::move(result), {k, k}));
    });
}

nb::object split_losses(Array1<std::uint32_t> estimate, const DrawsProblem& problem,
                        Array1<std::int64_t> starts, Array1<std::int64_t> part, unsigned threads,
                        double seconds) {
    return problem.draws([&](const auto& draws) {
        std::vector<double> result;
        run_for(seconds, [&](const partita::common::StopFlag& stop) {
            const partita::Splits splits{as_span(starts), as_span(part)};
            result = partita::split_losses(as_span(estimate), draws, problem.tables(), splits, threads, stop);
        });
        return nb::cast(to_numpy(std::move(result)));
    });
}

} // namespace

void bind_merge_split_losses(nb::module_& m) {
    constexpr auto forever = std::numeric_limits<double>::infinity();
    m.def("merge_losses", &merge_losses, "estimate"_a, "problem"_a, "threads"_a, "seconds"_a = forever);
    m.def("split_losses", &split_losses, "estimate"_a, "problem"_a, "starts"_a, "part"_a, "threads"_a,
          "seconds"_a = forever);
}
