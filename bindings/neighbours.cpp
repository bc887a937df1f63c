// Expected losses of merges and splits.
#include "neighbours.hpp"

#include "arrays.hpp"
#include "bindings.hpp"
#include "loss_handle.hpp"
#include "sample_view.hpp"

using namespace nb::literals;

namespace {

nb::object merge_losses(Array1<std::uint32_t> estimate, const SampleView& sample, const LossHandle& loss,
                        unsigned threads) {
    return sample.visit([&](const auto& draws) {
        std::vector<double> result;
        {
            nb::gil_scoped_release release;
            const partita::LossTables tables(loss.loss, draws.n_items);
            result = partita::merge_losses(as_span(estimate), draws, tables, threads);
        }
        const std::size_t k = partita::count_clusters(as_span(estimate));
        return nb::cast(to_numpy(std::move(result), {k, k}));
    });
}

nb::object split_losses(Array1<std::uint32_t> estimate, const SampleView& sample, const LossHandle& loss,
                        Array1<std::int64_t> starts, Array1<std::int64_t> part, unsigned threads) {
    return sample.visit([&](const auto& draws) {
        std::vector<double> result;
        {
            nb::gil_scoped_release release;
            const partita::LossTables tables(loss.loss, draws.n_items);
            const partita::Splits splits{as_span(starts), as_span(part)};
            result = partita::split_losses(as_span(estimate), draws, tables, splits, threads);
        }
        return nb::cast(to_numpy(std::move(result)));
    });
}

} // namespace

void bind_neighbours(nb::module_& m) {
    m.def("merge_losses", &merge_losses, "estimate"_a, "sample"_a, "loss"_a, "threads"_a);
    m.def("split_losses", &split_losses, "estimate"_a, "sample"_a, "loss"_a, "starts"_a, "part"_a,
          "threads"_a);
}
