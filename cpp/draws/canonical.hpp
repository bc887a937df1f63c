// Canonical labels: 0, 1, 2, ... in order of first appearance.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "draws/draws.hpp"

namespace partita::common {

/// Renumbers the labels of one partition after another; its tables are reused, so that a row costs O(items).
class Canonicaliser {
public:
    /// Writes the canonical labels of `row` and returns the number of clusters. A negative label is missing.
    template <class Input>
    std::uint32_t operator()(std::span<const Input> row, std::span<std::uint32_t> canonical) {
        Input largest = 0;
        for (const Input label : row)
            largest = std::max(largest, label);
        const std::size_t direct_limit = std::max(smallest_direct_table, 4 * row.size());
        if (static_cast<std::uint64_t>(largest) < direct_limit) {
            resize(static_cast<std::size_t>(largest) + 1);
            return rename(row, canonical,
                          [](std::uint64_t label) { return static_cast<std::size_t>(label); });
        }
        const int bits = std::bit_width(row.size()) + 1; // at most half full, so that probing ends soon
        resize(std::size_t{1} << bits);
        return rename(row, canonical, [this, bits](std::uint64_t label) { return probe(label, bits); });
    }

private:
    static constexpr std::uint32_t unseen = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::size_t smallest_direct_table = 1 << 16;

    void resize(std::size_t slots) {
        if (codes_.size() < slots) {
            codes_.resize(slots, unseen);
            keys_.resize(slots);
        }
    }

    std::size_t probe(std::uint64_t label, int bits) const {
        const std::size_t last = (std::size_t{1} << bits) - 1;
        auto slot = static_cast<std::size_t>((label * 0x9e3779b97f4a7c15u) >> (64 - bits));
        while (codes_[slot] != unseen && keys_[slot] != label)
            slot = (slot + 1) & last;
        return slot;
    }

    template <class Input, class FindSlot>
    std::uint32_t rename(std::span<const Input> row, std::span<std::uint32_t> canonical, FindSlot find_slot) {
        std::uint32_t clusters = 0;
        std::uint32_t* const codes = codes_.data();
        for (std::size_t i = 0; i < row.size(); ++i) {
            if constexpr (std::is_signed_v<Input>)
                if (row[i] < 0) {
                    canonical[i] = gap<std::uint32_t>;
                    continue;
                }
            const auto label = static_cast<std::uint64_t>(row[i]);
            const auto slot = find_slot(label);
            auto code = codes[slot];
            if (code == unseen) [[unlikely]] {
                codes[slot] = code = clusters++;
                keys_[slot] = label;
                used_.push_back(slot);
            }
            canonical[i] = code;
        }
        for (const auto slot : used_)
            codes_[slot] = unseen;
        used_.clear();
        return clusters;
    }

    std::vector<std::uint32_t> codes_; // `unseen` everywhere between two rows
    std::vector<std::uint64_t> keys_;
    std::vector<std::size_t> used_;
};

/// Whether each label is at most one more than all before it. In a signed type -1 is missing, but not every
/// label may be; in an unsigned type the largest value, which would mean a gap, is no label.
template <class Label> bool is_canonical(std::span<const Label> row) {
    constexpr Label lowest = std::is_signed_v<Label> ? -1 : 0;
    constexpr std::size_t block = 64;
    std::uint64_t next = 0; // the label that has not appeared yet
    for (std::size_t start = 0; start < row.size(); start += block) {
        const auto labels = row.subspan(start, std::min(block, row.size() - start));
        Label low = 0, high = 0;
        for (const Label label : labels) {
            low = std::min(low, label);
            high = std::max(high, label);
        }
        if (low < lowest || (std::is_unsigned_v<Label> && high == std::numeric_limits<Label>::max()))
            return false;
        if (next > 0 && static_cast<std::uint64_t>(high) < next)
            continue; // nothing new, as in most blocks: only these two passes, which compilers vectorise
        for (const Label label : labels) {
            if (label >= 0 && static_cast<std::uint64_t>(label) > next)
                return false;
            next += label >= 0 && static_cast<std::uint64_t>(label) == next;
        }
    }
    return next > 0;
}

} // namespace partita::common
