// The selection of values with the least sum, where the number taken, in total and of each group, has a lower
// and an upper limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace partita::proofs {

/// The value of what is impossible.
inline constexpr double never = 1e300;

/// At least and at most this many.
struct Limits {
    std::size_t lower, upper;
};

/// What is taken, and what it would cost to take one more or one less.
struct Choice {
    double sum = never;              // never: the limits cannot be met
    std::vector<char> chosen;        // (values)
    std::vector<double> given_up;    // (groups): the value, or 0, that makes room for one more of the group
    std::vector<double> replacement; // (groups): the value, or 0, of what replaces one of the group

    bool is_possible() const { return sum < never; }

    /// What the sum grows by if a value of the group has to be taken.
    double cost_with(std::size_t place, double value, std::size_t group) const {
        return chosen[place] ? 0.0 : given_up[group] > -never ? value - given_up[group] : never;
    }

    /// What the sum grows by if a value of the group must not be taken.
    double cost_without(std::size_t place, double value, std::size_t group) const {
        return chosen[place] ? replacement[group] - value : 0.0;
    }
};

/// The limits of the groups; group 0 has none. The sets that meet them, and limits in total, are a
/// generalised matroid: the best set with or without one more item differs from the best one by at most one
/// exchange.
class Selection {
public:
    static constexpr auto no_item = ~std::size_t{0};

    Selection() = default;
    Selection(std::vector<std::uint16_t> group, std::vector<Limits> limits);

    std::size_t group(std::size_t place) const { return group_[place]; }

    /// `taken` is in any case: it counts for the limits, its value is not in the sum.
    void run(std::span<const double> values, Limits total, Choice& out, std::size_t taken = no_item);

    /// The sum alone, with one of the values taken in any case, or left out.
    double least_sum_with(std::span<const double> values, Limits total, std::size_t taken);
    double least_sum_without(std::span<const double> values, Limits total, std::size_t left_out);

private:
    struct Group {
        std::vector<std::uint32_t> places;
        std::size_t count = 0; // chosen, with what is taken in any case
    };

    void choose(std::span<const double> values, Limits total, std::size_t taken, std::size_t left_out);
    bool fill(std::span<const double> values, Limits total, std::size_t count);
    void note_exchanges(std::span<const double> values, Limits total, Choice& out, std::size_t taken) const;

    std::vector<std::uint16_t> group_;
    std::vector<Limits> limits_;
    std::vector<Group> groups_;
    std::vector<std::uint32_t> picked_; // the places that are chosen
    double sum_ = 0;
};

} // namespace partita::proofs
