// The searches: options in, runs out.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/common/held.hpp"
#include "bindings/common/interrupt.hpp"
#include "bindings/draws/problem.hpp"
#include "draws/constrained.hpp"
#include "draws/methods.hpp"
#include "draws/noise.hpp"

using namespace nb::literals;
using partita::search::Run;
using partita::search::SearchOptions;
using partita::search::SearchResult;
using partita::search::Stage;
using partita::search::StateKind;

namespace {

/// Calls the Python function with (loss, clusters) of a finished run.
partita::search::Progress python_progress(nb::object report) {
    if (report.is_none())
        return {};
    return [held = hold(std::move(report))](const Run& run) {
        nb::gil_scoped_acquire acquire;
        (*held)(run.loss, run.clusters);
    };
}

/// A Python function that takes a Stage and returns the runs that were done.
partita::search::StageExecutor python_stage(nb::object executor) {
    if (executor.is_none())
        return {};
    return [held = hold(std::move(executor))](const Stage& stage) {
        nb::gil_scoped_acquire acquire;
        return nb::cast<std::vector<Run>>((*held)(stage));
    };
}

/// The options of a search of the problem, with stages done by `executor`.
SearchOptions resolved(SearchOptions options, const DrawsProblem& problem, nb::object executor = nb::none()) {
    if (options.state == StateKind::where_it_pays)
        options.state = problem.state();
    options.executor = python_stage(std::move(executor));
    return options;
}

/// Calls work(draws, stop); returns its runs, whether Ctrl-C ended them early, and how many starts were made.
template <class Work> nb::tuple interruptible_runs(const DrawsProblem& problem, Work work) {
    return problem.draws([&](const auto& draws) {
        SearchResult found;
        const bool interrupted =
            run_interruptible([&](const partita::common::StopFlag& stop) { found = work(draws, stop); });
        return nb::make_tuple(nb::cast(std::move(found.runs)), interrupted, found.n_started);
    });
}

nb::tuple search(const DrawsProblem& problem, const std::string& method, const SearchOptions& options,
                 nb::object report, nb::object executor) {
    const auto progress = python_progress(report);
    const auto given = resolved(options, problem, std::move(executor));
    return interruptible_runs(problem, [&](const auto& draws, const auto& stop) {
        return partita::search::run_method(method, draws, problem.tables(), given, stop, progress);
    });
}

std::vector<Run> begun_at(const Array2<std::uint32_t>& starts) {
    std::vector<Run> begun(starts.shape(0));
    for (std::size_t row = 0; row < begun.size(); ++row) {
        const auto labels = as_span(starts).subspan(row * starts.shape(1), starts.shape(1));
        begun[row].labels.assign(labels.begin(), labels.end());
        begun[row].start = "coarse";
    }
    return begun;
}

/// No runs if the problem does not suit.
nb::tuple refine_with_noise(const DrawsProblem& problem, Array2<std::uint32_t> starts,
                            const SearchOptions& options, nb::object report) {
    const auto progress = python_progress(report);
    const auto begun = begun_at(starts);
    return interruptible_runs(problem, [&](const auto& draws, const auto& stop) {
        auto runs =
            partita::search::refine_with_noise(draws, problem.tables(), options, begun, stop, progress);
        return partita::search::each_started(runs ? *std::move(runs) : std::vector<Run>{});
    });
}

nb::tuple refine(const DrawsProblem& problem, Array2<std::uint32_t> starts, const SearchOptions& options,
                 nb::object report, nb::object executor) {
    const auto progress = python_progress(report);
    const auto given = resolved(options, problem, std::move(executor));
    const auto begun = begun_at(starts);
    return interruptible_runs(problem, [&](const auto& draws, const auto& stop) {
        return partita::search::each_started(
            partita::search::refine(draws, problem.tables(), given, begun, stop, progress));
    });
}

using Lists = std::vector<std::vector<std::uint32_t>>;

nb::tuple search_constrained(const DrawsProblem& problem, Lists atoms, Lists apart, std::size_t max_size,
                             const Lists& starts, const SearchOptions& options, nb::object report) {
    const auto progress = python_progress(report);
    const partita::Restrictions restrictions{std::move(atoms), std::move(apart), max_size};
    std::vector<Run> given(starts.size());
    for (std::size_t start = 0; start < starts.size(); ++start) {
        given[start].labels = starts[start];
        given[start].start = "given";
    }
    return interruptible_runs(problem, [&](const auto& draws, const auto& stop) {
        return partita::search::search_constrained(draws, problem.tables(), restrictions, given, options,
                                                   stop, progress);
    });
}

/// What is pickled of a run.
using RunState =
    std::tuple<Array1<std::uint32_t>, std::string, std::uint64_t, std::uint64_t, std::vector<double>,
               std::vector<std::uint32_t>, double, std::uint32_t, double, double, double>;

} // namespace

void bind_search(nb::module_& m) {
    using State = std::tuple<std::uint32_t, bool, double, std::uint32_t, std::uint32_t, std::uint32_t, double,
                             unsigned, std::uint64_t, std::uint8_t, Lists>;
    nb::class_<SearchOptions>(m, "SearchOptions", "The settings of a search, all resolved.")
        .def(nb::init<>())
        .def_rw("runs", &SearchOptions::runs)
        .def_rw("adapts", &SearchOptions::adapts)
        .def_rw("seconds", &SearchOptions::seconds)
        .def_rw("max_clusters", &SearchOptions::max_clusters)
        .def_rw("start_groups", &SearchOptions::start_groups)
        .def_rw("zealous", &SearchOptions::zealous)
        .def_rw("p_sequential", &SearchOptions::p_sequential)
        .def_rw("threads", &SearchOptions::threads)
        .def_rw("seed", &SearchOptions::seed)
        .def_rw("state", &SearchOptions::state)
        .def_rw("starts", &SearchOptions::starts)
        .def(
            "within",
            [](SearchOptions options, double seconds) {
                options.seconds = seconds;
                return options;
            },
            "seconds"_a, "The same settings with another time limit.")
        .def("__getstate__",
             [](const SearchOptions& self) {
                 return State(self.runs, self.adapts, self.seconds, self.max_clusters, self.start_groups,
                              self.zealous, self.p_sequential, self.threads, self.seed,
                              static_cast<std::uint8_t>(self.state), self.starts);
             })
        .def("__setstate__", [](SearchOptions& self, const State& state) {
            new (&self) SearchOptions{std::get<0>(state), std::get<1>(state),
                                      std::get<2>(state), std::get<3>(state),
                                      std::get<4>(state), std::get<5>(state),
                                      std::get<6>(state), std::get<7>(state),
                                      std::get<8>(state), static_cast<StateKind>(std::get<9>(state)),
                                      std::get<10>(state)};
        });
    nb::class_<Stage>(m, "Stage", "Runs that do not depend on each other.")
        .def_ro("n_runs", &Stage::n_runs)
        .def(
            "run",
            [](const Stage& stage, std::size_t index) {
                if (index >= stage.n_runs)
                    throw std::out_of_range("the stage has no run of that number");
                return stage.one(index);
            },
            "index"_a, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("stopped", [](const Stage& stage) { return stage.stopped(); });
    nb::class_<Run>(m, "Run", "A finished run.")
        .def(nb::init<>(), "No run: one that was not done.")
        .def_prop_ro(
            "labels", [](const Run& run) { return to_numpy(std::vector<std::uint32_t>(run.labels)); },
            nb::rv_policy::move)
        .def_ro("start", &Run::start)
        .def_prop_ro("sweeps", [](const Run& run) { return run.tally.sweeps; })
        .def_prop_ro("moves", [](const Run& run) { return run.tally.moves; })
        .def_prop_ro("trace", [](const Run& run) { return run.tally.trace; })
        .def_ro("loss", &Run::loss)
        .def_ro("clusters", &Run::clusters)
        .def_ro("seconds", &Run::seconds)
        .def_ro("clusters_per_row", &Run::clusters_per_row)
        .def("__getstate__",
             [](const Run& run) {
                 return nb::make_tuple(to_numpy(std::vector<std::uint32_t>(run.labels)), run.start,
                                       run.tally.sweeps, run.tally.moves, run.tally.trace, run.tally.boundary,
                                       run.loss, run.clusters, run.seconds, run.clusters_per_row,
                                       run.rounding);
             })
        .def("__setstate__", [](Run& run, const RunState& state) {
            const auto labels = as_span(std::get<0>(state));
            new (&run) Run{{labels.begin(), labels.end()},
                           std::get<1>(state),
                           {std::get<2>(state), std::get<3>(state), std::get<4>(state), std::get<5>(state)},
                           std::get<6>(state),
                           std::get<7>(state),
                           std::get<8>(state),
                           std::get<9>(state),
                           std::get<10>(state)};
        });
    m.attr("SINGLE_ROUNDING") = partita::search::single_rounding;
    m.def("search", &search, "problem"_a, "method"_a, "options"_a, "report"_a.none(),
          "executor"_a.none() = nb::none());
    m.def("search_constrained", &search_constrained, "problem"_a, "atoms"_a, "apart"_a, "max_size"_a,
          "starts"_a, "options"_a, "report"_a.none());
    m.def("refine_with_noise", &refine_with_noise, "problem"_a, "starts"_a, "options"_a, "report"_a.none());
    m.def("refine", &refine, "problem"_a, "starts"_a, "options"_a, "report"_a.none(),
          "executor"_a.none() = nb::none());
}
