// The lower bound on the least expected variation of information.
#include "bounds/row_bound.hpp"

#include "arrays.hpp"
#include "bindings.hpp"
#include "interrupt.hpp"
#include "sample_view.hpp"

using namespace nb::literals;

namespace {

nb::tuple row_bound(const SampleView& sample, double a, double b, double seconds, unsigned threads,
                    std::size_t max_anchored, std::size_t max_passes) {
    const partita::bounds::RowBoundOptions options{a, b, seconds, threads, max_anchored, max_passes};
    return sample.visit([&](const auto& draws) {
        partita::bounds::RowBoundResult result;
        run_interruptible([&](const partita::common::StopFlag& stop) {
            result = partita::bounds::row_bound(draws, options, stop);
        });
        return nb::make_tuple(result.value, result.rows_only, result.passes, result.triangles);
    });
}

} // namespace

void bind_row_bound(nb::module_& m) {
    m.def("row_bound", &row_bound, "sample"_a, "a"_a, "b"_a, "seconds"_a, "threads"_a,
          "max_anchored"_a = partita::bounds::RowBoundOptions{}.max_anchored,
          "max_passes"_a = partita::bounds::RowBoundOptions{}.max_passes);
}
