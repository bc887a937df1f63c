// Work that is counted, not timed: tests check how it grows with the size of a problem
// (tests/test_growth.py).
#pragma once

#include <atomic>
#include <cstdint>

namespace partita::common {

/// The steps of threads that have ended.
inline std::atomic<std::uint64_t> steps_of_ended_threads{0};

/// The steps of one thread, added to the others' when it ends.
struct ThreadSteps {
    std::uint64_t count = 0;

    ~ThreadSteps() { steps_of_ended_threads.fetch_add(count, std::memory_order_relaxed); }
};
inline thread_local ThreadSteps steps_of_this_thread;

/// Counts steps of constant cost: cells read, scores computed, items visited. One call for each score or
/// pass, so that it costs no time that can be measured.
inline void count_steps(std::uint64_t steps) { steps_of_this_thread.count += steps; }

/// The steps so far of this thread and of all that have ended.
inline std::uint64_t counted_steps() {
    return steps_of_ended_threads.load(std::memory_order_relaxed) + steps_of_this_thread.count;
}

} // namespace partita::common
