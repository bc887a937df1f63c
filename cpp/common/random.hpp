// Random numbers for the core: xoshiro256++ (Blackman & Vigna 2019), one stream per (seed, run).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace partita::common {

class Rng {
public:
    using result_type = std::uint64_t;

    explicit Rng(std::uint64_t seed, std::uint64_t stream = 0) {
        std::uint64_t mix = seed ^ (stream * 0xd1342543de82ef95u + 0x632be59bd9b4e019u);
        for (auto& word : state_)
            word = split_mix(mix);
    }

    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return ~result_type{0}; }

    result_type operator()() {
        const auto result = std::rotl(state_[0] + state_[3], 23) + state_[0];
        const auto shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    /// Uniform on [0, 1).
    double uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

    /// Uniform on {0, ..., bound - 1}, by rejection: no bias, and the same on every platform.
    std::uint64_t below(std::uint64_t bound) {
        const auto threshold = (0 - bound) % bound;
        for (;;)
            if (const auto draw = (*this)(); draw >= threshold)
                return draw % bound;
    }

    /// Two different numbers below a bound.
    std::pair<std::uint64_t, std::uint64_t> two_below(std::uint64_t bound) {
        const auto one = below(bound), other = below(bound - 1);
        return {one, other + (other >= one)};
    }

    template <class T> void shuffle(std::span<T> values) {
        for (std::size_t i = values.size(); i > 1; --i)
            std::swap(values[i - 1], values[below(i)]);
    }

    std::vector<std::uint32_t> permutation(std::size_t n) {
        std::vector<std::uint32_t> order(n);
        std::iota(order.begin(), order.end(), 0u);
        shuffle(std::span(order));
        return order;
    }

    /// The complete state, so that a sampler can continue from a checkpoint exactly where it stopped.
    std::array<std::uint64_t, 4> state() const { return state_; }
    /// The state of all zeros is the only invalid one: from it every draw would be zero.
    void restore(const std::array<std::uint64_t, 4>& state) {
        if (state == std::array<std::uint64_t, 4>{})
            throw std::invalid_argument("the random numbers of the state are not those of a generator");
        state_ = state;
    }

private:
    static std::uint64_t split_mix(std::uint64_t& x) {
        auto z = (x += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    std::array<std::uint64_t, 4> state_{};
};

} // namespace partita::common
