// Threads inside the core: tasks 0..n-1 handed out in order, exceptions brought home.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace partita {

/// Set from outside (Ctrl-C, a deadline); long loops poll it and end early with what they have.
using StopFlag = std::atomic<bool>;

/// Calls work(task, worker) for every task on up to `threads` threads. What a task computes must not depend
/// on the worker: the worker's number only selects scratch memory.
template <class Work> void parallel_for(std::size_t n_tasks, unsigned threads, Work work) {
    const auto n_workers = static_cast<unsigned>(std::min<std::size_t>(std::max(threads, 1u), n_tasks));
    if (n_workers <= 1) {
        for (std::size_t task = 0; task < n_tasks; ++task)
            work(task, 0u);
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    auto run = [&](unsigned worker) {
        try {
            for (std::size_t task; (task = next.fetch_add(1)) < n_tasks;)
                work(task, worker);
        } catch (...) {
            std::lock_guard lock(failure_mutex);
            if (!failure)
                failure = std::current_exception();
            next = n_tasks;
        }
    };
    std::vector<std::thread> pool;
    for (unsigned worker = 1; worker < n_workers; ++worker)
        pool.emplace_back(run, worker);
    run(0);
    for (auto& thread : pool)
        thread.join();
    if (failure)
        std::rethrow_exception(failure);
}

} // namespace partita
