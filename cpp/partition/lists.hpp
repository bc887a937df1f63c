// Lists one after the other in one vector: rows of a graph, items by their labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "partition/first_appearance.hpp"

namespace partita {

/// List k is values[offsets[k] .. offsets[k + 1]].
struct Lists {
    std::vector<std::uint32_t> offsets{0}, values;

    std::uint32_t size() const { return static_cast<std::uint32_t>(offsets.size() - 1); }
    std::span<const std::uint32_t> operator[](std::size_t k) const {
        return {values.data() + offsets[k], values.data() + offsets[k + 1]};
    }
    void close() { offsets.push_back(static_cast<std::uint32_t>(values.size())); }
};

/// The items that have each of the labels 0 .. n_labels - 1; other labels are in no list.
template <class Label> Lists listed(std::span<const Label> labels, std::uint32_t n_labels) {
    Lists lists;
    lists.offsets.assign(n_labels + std::size_t{1}, 0);
    for (const auto label : labels)
        if (label < n_labels)
            ++lists.offsets[label + std::size_t{1}];
    std::partial_sum(lists.offsets.begin(), lists.offsets.end(), lists.offsets.begin());
    lists.values.resize(lists.offsets.back());
    auto next = lists.offsets;
    for (std::uint32_t i = 0; i < labels.size(); ++i)
        if (labels[i] < n_labels)
            lists.values[next[labels[i]]++] = i;
    return lists;
}

/// The items that have each label, labels in order of first appearance.
inline Lists grouped(std::vector<std::uint32_t> labels) {
    const auto n_labels = common::renumber(labels);
    return listed(std::span<const std::uint32_t>(labels), n_labels);
}

} // namespace partita
