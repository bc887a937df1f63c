// The changes of the log density of a mixture that merges of clusters bring.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "common/lanes.hpp"
#include "common/watched_stop.hpp"
#include "mixtures/base_update.hpp"
#include "mixtures/mixture_family.hpp"
#include "mixtures/partition_prior.hpp"
#include "partition/merges.hpp"

namespace partita::models {

/// Clusters are numbered by their slots. They are merged by their summaries; the items are read once.
template <MixtureFamily Family> class GreedyMerges {
public:
    using Table = typename Family::Table;

    /// Item p of the list has labels[p], below `slots`.
    GreedyMerges(const Family& family, const Table& table, const PartitionPrior& prior,
                 std::span<const std::uint32_t> items, std::span<const std::uint32_t> labels,
                 std::size_t slots)
        : scratch_(family), prior_(prior), slots_(slots), parts_(slots, 0.0), into_(slots),
          gains_(slots * slots, never) {
        scratch_.widen(common::lanes);
        summaries_.compute(scratch_, table, items, labels, slots + 1);
        for (std::uint32_t slot = 0; slot < slots; ++slot) {
            into_[slot] = slot;
            n_clusters_ += alive(slot);
            parts_[slot] = part(slot);
        }
        for (std::size_t slot = 0; slot < slots; ++slot)
            for (std::size_t other = slot + 1; other < slots; ++other)
                score(slot, other);
    }

    std::size_t n_sides() const { return 1; }
    std::size_t n_clusters(std::size_t = 0) const { return n_clusters_; }
    std::uint32_t into(std::uint32_t slot) const { return into_[slot]; }

    Merge best(std::size_t) const {
        const auto at =
            static_cast<std::size_t>(std::max_element(gains_.begin(), gains_.end()) - gains_.begin());
        return {static_cast<std::uint32_t>(at / slots_), static_cast<std::uint32_t>(at % slots_),
                gains_[at] + fewer()};
    }

    bool can_merge(std::size_t one, std::size_t other) const { return alive(one) && alive(other); }
    double change(std::size_t one, std::size_t other) const {
        return gains_[std::min(one, other) * slots_ + std::max(one, other)] + fewer();
    }

    void merge(const Merge& merge) {
        summaries_.join(merge.into, merge.from, merge.into);
        std::replace(into_.begin(), into_.end(), merge.from, merge.into);
        parts_[merge.into] = part(merge.into);
        --n_clusters_;
        for (std::size_t other = 0; other < slots_; ++other) {
            score(merge.from, other);
            score(merge.into, other);
        }
    }

private:
    static constexpr double never = -std::numeric_limits<double>::infinity();

    bool alive(std::size_t slot) const { return into_[slot] == slot && summaries_.size(slot) > 0; }

    /// The prior's change when there is one cluster less.
    double fewer() const { return prior_.log_w(1) - prior_.log_open(n_clusters_ - 1); }

    double part(std::size_t slot) {
        summaries_.assign_to(scratch_, 0, slot);
        return prior_.log_w(scratch_.size(0)) + scratch_.log_marginal(0);
    }

    void score(std::size_t slot, std::size_t other) {
        if (slot == other)
            return;
        common::end_if_stopped();
        double gain = never;
        if (can_merge(slot, other)) {
            summaries_.join(slot, other, slots_);
            gain = part(slots_) - parts_[slot] - parts_[other];
        }
        gains_[std::min(slot, other) * slots_ + std::max(slot, other)] = gain;
    }

    Family scratch_;
    const PartitionPrior& prior_;
    std::size_t slots_, n_clusters_ = 0;
    typename Family::Summaries summaries_; // the last one is for a pair
    std::vector<double> parts_;            // ln W + ln marginal of each slot
    std::vector<std::uint32_t> into_;
    std::vector<double> gains_; // [smaller slot][larger slot], without the prior's V
};

} // namespace partita::models
