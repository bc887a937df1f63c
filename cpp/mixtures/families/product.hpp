// Tables of columns of several kinds: a family for each block of columns, and their product within a cluster.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "mixtures/families/categorical.hpp"
#include "mixtures/families/counts.hpp"
#include "mixtures/families/diagonal_gaussian.hpp"
#include "mixtures/families/full_gaussian.hpp"
#include "mixtures/families/gaussian_cells.hpp"
#include "mixtures/families/negative_binomial.hpp"
#include "mixtures/families/regression.hpp"
#include "mixtures/families/sums.hpp"
#include "mixtures/mixture_family.hpp"
#include "mixtures/noise_rows.hpp"

namespace partita::models {

/// One table for each block, of the same items.
class ProductTable {
public:
    using Block =
        std::variant<NumberTable, LevelTable<std::uint8_t>, LevelTable<std::uint32_t>, CountTable, SumTable>;
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
                               Categorical<std::uint32_t>, Counts, Sums<NegativeBinomial>, Sums<Regression>>;
    class Summaries;

    void add(Block block) {
        blocks_.push_back(std::move(block));
        takes_part_.push_back(1);
    }

    /// Lets every unit (a column, or the columns of a block that has one parameter) have a parameter for each
    /// cluster, or one for all. `log_odds`: the prior's, of the former.
    void select(const Table& table, double log_odds);
    bool selects() const { return !shared_.empty(); }
    const std::vector<std::uint8_t>& included() const { return included_; }
    void set_included(const std::vector<std::uint8_t>& included) {
        included_ = included;
        std::size_t unit = 0;
        for_each([&](auto& family, std::size_t b) {
            const auto first = included_.begin() + static_cast<std::ptrdiff_t>(unit),
                       last = first + n_units(family);
            takes_part_[b] = std::find(first, last, 1) != last;
            if constexpr (requires { family.set_included(std::span(first, last)); })
                family.set_included(std::span(first, last));
            unit = static_cast<std::size_t>(last - included_.begin());
        });
    }
    /// The log odds of each unit, but for its clusters.
    std::vector<double> log_odds_without_clusters() const {
        auto odds = shared_;
        for (auto& value : odds)
            value = log_odds_ - value;
        return odds;
    }
    /// Adds ln p of the cells of each unit in a cluster, whether they take part or not.
    void add_unit_marginals(std::size_t slot, double* out) const {
        for (const auto& block : blocks_)
            out = std::visit(
                [&](const auto& family) {
                    if constexpr (requires { family.add_unit_marginals(slot, out); })
                        family.add_unit_marginals(slot, out);
                    else
                        *out += family.log_marginal(slot);
                    return out + n_units(family);
                },
                block);
    }
    /// ln p of the units that do not take part, and of the selection itself.
    double log_shared() const {
        double total = 0.0;
        for (std::size_t unit = 0; unit < shared_.size(); ++unit)
            total += (included_[unit] ? log_odds_ : shared_[unit]) - std::log1p(std::exp(log_odds_));
        return total;
    }

    /// Rows may be noise; copies of the family share which of them are, until one has rows of its own.
    void admit_noise(std::size_t n_rows, double a, double b) {
        noise_ = std::make_shared<NoiseRows>(n_rows, a, b);
        n_rows_ = n_rows;
    }
    void own_noise() {
        if (noise_)
            noise_ = std::make_shared<NoiseRows>(*noise_);
    }
    NoiseRows* noise() const { return noise_.get(); }

    std::uint32_t size(std::size_t slot) const { return sizes_[slot]; }
    /// Items of a slot that are not noise.
    std::uint32_t members(std::size_t slot) const {
        return std::visit([&](const auto& family) { return family.size(slot); }, blocks_.front());
    }

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
        if (!is_noise(x))
            insert_cells(slot, x);
    }

    void remove(std::size_t slot, Table::Item x) {
        --sizes_[slot];
        if (!is_noise(x))
            remove_cells(slot, x);
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
        if (is_noise(x))
            return;
        if (noise_ && own != no_slot && sizes_[own] > 1 && members(own) == 1) { // only noise beside it
            remove_cells(own, x);
            score_above(x, no_slot, slots, depth, out);
            return insert_cells(own, x);
        }
        auto last = blocks_.size() - 1;
        while (last > 0 && !takes_part_[last])
            --last;
        for_each([&](auto& family, std::size_t b) {
            if (!takes_part_[b])
                return;
            const auto cells = part(family, x, b);
            if constexpr (requires { family.score_above(cells, own, slots, depth, out); })
                family.score_above(cells, own, slots, b == last ? depth : everything, out);
            else
                family.score(cells, own, slots, out);
            if (own != no_slot && sizes_[own] > 1)
                own_ratio_ = std::min(own_ratio_, family.own_ratio(own));
        });
    }
    double own_ratio(std::size_t) const { return own_ratio_; }

    double log_marginal(std::size_t slot) const {
        double total = 0.0;
        for (std::size_t b = 0; b < blocks_.size(); ++b)
            if (takes_part_[b])
                total +=
                    std::visit([&](const auto& family) { return family.log_marginal(slot); }, blocks_[b]);
        return total;
    }

    template <class Archive> void visit(Archive& archive) {
        if (selects())
            archive(included_);
        if (noise_)
            archive(*noise_);
        for_each([&](auto& family, std::size_t) { family.visit(archive); });
    }
    bool fits(std::size_t stride) const {
        return included_.size() == shared_.size() && (!noise_ || noise_->fits(n_rows_)) &&
               std::all_of(included_.begin(), included_.end(), [](auto value) { return value <= 1; }) &&
               std::all_of(blocks_.begin(), blocks_.end(), [&](const auto& block) {
                   return std::visit([&](const auto& family) { return family.fits(stride); }, block);
               });
    }
    /// What follows from the labels is not stored; what is stored must be of the same labels.
    bool recount(const Summaries& summaries, std::size_t stride);

private:
    bool is_noise(Table::Item x) const { return noise_ && noise_->contains(x.row); }

    void insert_cells(std::size_t slot, Table::Item x) {
        for_each([&](auto& family, std::size_t b) { family.insert(slot, part(family, x, b)); });
    }
    void remove_cells(std::size_t slot, Table::Item x) {
        for_each([&](auto& family, std::size_t b) { family.remove(slot, part(family, x, b)); });
    }

    template <class Family> static std::ptrdiff_t n_units(const Family& family) {
        if constexpr (requires(Family& own) { own.set_included(std::span<const std::uint8_t>()); })
            return static_cast<std::ptrdiff_t>(family.dims());
        return 1;
    }

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
    std::vector<std::uint8_t>
        takes_part_; // of the blocks: those without a unit that is included are passed over
    std::vector<std::uint8_t> included_; // of the units, if they are selected
    std::vector<double> shared_;         // ln p of all cells of each unit together
    double log_odds_ = 0.0;
    std::shared_ptr<NoiseRows> noise_; // null if no row may be noise
    std::size_t n_rows_ = 0;           // that may be noise
    std::vector<std::uint32_t> sizes_;
    double own_ratio_ = 1.0;
};

class Product::Summaries {
public:
    using Block =
        std::variant<DiagonalGaussian::Summaries, FullGaussian::Summaries, GaussianCells::Summaries,
                     Categorical<std::uint8_t>::Summaries, Categorical<std::uint32_t>::Summaries,
                     Counts::Summaries, Sums<NegativeBinomial>::Summaries, Sums<Regression>::Summaries>;

    void compute(Product& family, const ProductTable& table, std::span<const std::uint32_t> items,
                 std::span<const std::uint32_t> labels, std::size_t slots) {
        sizes_.assign(slots, 0);
        for (const auto label : labels)
            ++sizes_[label];
        blocks_.resize(family.blocks_.size());
        if (family.noise_) {
            members_.clear(), member_labels_.clear();
            for (std::size_t p = 0; p < items.size(); ++p)
                if (!family.noise_->contains(items[p]))
                    members_.push_back(items[p]), member_labels_.push_back(labels[p]);
            items = members_, labels = member_labels_;
        }
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
    std::vector<std::uint32_t> members_, member_labels_; // items that are not noise, if some may be
    std::vector<Block> blocks_;
};

inline void Product::select(const Table& table, double log_odds) {
    std::ptrdiff_t units = 0;
    for_each([&](auto& family, std::size_t) { units += n_units(family); });
    widen(common::lanes);
    set_included(std::vector<std::uint8_t>(static_cast<std::size_t>(units), 1));
    const std::vector<std::uint32_t> zeros(table.n_items(), 0u);
    Summaries together;
    together.compute(*this, table, all_places(table.n_items()), zeros, 1);
    together.assign_to(*this, 0, 0);
    shared_.assign(included_.size(), 0.0);
    add_unit_marginals(0, shared_.data());
    clear(0);
    log_odds_ = log_odds;
}

inline bool Product::recount(const Summaries& summaries, std::size_t stride) {
    bool good = true;
    if (selects())
        set_included(std::vector<std::uint8_t>(included_));
    sizes_.resize(stride);
    for (std::size_t slot = 0; slot < stride; ++slot)
        sizes_[slot] = summaries.size(slot);
    for_each([&]<class Family>(Family& family, std::size_t b) {
        if constexpr (requires { family.recount(summaries.block<Family>(b), stride); })
            good = good && family.recount(summaries.block<Family>(b), stride);
        else
            for (std::size_t slot = 0; slot < stride; ++slot)
                good = good && family.size(slot) == summaries.block<Family>(b).size(slot);
    });
    return good;
}

} // namespace partita::models
