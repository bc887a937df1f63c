// Tables of columns of several kinds, and their sampler.
#include <nanobind/nanobind.h>

#include <memory>

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/mcmc/mixture_sampler.hpp"
#include "bindings/mixtures/mixture_search.hpp"

using namespace partita::models;

namespace {

/// Blocks of columns with the families that model them. Chains share the table.
struct MixtureColumns {
    std::shared_ptr<ProductTable> table;
    Product family;

    MixtureColumns(std::size_t n_items, double log_carrier)
        : table(std::make_shared<ProductTable>(n_items, log_carrier)) {}

    std::size_t max_size() const { return table->n_items() + 1; }

    template <class Array> void check(const Array& cells, std::size_t columns) const {
        if (cells.shape(0) != table->n_items() || cells.shape(1) != columns || columns == 0)
            throw nb::value_error("the cells do not fit the table and the base");
    }

    template <class Base, class Family>
    void add_numbers(const Array2<double>& cells, const Base& base, Family columns) {
        check(cells, base.mean.size());
        table->add(NumberTable(shared_cells(cells), cells.shape(1)));
        family.add(std::move(columns));
    }
};

template <class Code>
void add_levels(MixtureColumns& self, const Array2<Code>& codes, const nb::list& levels,
                const nb::list& weights) {
    const DirichletBase base{values_of<std::uint32_t>(levels), values_of<double>(weights)};
    self.check(codes, base.levels.size());
    self.check(codes, base.weights.size());
    for (std::size_t cell = 0; cell < codes.size(); ++cell)
        if (const auto code = codes.data()[cell];
            code != LevelTable<Code>::gap && code >= base.levels[cell % base.levels.size()])
            throw nb::value_error("a code is not that of a level");
    self.table->add(LevelTable<Code>(shared_cells(codes), codes.shape(1)));
    self.family.add(Categorical<Code>(base, self.max_size()));
}

} // namespace

void bind_mixture_columns(nb::module_& m) {
    nb::class_<MixtureColumns>(m, "MixtureColumns")
        .def(nb::init<std::size_t, double>(), nb::arg("n_items"), nb::arg("log_carrier"))
        .def(
            "add_gaussian",
            [](MixtureColumns& self, const Array2<double>& cells, const GammaBase& base) {
                self.add_numbers(cells, base, DiagonalGaussian(base, self.max_size()));
            },
            nb::arg("cells"), nb::arg("base"))
        .def(
            "add_gaussian_with_gaps",
            [](MixtureColumns& self, const Array2<double>& cells, const GammaBase& base) {
                self.add_numbers(cells, base, GaussianCells(base, self.max_size()));
            },
            nb::arg("cells"), nb::arg("base"))
        .def(
            "add_full_gaussian",
            [](MixtureColumns& self, const Array2<double>& cells, const WishartBase& base) {
                self.add_numbers(cells, base, FullGaussian(base, self.max_size()));
            },
            nb::arg("cells"), nb::arg("base"))
        .def("add_levels", &add_levels<std::uint8_t>, nb::arg("codes"), nb::arg("levels"), nb::arg("weights"))
        .def("add_levels", &add_levels<std::uint32_t>, nb::arg("codes"), nb::arg("levels"),
             nb::arg("weights"))
        .def(
            "add_counts",
            [](MixtureColumns& self, const Array2<std::uint32_t>& counts, nb::list shape, nb::list rate) {
                const RateBase base{values_of<double>(shape), values_of<double>(rate)};
                self.check(counts, base.shape.size());
                self.check(counts, base.rate.size());
                self.table->add(CountTable(shared_cells(counts), counts.shape(1)));
                self.family.add(Counts(base));
            },
            nb::arg("counts"), nb::arg("shape"), nb::arg("rate"));
    const auto make = [](const MixtureColumns& columns) { return std::pair(columns.table, columns.family); };
    bind_sampler<Product>(m, "MixtureColumnsSampler", Inputs<MixtureColumns>{}, make, nb::arg("columns"))
        .def(
            "score_new",
            [](MixtureSampler<Product>& self, const Array1<std::uint32_t>& labels, double alpha,
               const MixtureColumns& columns) {
                return score_table(self, labels, alpha, nb::list(), *columns.table);
            },
            nb::arg("labels"), nb::arg("alpha"), nb::arg("columns"));
    bind_mixture_search<Product>(m, "MixtureColumnsSearch", Inputs<MixtureColumns>{}, make,
                                 nb::arg("columns"));
}
