// Tables of columns of several kinds: a family for each block of columns, and their product within a cluster.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "mixtures/families/categorical.hpp"
#include "mixtures/families/counts.hpp"
#include "mixtures/families/diagonal_gaussian.hpp"
#include "mixtures/families/full_gaussian.hpp"
#include "mixtures/families/gaussian_cells.hpp"
#include "mixtures/mixture_family.hpp"

namespace partita::models {

/// One table for each block, of the same items.
class ProductTable {
public:
    using Block = std::variant<NumberTable, LevelTable<std::uint8_t>, LevelTable<std::uint32_t>, CountTable>;
    struct Item {
        const ProductTable* table;
        std::size_t row;
    };

    /// `log_carrier`: what the densities of all items have in common that the families leave out, such as
    /// 1/x!.
    ProductTable(std::size_t n_items, double log_carrier) : n_items_(n_items), log_carrier_(log_carrier) {}

    void add(Block block) { blocks_.push_back(std::move(block)); }

    std::size_t n_items() const { return n_items_; }
    double log_carrier() const { return log_carrier_; }
    Item item(std::size_t i) const { return {this, i}; }
    template <class Table> const Table& block(std::size_t b) const { return std::get<Table>(blocks_[b]); }
    double distance(std::size_t one, std::size_t other) const {
        double sum = 0.0;
        for (const auto& block : blocks_)
            sum += std::visit([&](const auto& table) { return table.distance(one, other); }, block);
        return sum;
    }

private:
    std::size_t n_items_;
    double log_carrier_;
    std::vector<Block> blocks_;
};

class Product {
public:
    using Table = ProductTable;
    using Block = std::variant<DiagonalGaussian, FullGaussian, GaussianCells, Categorical<std::uint8_t>,
                               Categorical<std::uint32_t>, Counts>;
    class Summaries;

    void add(Block block) { blocks_.push_back(std::move(block)); }

    std::uint32_t size(std::size_t slot) const { return sizes_[slot]; }

    void widen(std::size_t stride) {
        sizes_.resize(stride);
        for_each([&](auto& family, std::size_t) { family.widen(stride); });
    }

    void clear(std::size_t slot) {
        sizes_[slot] = 0;
        for_each([&](auto& family, std::size_t) { family.clear(slot); });
    }

    void insert(std::size_t slot, Table::Item x) {
        ++sizes_[slot];
        for_each([&](auto& family, std::size_t b) { family.insert(slot, part(family, x, b)); });
    }

    void remove(std::size_t slot, Table::Item x) {
        --sizes_[slot];
        for_each([&](auto& family, std::size_t b) { family.remove(slot, part(family, x, b)); });
    }

    void copy_slot(const Product& from, std::size_t source, std::size_t target) {
        sizes_[target] = from.sizes_[source];
        for_each([&]<class Family>(Family& family, std::size_t b) {
            family.copy_slot(std::get<Family>(from.blocks_[b]), source, target);
        });
    }

    void score(Table::Item x, std::size_t own, std::size_t slots, double* out) {
        score_above(x, own, slots, everything, out);
    }

    /// The same, but a slot whose score is below that of `own` by more than -depth may get -infinity: the
    /// last block sees the scores of all others, and may leave such slots out.
    void score_above(Table::Item x, std::size_t own, std::size_t slots, double depth, double* out) {
        own_ratio_ = 1.0;
        for_each([&](auto& family, std::size_t b) {
            const auto cells = part(family, x, b);
            if constexpr (requires { family.score_above(cells, own, slots, depth, out); })
                family.score_above(cells, own, slots, b + 1 == blocks_.size() ? depth : everything, out);
            else
                family.score(cells, own, slots, out);
            if (own != no_slot && sizes_[own] > 1)
                own_ratio_ = std::min(own_ratio_, family.own_ratio(own));
        });
    }
    double own_ratio(std::size_t) const { return own_ratio_; }

    double log_marginal(std::size_t slot) const {
        double total = 0.0;
        for (const auto& block : blocks_)
            total += std::visit([&](const auto& family) { return family.log_marginal(slot); }, block);
        return total;
    }

    template <class Archive> void visit(Archive& archive) {
        for_each([&](auto& family, std::size_t) { family.visit(archive); });
    }
    bool fits(std::size_t stride) const {
        return std::all_of(blocks_.begin(), blocks_.end(), [&](const auto& block) {
            return std::visit([&](const auto& family) { return family.fits(stride); }, block);
        });
    }
    /// What follows from the labels is not stored; what is stored must be of the same labels.
    bool recount(const Summaries& summaries, std::size_t stride);

private:
    static constexpr double everything = -std::numeric_limits<double>::infinity();

    template <class Work> void for_each(Work work) {
        for (std::size_t b = 0; b < blocks_.size(); ++b)
            std::visit([&](auto& family) { work(family, b); }, blocks_[b]);
    }

    /// An item as the family of block b sees it.
    template <class Family> static auto part(const Family&, Table::Item x, std::size_t b) {
        return x.table->block<typename Family::Table>(b).item(x.row);
    }

    std::vector<Block> blocks_;
    std::vector<std::uint32_t> sizes_;
    double own_ratio_ = 1.0;
};

class Product::Summaries {
public:
    using Block = std::variant<DiagonalGaussian::Summaries, FullGaussian::Summaries, GaussianCells::Summaries,
                               Categorical<std::uint8_t>::Summaries, Categorical<std::uint32_t>::Summaries,
                               Counts::Summaries>;

    void compute(Product& family, const ProductTable& table, std::span<const std::uint32_t> items,
                 std::span<const std::uint32_t> labels, std::size_t slots) {
        sizes_.assign(slots, 0);
        for (const auto label : labels)
            ++sizes_[label];
        blocks_.resize(family.blocks_.size());
        family.for_each([&]<class Family>(Family& part, std::size_t b) {
            if (!std::holds_alternative<typename Family::Summaries>(blocks_[b]))
                blocks_[b] = typename Family::Summaries{};
            std::get<typename Family::Summaries>(blocks_[b])
                .compute(part, table.block<typename Family::Table>(b), items, labels, slots);
        });
    }

    std::uint32_t size(std::size_t slot) const { return sizes_[slot]; }

    void assign_to(Product& family, std::size_t slot, std::size_t source) const {
        family.sizes_[slot] = sizes_[source];
        family.for_each([&]<class Family>(Family& part, std::size_t b) {
            block<Family>(b).assign_to(part, slot, source);
        });
    }

    void join(std::size_t one, std::size_t other, std::size_t target) {
        sizes_[target] = sizes_[one] + sizes_[other];
        for (auto& block : blocks_)
            std::visit([&](auto& part) { part.join(one, other, target); }, block);
    }

    template <class Family> const typename Family::Summaries& block(std::size_t b) const {
        return std::get<typename Family::Summaries>(blocks_[b]);
    }

private:
    std::vector<std::uint32_t> sizes_;
    std::vector<Block> blocks_;
};

inline bool Product::recount(const Summaries& summaries, std::size_t stride) {
    bool good = true;
    sizes_.resize(stride);
    for (std::size_t slot = 0; slot < stride; ++slot)
        sizes_[slot] = summaries.size(slot);
    for_each([&]<class Family>(Family& family, std::size_t b) {
        if constexpr (requires { family.recount(summaries.block<Family>(b), stride); })
            good = good && family.recount(summaries.block<Family>(b), stride);
        else
            for (std::size_t slot = 0; slot < stride; ++slot)
                good = good && family.size(slot) == sizes_[slot];
    });
    return good;
}

} // namespace partita::models
