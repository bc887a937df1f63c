// Signals that Python's handlers must not see, or cannot see in time.
#pragma once

#ifndef _WIN32
#include <array>
#include <csignal>
#include <cstddef>
#endif

#ifdef _WIN32
struct HeldSignals {};
#else
/// Signals that come during its life act at its end, whatever their handlers are and whichever thread gets
/// them.
///
/// nanobind calls Python to make an enum, and aborts the process if a handler raises an exception there.
class HeldSignals {
public:
    HeldSignals() {
        struct sigaction hold = {};
        hold.sa_handler = [](int number) { came_[static_cast<std::size_t>(number)] = 1; };
        for (std::size_t i = 0; i < held.size(); ++i)
            sigaction(held[i], &hold, &before_[i]);
    }

    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;

    ~HeldSignals() {
        for (std::size_t i = 0; i < held.size(); ++i) {
            sigaction(held[i], &before_[i], nullptr);
            if (came_[static_cast<std::size_t>(held[i])])
                raise(held[i]);
        }
    }

private:
    static constexpr std::array held = {SIGINT, SIGTERM, SIGALRM};
    static inline volatile std::sig_atomic_t came_[NSIG] = {};
    std::array<struct sigaction, held.size()> before_;
};
#endif
