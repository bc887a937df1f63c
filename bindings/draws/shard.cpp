// A shard of the draws: labels in, whole numbers out.
#include "draws/shard.hpp"

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/draws/problem.hpp"

using namespace nb::literals;

namespace {

/// A shard, which borrows the arrays and tables of its problem.
class PythonShard {
public:
    PythonShard(const DrawsProblem& problem, Array1<std::uint32_t> ends, std::size_t slots, double unit)
        : shard_(problem.draws([&](const auto& draws) {
              return partita::search::Shard(draws, problem.tables(), as_span(ends), slots, unit);
          })) {}

    NumpyOut<std::int64_t> scores(std::size_t slot, Array1<std::uint32_t> labels, Array1<std::uint32_t> items,
                                  bool precise) {
        std::vector<std::int64_t> found;
        {
            nb::gil_scoped_release release;
            shard_.assign(slot, as_span(labels));
            found = shard_.scores(slot, as_span(items), precise);
        }
        return to_numpy(std::move(found), {items.size(), shard_.n_clusters(slot) + std::size_t{1}});
    }

    NumpyOut<std::int64_t> merge_changes(std::size_t slot, Array1<std::uint32_t> labels) {
        std::vector<std::int64_t> found;
        {
            nb::gil_scoped_release release;
            shard_.assign(slot, as_span(labels));
            found = shard_.merge_changes(slot);
        }
        const std::size_t clusters = shard_.n_clusters(slot);
        return to_numpy(std::move(found), {clusters, clusters});
    }

    std::int64_t value(std::size_t slot, Array1<std::uint32_t> labels) {
        nb::gil_scoped_release release;
        shard_.assign(slot, as_span(labels));
        return shard_.value(slot);
    }

private:
    partita::search::Shard shard_;
};

} // namespace

void bind_shard(nb::module_& m) {
    nb::class_<PythonShard>(m, "Shard", "Some of the draws, and the partitions under search on them.")
        .def(nb::init<const DrawsProblem&, Array1<std::uint32_t>, std::size_t, double>(),
             nb::keep_alive<1, 2>(), "problem"_a, "ends"_a, "slots"_a, "unit"_a)
        .def("scores", &PythonShard::scores, "slot"_a, "labels"_a, "items"_a, "precise"_a)
        .def("merge_changes", &PythonShard::merge_changes, "slot"_a, "labels"_a)
        .def("value", &PythonShard::value, "slot"_a, "labels"_a);
}
