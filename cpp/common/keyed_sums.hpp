// Sums for few of many keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace partita::common {

/// A number for each key that occurs; cleared all at once.
class KeyedSums {
public:
    explicit KeyedSums(std::size_t n_keys) : value_(n_keys), round_(n_keys) {}

    void clear() {
        ++current_;
        keys_.clear();
    }
    void add(std::uint32_t key, double amount) {
        if (round_[key] != current_) {
            round_[key] = current_;
            value_[key] = 0;
            keys_.push_back(key);
        }
        value_[key] += amount;
    }
    double operator[](std::uint32_t key) const { return round_[key] == current_ ? value_[key] : 0; }
    std::span<const std::uint32_t> keys() const { return keys_; }

private:
    std::vector<double> value_;
    std::vector<std::uint64_t> round_;
    std::uint64_t current_ = 1;
    std::vector<std::uint32_t> keys_;
};

} // namespace partita::common
