// Sets that grow together.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace partita::search {

class UnionFind {
public:
    explicit UnionFind(std::size_t n) : parents_(n), n_sets_(n) {
        std::iota(parents_.begin(), parents_.end(), 0u);
    }

    std::size_t n_sets() const { return n_sets_; }

    /// The smallest item of the set.
    std::uint32_t find(std::uint32_t i) {
        while (parents_[i] != i)
            i = parents_[i] = parents_[parents_[i]];
        return i;
    }

    void join(std::uint32_t i, std::uint32_t j) {
        i = find(i);
        j = find(j);
        if (i == j)
            return;
        parents_[i > j ? i : j] = i > j ? j : i;
        --n_sets_;
    }

    /// Joins items that have the same label; labels from n_labels on are none.
    template <class Label> void join_alike(std::span<const Label> labels, std::size_t n_labels) {
        constexpr auto nobody = ~std::uint32_t{0};
        std::vector<std::uint32_t> first(n_labels, nobody);
        for (std::uint32_t i = 0; i < labels.size(); ++i)
            if (labels[i] < n_labels) {
                if (auto& other = first[labels[i]]; other == nobody)
                    other = i;
                else
                    join(other, i);
            }
    }

    /// The number of each item's set, by first item.
    std::vector<std::uint32_t> numbers() {
        std::vector<std::uint32_t> numbers(parents_.size());
        std::uint32_t next = 0;
        for (std::uint32_t i = 0; i < numbers.size(); ++i)
            numbers[i] = find(i) == i ? next++ : numbers[find(i)];
        return numbers;
    }

private:
    std::vector<std::uint32_t> parents_;
    std::size_t n_sets_;
};

} // namespace partita::search
