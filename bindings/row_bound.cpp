// The lower bound on the least expected variation of information.
#include "row_bound.hpp"

#include "arrays.hpp"
#include "bindings.hpp"
#include "interrupt.hpp"
#include "sample_view.hpp"

using namespace nb::literals;

namespace {

nb::tuple row_bound(const SampleView& sample, double a, double b, double seconds, unsigned threads,
                    std::size_t most_anchored) {
    const partita::RowBoundOptions options{a, b, seconds, threads, most_anchored};
    return sample.visit([&](const auto& draws) {
        partita::RowBoundResult result;
        run_interruptible(
            [&](partita::StopFlag& stop) { result = partita::row_bound(draws, options, stop); });
        return nb::make_tuple(result.value, result.rows_only, result.passes, result.triangles);
    });
}

} // namespace

void bind_row_bound(nb::module_& m) {
    m.def("row_bound", &row_bound, "sample"_a, "a"_a, "b"_a, "seconds"_a, "threads"_a,
          "most_anchored"_a = partita::RowBoundOptions{}.most_anchored);
}
