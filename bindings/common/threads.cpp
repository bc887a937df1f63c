// Work of Python on the core's threads: started, watched and joined where no signal can come between.
#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/common/interrupt.hpp"
#include "common/watched_stop.hpp"
#include "common/work.hpp"

using namespace nb::literals;
using partita::common::StopFlag;

namespace {

/// Calls work() on each of the threads that the system grants; poll() meanwhile on the calling one. Returns
/// whether Ctrl-C came.
bool run_on_threads(nb::callable work, unsigned threads, const StopFlag& stop, nb::object poll) {
    const auto on_each = [&] {
        partita::common::parallel_for(threads, threads, stop, [&](std::size_t, unsigned) {
            nb::gil_scoped_acquire acquire;
            work();
        });
    };
    const auto poll_python = [&] {
        if (!poll.is_none())
            poll();
    };
    return run_interruptible(stop, on_each, poll_python);
}

} // namespace

void bind_threads(nb::module_& m) {
    nb::exception<partita::common::Stopped>(m, "Stopped");
    m.def("counted_steps", &partita::common::counted_steps,
          "Steps of the core's work so far, for tests of how they grow: this thread's and those of ended "
          "ones.");
    nb::class_<StopFlag>(m, "StopFlag", "A request to end early, seen by every thread that polls it.")
        .def(nb::init<>())
        .def("request", &StopFlag::request)
        .def_prop_ro("requested", [](const StopFlag& stop) -> bool { return stop; });
    m.def(
        "run_on_threads", &run_on_threads, "work"_a, "threads"_a, "stop"_a, "poll"_a.none() = nb::none(),
        "Call work() on each of up to this many threads, poll() regularly on this one. Ctrl-C and "
        "exceptions "
        "request the stop and wait for the threads; whether Ctrl-C came is returned, exceptions are raised.");
}
