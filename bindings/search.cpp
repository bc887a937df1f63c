// The searches: options in, runs out.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "arrays.hpp"
#include "bindings.hpp"
#include "interrupt.hpp"
#include "loss_handle.hpp"
#include "sample_view.hpp"
#include "search/search.hpp"

using namespace nb::literals;
using partita::Run;
using partita::SearchOptions;

namespace {

/// Calls the Python function with (loss, clusters) of a finished run.
partita::Progress python_progress(nb::object report) {
    if (report.is_none())
        return {};
    return [report](const Run& run) {
        nb::gil_scoped_acquire acquire;
        report(run.loss, run.clusters);
    };
}

template <class Label>
std::vector<Run> run_method(const std::string& method, const partita::Draws<Label>& draws,
                            const partita::LossTables& tables, const SearchOptions& options,
                            const partita::StopFlag& stop, const partita::Progress& progress) {
    if (method == "search")
        return partita::search(draws, tables, options, stop, progress);
    const partita::Problem problem(draws, tables);
    if (method == "salso")
        return partita::run_all(partita::salso_run, problem, options, stop, progress);
    if (method == "greedy")
        return partita::run_all(partita::greedy_run, problem, options, stop, progress);
    throw std::invalid_argument("unknown method " + method);
}

/// Returns the runs and whether Ctrl-C ended them early.
nb::tuple search(const SampleView& sample, const LossHandle& loss, const std::string& method,
                 const SearchOptions& options, nb::object report) {
    return sample.visit([&](const auto& draws) {
        const auto progress = python_progress(report);
        std::vector<Run> runs;
        const bool interrupted = run_interruptible([&](const partita::StopFlag& stop) {
            const partita::LossTables tables(loss.loss, draws.n_items);
            runs = run_method(method, draws, tables, options, stop, progress);
        });
        return nb::make_tuple(nb::cast(std::move(runs)), interrupted);
    });
}

} // namespace

void bind_search(nb::module_& m) {
    nb::class_<SearchOptions>(m, "SearchOptions", "Options of a search, all resolved.")
        .def(nb::init<>())
        .def_rw("runs", &SearchOptions::runs)
        .def_rw("seconds", &SearchOptions::seconds)
        .def_rw("max_clusters", &SearchOptions::max_clusters)
        .def_rw("start_groups", &SearchOptions::start_groups)
        .def_rw("zealous", &SearchOptions::zealous)
        .def_rw("p_sequential", &SearchOptions::p_sequential)
        .def_rw("threads", &SearchOptions::threads)
        .def_rw("seed", &SearchOptions::seed);
    nb::class_<Run>(m, "Run", "A finished run.")
        .def_prop_ro(
            "labels", [](const Run& run) { return to_numpy(std::vector<std::uint32_t>(run.labels)); },
            nb::rv_policy::move)
        .def_ro("start", &Run::start)
        .def_prop_ro("sweeps", [](const Run& run) { return run.tally.sweeps; })
        .def_prop_ro("moves", [](const Run& run) { return run.tally.moves; })
        .def_prop_ro("trace", [](const Run& run) { return run.tally.trace; })
        .def_ro("loss", &Run::loss)
        .def_ro("clusters", &Run::clusters)
        .def_ro("seconds", &Run::seconds);
    m.def("search", &search, "sample"_a, "loss"_a, "method"_a, "options"_a, "report"_a.none());
}
