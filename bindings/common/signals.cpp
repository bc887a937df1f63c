// Signals that no handler of Python answers, because no instruction of Python runs: another library is at
// work.
#include "bindings/common/signals.hpp"

#include "bindings/bindings.hpp"

#ifndef _WIN32
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <unistd.h>

namespace partita::signals { // names of its own where files are compiled together
namespace {

constexpr std::int64_t second = 1'000'000'000;
/// A signal that comes sooner after another is the same one: timeout(1) sends two.
constexpr std::int64_t again = second / 2;

std::atomic<std::int64_t> waiting_since{0}; // when the first unanswered signal came; 0 if there is none
std::atomic<unsigned> limit{0};             // seconds that SIGTERM may stay unanswered
struct sigaction handlers[NSIG];            // Python's

std::int64_t now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * second + time.tv_nsec + 1;
}

void die_of(int number) {
    struct sigaction deadly = {};
    deadly.sa_handler = SIG_DFL;
    sigaction(number, &deadly, nullptr);
    raise(number); // acts when this handler returns
}

/// Only functions that are safe in a handler are called here, and Python's own handler.
void on_signal(int number) {
    const int error = errno;
    const std::int64_t waited = waiting_since == 0 ? 0 : now() - waiting_since;
    if (number == SIGALRM && waited >= (limit - 1) * second && waited > 0)
        _exit(128 + SIGTERM);
    if (number != SIGALRM && waited >= again) {
        die_of(number);
        return;
    }
    if (waited == 0)
        waiting_since = now();
    if (number != SIGINT)
        alarm(limit);
    handlers[number].sa_handler(number);
    errno = error;
}

void watch_signals(unsigned seconds) {
    limit = seconds;
    struct sigaction watched = {};
    watched.sa_handler = on_signal;
    watched.sa_flags = SA_ONSTACK;
    for (const int number : {SIGINT, SIGTERM, SIGALRM}) {
        struct sigaction before;
        sigaction(number, nullptr, &before);
        if (before.sa_handler == SIG_IGN || before.sa_handler == SIG_DFL || before.sa_handler == on_signal)
            continue;
        handlers[number] = before;
        sigaction(number, &watched, nullptr);
    }
}

void signal_answered() {
    waiting_since = 0;
    alarm(0);
}

} // namespace
} // namespace partita::signals

void bind_signals(nanobind::module_& m) {
    m.def(
        "watch_signals", &partita::signals::watch_signals, nanobind::arg("seconds"),
        "Ends the process if Python's handlers of SIGINT and SIGTERM cannot run: at a second signal, or when "
        "`seconds` have passed since SIGTERM. SIGALRM belongs to it.");
    m.def("signal_answered", &partita::signals::signal_answered,
          "To be called by the handlers: what came so far is answered.");
}
#else
void bind_signals(nanobind::module_& m) {
    m.def("watch_signals", [](unsigned) {}, nanobind::arg("seconds"), "Does nothing on Windows.");
    m.def("signal_answered", [] {}, "Does nothing on Windows.");
}
#endif
