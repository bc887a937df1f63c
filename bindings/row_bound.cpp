// The lower bound on the least expected variation of information.
#include "bounds/row_bound.hpp"

#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "held.hpp"
#include "interrupt.hpp"
#include "sample_view.hpp"

using namespace nb::literals;

namespace {

nb::tuple row_bound(const SampleView& sample, double a, double b, double seconds, unsigned threads,
                    std::vector<std::uint32_t> anchors, std::size_t max_passes, double enough,
                    nb::object report) {
    partita::bounds::RowBoundOptions options{a,          b,      seconds, threads, std::move(anchors),
                                             max_passes, enough, {}};
    if (!report.is_none())
        options.report = [held = hold(std::move(report))](double value) {
            nb::gil_scoped_acquire acquire;
            (*held)(value);
        };
    return sample.visit([&](const auto& draws) {
        partita::bounds::RowBoundResult result;
        const bool interrupted = run_interruptible([&](const partita::common::StopFlag& stop) {
            result = partita::bounds::row_bound(draws, options, stop);
        });
        return nb::make_tuple(result.value, result.rows_only, result.passes, result.triangles, interrupted);
    });
}

} // namespace

void bind_row_bound(nb::module_& m) {
    m.def("row_bound", &row_bound, "sample"_a, "a"_a, "b"_a, "seconds"_a, "threads"_a,
          "anchors"_a = std::vector<std::uint32_t>{},
          "max_passes"_a = partita::bounds::RowBoundOptions{}.max_passes,
          "enough"_a = partita::bounds::RowBoundOptions{}.enough, "report"_a.none() = nb::none());
}
