// The cells of a table in memory that may belong to somebody else, such as NumPy.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace partita::common {

/// Cells that are read and never copied: copies of this class see the same memory, which lives as long as
/// one of them. Nobody may write to it.
template <class T> class SharedCells {
public:
    SharedCells(std::vector<T> cells) {
        auto owner = std::make_shared<const std::vector<T>>(std::move(cells));
        cells_ = *owner;
        owner_ = std::move(owner);
    }
    SharedCells(std::span<const T> cells, std::shared_ptr<const void> owner)
        : cells_(cells), owner_(std::move(owner)) {}

    std::size_t size() const { return cells_.size(); }
    const T* data() const { return cells_.data(); }
    const T& operator[](std::size_t place) const { return cells_[place]; }

private:
    std::span<const T> cells_;
    std::shared_ptr<const void> owner_;
};

} // namespace partita::common
