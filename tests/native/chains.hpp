// What must hold for the chain of every model, for the native tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "common/parallel.hpp"

/// A chain behind a common face.
struct AnyChain {
    std::function<void()> sweep;
    std::function<std::vector<std::uint32_t>()> labels;
    std::function<double()> log_density;
    std::function<std::string()> state;
    std::function<void(std::string)> restore;
};

using MakeChain = std::function<AnyChain(std::uint64_t seed)>;

inline std::vector<std::uint32_t> sweep_to(AnyChain& chain, int sweeps) {
    for (int s = 0; s < sweeps; ++s)
        chain.sweep();
    CHECK(std::isfinite(chain.log_density()));
    return chain.labels();
}

/// A chain that is restored goes on as the one whose state it took.
inline void check_resume(const MakeChain& make) {
    auto whole = make(1);
    sweep_to(whole, 7);
    const auto state = whole.state();
    const auto wanted = sweep_to(whole, 8);
    auto other = make(2);
    other.restore(state);
    CHECK(other.state() == state);
    CHECK(sweep_to(other, 8) == wanted);
}

/// A state of other bytes is refused, or is a state: neither kills.
inline void check_damaged_states(const MakeChain& make) {
    auto source = make(1);
    sweep_to(source, 3);
    const auto state = source.state();
    auto chain = make(1);
    const auto attempt = [&](std::string bytes) {
        try {
            chain.restore(std::move(bytes));
            chain.sweep();
        } catch (const std::exception&) {
            chain = make(1); // what was read in part is of no use
        }
    };
    for (std::size_t at = 0; at < state.size(); at += 1 + state.size() / 100)
        for (const char value : {'\x00', '\x01', '\x7f', '\xff'}) {
            auto bytes = state;
            bytes[at] = value;
            attempt(std::move(bytes));
        }
    for (std::size_t length = 0; length < state.size(); length += 1 + state.size() / 50)
        attempt(state.substr(0, length));
}

/// Chains on several threads at a time are those on one: they share nothing but what nobody writes.
inline void check_threads(const MakeChain& make) {
    constexpr std::size_t n_chains = 4;
    std::vector<std::vector<std::uint32_t>> one(n_chains), several(n_chains);
    const auto run = [&](unsigned threads, auto& found) {
        partita::common::parallel_for(n_chains, threads, [&](std::size_t c, unsigned) {
            auto chain = make(c);
            for (int s = 0; s < 5; ++s)
                chain.sweep();
            found[c] = chain.labels();
        });
    };
    run(1, one);
    run(3, several);
    CHECK(one == several);
}

inline void check_chain(const MakeChain& make) {
    check_resume(make);
    check_damaged_states(make);
    check_threads(make);
}
