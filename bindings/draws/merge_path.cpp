// The path of least-loss merges.
#include "draws/merge_path.hpp"

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/common/interrupt.hpp"
#include "bindings/draws/problem.hpp"

using namespace nb::literals;

namespace {

nb::tuple merge_path(Array1<std::uint32_t> estimate, const SampleView& sample, double a, double b,
                     Array1<double> phi) {
    return sample.visit([&](const auto& draws) {
        std::vector<partita::Merge> path;
        const auto steps = static_cast<double>(draws.n_draws() * draws.n_items);
        run_or_raise(steps, [&](const partita::common::StopFlag& stop) {
            path = partita::merge_path(as_span(estimate), draws, {a, b, as_span(phi)}, stop);
        });
        std::vector<std::uint32_t> pairs, sizes;
        std::vector<double> changes;
        for (const auto& merge : path) {
            pairs.insert(pairs.end(), {merge.left, merge.right});
            sizes.push_back(merge.size);
            changes.push_back(merge.change);
        }
        return nb::make_tuple(to_numpy(std::move(pairs), {path.size(), 2}), to_numpy(std::move(sizes)),
                              to_numpy(std::move(changes)));
    });
}

} // namespace

void bind_merge_path(nb::module_& m) {
    m.def("merge_path", &merge_path, "estimate"_a, "sample"_a, "a"_a, "b"_a, "phi"_a);
}
