// The best partition of a few items, by dynamic programming over sets of them, which are the bits of numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace partita {

/// least[S] = min over clusters T in S that hold its lowest item of cost[T] + least[S without T], and
/// first[S] that T. Of clusters that are equally good, the largest number is taken; or if `prefers_alone` the
/// lowest item alone, if that is one of them.
class SmallExact {
public:
    SmallExact(std::span<const double> costs, bool prefers_alone)
        : least_(costs.size()), first_(costs.size()) {
        for (std::uint32_t set = 1; set < costs.size(); ++set) {
            const auto lowest = set & (0 - set), rest = set ^ lowest;
            first_[set] = lowest;
            least_[set] =
                prefers_alone ? costs[lowest] + least_[rest] : std::numeric_limits<double>::infinity();
            for (auto others = rest;; others = (others - 1) & rest) { // every subset of the rest
                if (const auto value = costs[others | lowest] + least_[rest ^ others]; value < least_[set]) {
                    least_[set] = value;
                    first_[set] = others | lowest;
                }
                if (others == 0)
                    break;
            }
        }
    }

    double least() const { return least_.back(); }

    /// The clusters of a best partition of all items.
    std::vector<std::uint32_t> clusters() const {
        std::vector<std::uint32_t> found;
        for (auto left = static_cast<std::uint32_t>(first_.size() - 1); left != 0; left &= ~found.back())
            found.push_back(first_[left]);
        return found;
    }

private:
    std::vector<double> least_;
    std::vector<std::uint32_t> first_;
};

} // namespace partita
