// Steps of a chain that are given up in the middle: a sweep of a large table takes longer than Ctrl-C may
// wait.
#pragma once

#include <exception>
#include <utility>

#include "common/parallel.hpp"

namespace partita::common {

/// Thrown in the middle of a step; whatever it was changing must not be used any more.
struct Stopped : std::exception {
    const char* what() const noexcept override { return "stopped before the step was done"; }
};

/// While it lives, `end_if_stopped` obeys this flag, on this thread; null is no flag.
class WatchedStop {
public:
    explicit WatchedStop(const StopFlag* stop) : before_(std::exchange(watched_, stop)) {}
    WatchedStop(const WatchedStop&) = delete;
    WatchedStop& operator=(const WatchedStop&) = delete;
    ~WatchedStop() { watched_ = before_; }

    /// The flag, or one that is never requested; short loops look it up once.
    static const StopFlag& flag() {
        static const StopFlag never;
        return watched_ != nullptr ? *watched_ : never;
    }

private:
    static inline thread_local const StopFlag* watched_ = nullptr;
    const StopFlag* before_;
};

inline void end_if_stopped(const StopFlag& stop = WatchedStop::flag()) {
    if (stop)
        throw Stopped();
}

} // namespace partita::common
