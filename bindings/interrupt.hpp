// Long work off the main thread, so that Ctrl-C is answered while it runs.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "parallel.hpp"

/// Runs work(stop) without the GIL. Returns true if Ctrl-C came: `stop` was then set and the work ended
/// early. The pending KeyboardInterrupt is cleared; the caller decides whether to raise it or to use what
/// there is.
template <class Work> bool run_interruptible(Work work) {
    partita::StopFlag stop{false};
    std::exception_ptr failure;
    std::mutex mutex;
    std::condition_variable finished_changed;
    bool finished = false, interrupted = false;

    nanobind::gil_scoped_release release;
    std::thread worker([&] {
        try {
            work(stop);
        } catch (...) {
            failure = std::current_exception();
        }
        std::lock_guard lock(mutex);
        finished = true;
        finished_changed.notify_one();
    });
    for (;;) {
        {
            std::unique_lock lock(mutex);
            if (finished_changed.wait_for(lock, std::chrono::milliseconds(50), [&] { return finished; }))
                break;
        }
        nanobind::gil_scoped_acquire acquire;
        if (!interrupted && PyErr_CheckSignals() != 0) {
            PyErr_Clear();
            interrupted = true;
            stop = true;
        }
    }
    worker.join();
    if (failure)
        std::rethrow_exception(failure);
    return interrupted;
}
