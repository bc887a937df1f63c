// The columns of a table as Python hands them over, for mixtures and for block models.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

#include "bindings/common/arrays.hpp"
#include "mixtures/families/product.hpp"

/// Blocks of columns with the families that model them. Chains share the table.
struct MixtureColumns {
    std::shared_ptr<partita::models::ProductTable> table;
    partita::models::Product family;

    MixtureColumns(std::size_t n_items, double log_carrier)
        : table(std::make_shared<partita::models::ProductTable>(n_items, log_carrier)) {}

    std::size_t max_size() const { return table->n_items() + 1; }

    template <class Array> void check(const Array& cells, std::size_t columns) const {
        if (cells.shape(0) != table->n_items() || cells.shape(1) != columns || columns == 0)
            throw nb::value_error("the cells do not fit the table and the base");
    }

    template <class Base, class Family>
    void add_numbers(const Array2<double>& cells, const Base& base, Family columns) {
        check(cells, base.mean.size());
        table->add(partita::models::NumberTable(shared_cells(cells), cells.shape(1)));
        family.add(std::move(columns));
    }

    template <class Code>
    void add_codes(const Array2<Code>& codes, const partita::models::DirichletBase& base) {
        check(codes, base.levels.size());
        for (std::size_t cell = 0; cell < codes.size(); ++cell)
            if (const auto code = codes.data()[cell]; code != partita::models::LevelTable<Code>::gap &&
                                                      code >= base.levels[cell % base.levels.size()])
                throw nb::value_error("a code is not that of a level");
        table->add(partita::models::LevelTable<Code>(shared_cells(codes), codes.shape(1)));
        family.add(partita::models::Categorical<Code>(base, max_size()));
    }
};
