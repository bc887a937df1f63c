// Long work off the calling thread, so that Python's signal handlers run while it does.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>

#include "common/parallel.hpp"

/// What work on another thread has come to.
class Outcome {
public:
    template <class Work> void of(Work work) {
        std::exception_ptr caught;
        try {
            work();
        } catch (...) {
            caught = std::current_exception();
        }
        std::lock_guard lock(mutex_);
        failure_ = std::move(caught);
        ended_ = true;
        changed_.notify_one();
    }

    /// Whether the work ends within the time.
    bool wait_for(std::chrono::milliseconds time) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, time, [&] { return ended_; });
    }

    /// To be called when the thread has been joined.
    void rethrow() const {
        if (failure_)
            std::rethrow_exception(failure_);
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::exception_ptr failure_;
    bool ended_ = false;
};

/// What a signal handler, or `poll`, raised in the calling thread: KeyboardInterrupt, or another exception
/// that is to be thrown when the work has ended.
struct Raised {
    bool interrupt = false;
    std::exception_ptr other;

    bool any() const { return interrupt || other; }

    /// Lets the handlers run, with the GIL held.
    template <class Poll> void look(Poll& poll) {
        try {
            if (PyErr_CheckSignals() != 0)
                throw nanobind::python_error();
            poll();
        } catch (const nanobind::python_error& error) {
            if (error.matches(PyExc_KeyboardInterrupt))
                interrupt = true;
            else
                other = std::current_exception();
        } catch (...) {
            other = std::current_exception();
        }
    }
};

/// Runs work() without the GIL on a thread of its own; meanwhile the calling thread lets Python's signal
/// handlers run and calls poll(), with the GIL, about twenty times a second.
///
/// Returns true if Ctrl-C came: `stop` was then requested and the work ended early; the KeyboardInterrupt is
/// cleared, and the caller decides whether to raise it or to use what there is. Any other exception of a
/// handler or of poll() requests the stop as well and is thrown when the work has ended; so is one of the
/// work. After the first exception no handler runs until the work has ended: signals that come later are
/// Python's as usual.
template <class Work, class Poll>
bool run_interruptible(const partita::common::StopFlag& stop, Work work, Poll poll) {
    constexpr std::chrono::milliseconds turn{50};
    Raised raised;
    Outcome outcome;
    {
        nanobind::gil_scoped_release release;
        partita::common::Threads thread(1);
        try {
            thread.start([&] { outcome.of(work); });
        } catch (const std::system_error& error) {
            throw std::runtime_error(std::string("the system refuses a thread: ") + error.what());
        }
        while (!outcome.wait_for(turn)) {
            if (raised.any())
                continue;
            nanobind::gil_scoped_acquire acquire;
            raised.look(poll);
            if (raised.any())
                stop.request();
        }
    }
    if (raised.other)
        std::rethrow_exception(raised.other);
    outcome.rethrow();
    return raised.interrupt;
}

/// The same for work(stop) that needs no polling.
template <class Work> bool run_interruptible(Work work) {
    const partita::common::StopFlag stop;
    return run_interruptible(stop, [&] { work(stop); }, [] {});
}

/// Runs work(stop) without the GIL, of which nothing is of use if Ctrl-C ends it: that raises
/// KeyboardInterrupt. Work of few steps is done at once, without a thread of its own.
template <class Work> void run_or_raise(double steps, Work work) {
    constexpr double few = 1e6;
    if (steps < few) {
        const partita::common::StopFlag never;
        nanobind::gil_scoped_release release;
        work(never);
    } else if (run_interruptible(work)) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
        throw nanobind::python_error();
    }
}

using Clock = std::chrono::steady_clock;

inline Clock::time_point deadline_after(double seconds) {
    constexpr double forever = 1e9; // a clock counts no more seconds than about 9e9
    const std::chrono::duration<double> limit(seconds < forever ? seconds : forever);
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
}

inline void stop_after(Clock::time_point deadline, const partita::common::StopFlag& stop) {
    if (Clock::now() >= deadline)
        stop.request();
}

/// The same with a time limit, after which the stop is requested. Ctrl-C raises KeyboardInterrupt.
template <class Work> void run_for(double seconds, Work work) {
    const auto deadline = deadline_after(seconds);
    const partita::common::StopFlag stop;
    if (run_interruptible(stop, [&] { work(stop); }, [&] { stop_after(deadline, stop); })) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
        throw nanobind::python_error();
    }
}
