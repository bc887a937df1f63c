// Items that are known to stay where they are, unless their random number is near 0 or 1. An item whose own
// cluster has almost all of its probability need not be scored again while no cluster changes: in a chain
// that has arrived at clusters apart, a sweep costs little.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace partita::models {

class StableItems {
public:
    /// Of the other clusters and a new one together, when an item is added.
    static constexpr double max_share = 1e-4;
    /// Of the clusters that need not be scored at all, together; the others may have the rest.
    static constexpr double max_far = 0.5 * max_share;

    explicit StableItems(std::size_t n_items) : known_at_(n_items, 0) {}

    /// Item i has no more than `max_share` elsewhere, as the clusters are now.
    void add(std::size_t i) { known_at_[i] = state_; }
    /// A cluster changed, so that nothing is known of any item.
    void forget() { ++state_; }

    /// Whether item i draws its own cluster by this number, wherever that is among the cumulated shares.
    bool stays(std::size_t i, double uniform) const {
        return known_at_[i] == state_ && uniform > margin && uniform < 1.0 - margin;
    }

    /// The log weight of a new cluster is all that changes while the clusters do not.
    void open_weight(double now) {
        if (std::abs(now - open_weight_) <= tolerance)
            return;
        open_weight_ = now;
        forget();
    }

private:
    static constexpr double margin = 1e-3;
    /// Two weights this far from a third differ by e^(2 tolerance) < margin / max_share.
    static constexpr double tolerance = 1.0;

    std::vector<std::uint64_t> known_at_; // the state in which each item was added
    std::uint64_t state_ = 1;
    double open_weight_ = 0.0;
};

} // namespace partita::models
