// Kinds of clusters: by size, and by the first of the chosen items (anchors) that a cluster contains.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "proofs/row.hpp"

namespace partita::proofs {

inline constexpr std::uint32_t no_item = ~std::uint32_t{0};

/// Clusters of one size class that contain the anchor (if there is one) and no earlier anchor. The rows of
/// its items are stored together: a cell is one item's row of one kind.
struct Kind {
    SizeClass size;
    std::uint32_t anchor = no_item;
    std::vector<std::uint32_t> items; // that such a cluster may contain
    std::vector<std::uint32_t> place; // of each item among them, or `no_item`
    std::size_t first_cell = 0;       // of the first item's row
    std::size_t first_pair = 0;       // of the first item's numbers, one per item of the kind

    std::size_t count() const { return items.size(); }
    bool holds(std::size_t item) const { return place[item] != no_item; }
    std::size_t cell(std::size_t item) const { return first_cell + place[item]; }
    std::size_t row(std::size_t item) const { return first_pair + place[item] * count(); }

    /// Whether a cluster of this kind can contain the item: there must be room for it and the anchor.
    bool admits(std::size_t item) const {
        return holds(item) && (anchor == no_item || anchor == item || size.upper >= 2);
    }
};

/// Every cluster belongs to exactly one kind. Without anchors the kinds are the size classes.
struct Kinds {
    std::vector<Kind> list;
    std::size_t n_cells = 0, n_pairs = 0;

    Kinds(std::size_t n, std::span<const SizeClass> sizes, std::span<const std::uint32_t> anchors) {
        std::vector<std::uint32_t> rest(n);
        for (std::uint32_t i = 0; i < n; ++i)
            rest[i] = i;
        for (const auto anchor : anchors) {
            add(sizes, anchor, rest, n);
            std::erase(rest, anchor);
        }
        add(sizes, no_item, rest, n);
    }

private:
    void add(std::span<const SizeClass> sizes, std::uint32_t anchor, const std::vector<std::uint32_t>& items,
             std::size_t n) {
        for (const auto& size : sizes) {
            if (size.lower > static_cast<double>(items.size()))
                break;
            Kind kind{size, anchor, items, std::vector<std::uint32_t>(n, no_item), n_cells, n_pairs};
            for (std::uint32_t s = 0; s < items.size(); ++s)
                kind.place[items[s]] = s;
            n_cells += items.size();
            n_pairs += items.size() * items.size();
            list.push_back(std::move(kind));
        }
    }
};

} // namespace partita::proofs
