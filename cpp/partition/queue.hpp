// Items that wait to be looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "partition/policy.hpp"

namespace partita {

/// Each item at most once, first in, first out.
class WorkQueue {
public:
    explicit WorkQueue(std::size_t n_items) : waits_(n_items) {}

    bool empty() const { return first_ == items_.size(); }
    std::size_t size() const { return items_.size() - first_; }
    void push(std::uint32_t item) {
        if (!waits_[item]) {
            waits_[item] = true;
            items_.push_back(item);
        }
    }
    std::uint32_t pop() {
        const auto item = items_[first_++];
        waits_[item] = false;
        if (first_ > items_.size() / 2 && first_ > min_erased) {
            items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
            first_ = 0;
        }
        return item;
    }

    /// All that wait, in order.
    std::vector<std::uint32_t> take_all() {
        std::vector<std::uint32_t> taken(items_.begin() + static_cast<std::ptrdiff_t>(first_), items_.end());
        for (const auto item : taken)
            waits_[item] = false;
        items_.clear();
        first_ = 0;
        return taken;
    }

private:
    static constexpr std::size_t min_erased = 1024; // what has been taken goes in large pieces

    std::vector<std::uint32_t> items_;
    std::size_t first_ = 0;
    std::vector<bool> waits_;
};

/// Calls visit(item), which may let more items wait, until none waits, the limits are reached, or goes_on(n)
/// is false: it is asked before the n-th time as many are visited as there are items. Returns the number of
/// visits.
template <class Limits, class GoesOn, class Visit>
std::uint64_t drain(WorkQueue& queue, std::size_t n_items, const Limits& limits, GoesOn goes_on,
                    Visit visit) {
    std::uint64_t visited = 0;
    for (; !queue.empty(); ++visited) {
        if (visited % policy::poll_every == 0 && limits.reached())
            break;
        if (visited % n_items == 0 && !goes_on(visited / n_items))
            break;
        visit(queue.pop());
    }
    return visited;
}

} // namespace partita
