// Threads inside the core: tasks 0..n-1 are started in order, exceptions reach the caller, all threads are
// joined.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace partita::common {

/// A request to end early, from outside (Ctrl-C, a deadline) or from a task that failed. Long loops poll it
/// and end with the results so far. Any holder of the flag may request the end, as with std::stop_source; a
/// request cannot be withdrawn.
class StopFlag {
public:
    explicit StopFlag(bool requested = false) noexcept : requested_(requested) {}

    operator bool() const noexcept { return requested_.load(std::memory_order_relaxed); }
    void request() const noexcept { requested_.store(true, std::memory_order_relaxed); }

private:
    mutable std::atomic<bool> requested_;
};

/// Threads that are joined however the scope is left: a joinable thread must not be destroyed.
class Threads {
public:
    explicit Threads(std::size_t most) { threads_.reserve(most); }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;
    ~Threads() {
        for (auto& thread : threads_)
            thread.join();
    }

    /// Throws std::system_error if the system refuses the thread.
    template <class Work> void start(Work work) { threads_.emplace_back(std::move(work)); }

private:
    std::vector<std::thread> threads_;
};

/// Calls work(task, worker) for every task on up to `threads` threads, or on as many as the system grants.
/// What a task computes must not depend on the worker: the worker's number only selects scratch memory. If a
/// task throws, `stop` is requested so that the running tasks end soon, no other task begins, and when all
/// threads have ended the first exception is rethrown.
template <class Work>
void parallel_for(std::size_t n_tasks, unsigned threads, const StopFlag& stop, Work work) {
    const auto n_workers = static_cast<unsigned>(std::min<std::size_t>(std::max(threads, 1u), n_tasks));
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    auto run = [&](unsigned worker) {
        try {
            for (std::size_t task; (task = next.fetch_add(1)) < n_tasks;)
                work(task, worker);
        } catch (...) {
            next = n_tasks;
            stop.request();
            std::lock_guard lock(failure_mutex);
            if (!failure)
                failure = std::current_exception();
        }
    };
    {
        Threads pool(n_workers);
        try {
            for (unsigned worker = 1; worker < n_workers; ++worker)
                pool.start([&run, worker] { run(worker); });
        } catch (const std::exception&) {
            // no more threads are available: this one and those that started do the work
        }
        run(0);
    }
    if (failure)
        std::rethrow_exception(failure);
}

/// The same, for tasks that do not poll a flag.
template <class Work> void parallel_for(std::size_t n_tasks, unsigned threads, Work work) {
    const StopFlag unseen;
    parallel_for(n_tasks, threads, unseen, std::move(work));
}

} // namespace partita::common
