// What families share that know clusters by tables of slots.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mixtures/slots.hpp"

namespace partita::models {

/// `Derived` has clear(slot), and tables(): its members of type SlotRows.
template <class Derived> class SlotFamily {
public:
    std::uint32_t size(std::size_t slot) const { return sizes_[slot]; }

    /// Room for this many slots; those that are new hold no items.
    void widen(std::size_t stride) {
        for (const auto rows : Derived::tables())
            (own().*rows).widen(stride);
        const auto before = sizes_.size();
        sizes_.resize(stride);
        for (auto slot = before; slot < stride; ++slot)
            own().clear(slot);
    }

    void copy_slot(const Derived& from, std::size_t source, std::size_t target) {
        sizes_[target] = from.size(source);
        for (const auto rows : Derived::tables())
            (own().*rows).copy_slot(from.*rows, source, target);
    }

protected:
    bool is_in_company(std::size_t own) const { return own != no_slot && sizes_[own] > 1; }
    Derived& own() { return static_cast<Derived&>(*this); }
    const Derived& own() const { return static_cast<const Derived&>(*this); }

    /// Whether the tables that were read have this many slots.
    bool tables_fit(std::size_t stride) const {
        return std::ranges::all_of(Derived::tables(),
                                   [&](const auto rows) { return (own().*rows).fits(stride); });
    }

    std::vector<std::uint32_t> sizes_;
};

/// A family of which checkpoints store nothing: its clusters are recomputed from the labels.
template <class Derived> class RecountedFamily : public SlotFamily<Derived> {
public:
    double own_ratio(std::size_t) const { return 1.0; }
    template <class Archive> void visit(Archive&) {}
    bool fits(std::size_t) const { return true; }
    bool recount(const auto& summaries, std::size_t stride) {
        this->widen(stride);
        for (std::size_t slot = 0; slot < stride; ++slot)
            summaries.assign_to(this->own(), slot, slot);
        return true;
    }
};

/// A family of columns that do not depend on each other within a cluster. `Derived` has dims() and
/// column_marginal(column, slot), ln p of the cells of a column in a cluster.
template <class Derived, template <class> class Base> class ColumnFamily : public Base<Derived> {
public:
    double log_marginal(std::size_t slot) const {
        double total = 0.0;
        for (const auto column : used_)
            total += this->own().column_marginal(column, slot);
        return total;
    }

    /// Which columns scores and `log_marginal` are of; clusters know all of them.
    void set_included(std::span<const std::uint8_t> included) { used_ = included_places(included); }
    void add_unit_marginals(std::size_t slot, double* out) const {
        for (std::size_t column = 0; column < this->own().dims(); ++column)
            out[column] += this->own().column_marginal(column, slot);
    }

protected:
    explicit ColumnFamily(std::size_t columns) : used_(all_places(columns)) {}

    std::vector<std::uint32_t> used_; // columns that scores are of
};

/// Sums over the items of every slot, straight from the data. `Family` has n_sums() of them, add_to(item,
/// sums), and assign(slot, size, sums).
template <class Family> class ItemSums {
public:
    template <class Table>
    void compute(const Family& family, const Table& table, std::span<const std::uint32_t> items,
                 std::span<const std::uint32_t> labels, std::size_t slots) {
        n_sums_ = family.n_sums();
        sizes_.assign(slots, 0), sums_.assign(slots * n_sums_, 0.0);
        for (std::size_t p = 0; p < items.size(); ++p) {
            ++sizes_[labels[p]];
            family.add_to(table.item(items[p]), sums_.data() + labels[p] * n_sums_);
        }
    }
    std::uint32_t size(std::size_t slot) const { return sizes_[slot]; }
    void assign_to(Family& family, std::size_t slot, std::size_t source) const {
        family.assign(slot, sizes_[source], sums_.data() + source * n_sums_);
    }
    void join(std::size_t one, std::size_t other, std::size_t target) {
        sizes_[target] = sizes_[one] + sizes_[other];
        for (std::size_t sum = 0; sum < n_sums_; ++sum)
            sums_[target * n_sums_ + sum] = sums_[one * n_sums_ + sum] + sums_[other * n_sums_ + sum];
    }

private:
    std::size_t n_sums_ = 0;
    std::vector<std::uint32_t> sizes_;
    std::vector<double> sums_; // [slot][sum]
};

} // namespace partita::models
