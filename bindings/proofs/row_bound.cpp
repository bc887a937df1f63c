// Lower bounds on the least expected variation of information: by rows of items, and by clusters.
#include "proofs/row_bound.hpp"
#include "proofs/pricing.hpp"

#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/common/held.hpp"
#include "bindings/common/interrupt.hpp"
#include "bindings/draws/problem.hpp"

using namespace nb::literals;

namespace {

nb::tuple row_bound(const SampleView& sample, double a, double b, double seconds, unsigned threads,
                    std::vector<std::uint32_t> anchors, std::size_t max_passes, double enough,
                    nb::object report, double per_cluster, std::size_t max_clusters) {
    partita::proofs::RowBoundOptions options{
        a, b, per_cluster, max_clusters, seconds, threads, std::move(anchors), max_passes, enough, {}};
    if (!report.is_none())
        options.report = [held = hold(std::move(report))](double value) {
            nb::gil_scoped_acquire acquire;
            (*held)(value);
        };
    return sample.visit([&](const auto& draws) {
        partita::proofs::RowBoundResult result;
        const bool interrupted = run_interruptible([&](const partita::common::StopFlag& stop) {
            result = partita::proofs::row_bound(draws, options, stop);
        });
        return nb::make_tuple(result.value, result.rows_only, result.passes, result.triangles, interrupted);
    });
}

using partita::proofs::ClusterCosts;
using partita::proofs::Items;

ClusterCosts make_costs(const SampleView& sample, double a, double b) {
    return sample.visit([&](const auto& draws) { return ClusterCosts(draws, a, b); });
}

/// From each start, with its anchor always included, to the nearest local minimum; fewer if the time ends.
nb::list descend(const ClusterCosts& costs, Array1<double> duals, const std::vector<Items>& starts,
                 const Items& anchors, double seconds, unsigned threads) {
    std::vector<partita::proofs::FoundCluster> found(starts.size());
    run_for(seconds, [&](const auto& stop) {
        partita::common::parallel_for(starts.size(), threads, stop, [&](std::size_t s, unsigned) {
            if (stop)
                return;
            partita::proofs::Family family{{anchors[s]}, {}, 1, costs.n_items()};
            for (std::uint32_t i = 0; i < costs.n_items(); ++i)
                if (i != anchors[s])
                    family.open.push_back(i);
            found[s] = partita::proofs::descend(costs, as_span(duals), family, starts[s]);
        });
    });
    nb::list out;
    for (const auto& cluster : found)
        if (!cluster.items.empty())
            out.append(nb::make_tuple(cluster.items, cluster.reduced));
    return out;
}

nb::tuple price(const ClusterCosts& costs, Array1<double> duals, const Items& homes, double seconds,
                unsigned threads, double per_cluster) {
    partita::proofs::Pricing result;
    const auto deadline = deadline_after(seconds);
    const partita::common::StopFlag stop;
    const bool interrupted = run_interruptible(
        stop,
        [&] { result = partita::proofs::price({costs, as_span(duals), homes, per_cluster}, threads, stop); },
        [&] { stop_after(deadline, stop); });
    return nb::make_tuple(result.proven, result.negative, result.families, interrupted);
}

} // namespace

void bind_row_bound(nb::module_& m) {
    m.def("row_bound", &row_bound, "sample"_a, "a"_a, "b"_a, "seconds"_a, "threads"_a,
          "anchors"_a = std::vector<std::uint32_t>{},
          "max_passes"_a = partita::proofs::RowBoundOptions{}.max_passes,
          "enough"_a = partita::proofs::RowBoundOptions{}.enough, "report"_a.none() = nb::none(),
          "per_cluster"_a = 0.0, "max_clusters"_a = 0);
    nb::class_<ClusterCosts>(m, "ClusterCosts", "Expected VI(a, b) as a sum over clusters.")
        .def(
            "cost", [](const ClusterCosts& costs, const Items& items) { return costs.cost(items); },
            "items"_a)
        .def("constant", &ClusterCosts::constant)
        .def("descend", &descend, "duals"_a, "starts"_a, "anchors"_a, "seconds"_a, "threads"_a)
        .def("price", &price, "duals"_a, "homes"_a, "seconds"_a, "threads"_a, "per_cluster"_a = 0.0);
    m.def("cluster_costs", &make_costs, "sample"_a, "a"_a, "b"_a);
}
