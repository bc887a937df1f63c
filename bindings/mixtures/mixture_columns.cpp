// Tables of columns of several kinds, and their sampler.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/mcmc/mixture_sampler.hpp"
#include "bindings/mixtures/mixture_columns.hpp"
#include "bindings/mixtures/mixture_search.hpp"

using namespace partita::models;

namespace {

template <class Code>
void add_levels(MixtureColumns& self, const Array2<Code>& codes, const nb::list& levels,
                const nb::list& weights) {
    const DirichletBase base{values_of<std::uint32_t>(levels), values_of<double>(weights)};
    self.check(codes, base.weights.size());
    self.add_codes(codes, base);
}

/// Levels whose shares are on a grid of as many points for each column: (levels, points) for each.
void add_ordinal(MixtureColumns& self, const Array2<std::uint8_t>& codes, const Array1<double>& log_weights,
                 const nb::list& shares) {
    const auto points = log_weights.size();
    DirichletBase base;
    for (const auto& own : shares) {
        const auto table = nb::cast<Array2<double>>(own);
        if (table.shape(1) != points || points % partita::common::lanes != 0)
            throw nb::value_error("the shares do not fit the grid, whose points are a multiple of 4");
        auto grid = std::make_shared<LevelGrid>();
        grid->log_weights.assign(log_weights.data(), log_weights.data() + points);
        grid->shares.assign(table.data(), table.data() + table.size());
        for (const double share : grid->shares)
            grid->log_shares.push_back(std::log(share));
        base.levels.push_back(static_cast<std::uint32_t>(table.shape(0)));
        base.weights.push_back(1.0);
        base.grids.push_back(std::move(grid));
    }
    self.add_codes(codes, base);
}

/// One block of statistics; its width is that of the model.
template <class Model>
void add_sums(MixtureColumns& self, const Array2<double>& statistics, const Array2<double>& coordinates,
              Model model) {
    self.check(statistics, model.width());
    self.check(coordinates, coordinates.shape(1));
    self.table->add(SumTable(shared_cells(statistics), statistics.shape(1),
                             NumberTable(shared_cells(coordinates), coordinates.shape(1))));
    self.family.add(Sums<Model>(std::move(model)));
}

void add_regression(MixtureColumns& self, const Array2<double>& statistics, const Array2<double>& coordinates,
                    const nb::list& precision, double a, double b, const nb::list& log_weights) {
    RegressionBase base{values_of<double>(precision), a, b, values_of<double>(log_weights)};
    if (base.precision.empty() || base.precision.size() > Regression::max_coefficients ||
        base.log_weights.empty())
        throw nb::value_error("a regression has from 1 to 16 coefficients, and ratios");
    double observations = 0.0;
    for (std::size_t i = 0; i < statistics.shape(0); ++i)
        observations += statistics.data()[i * statistics.shape(1)];
    add_sums(self, statistics, coordinates,
             Regression(std::move(base), static_cast<std::size_t>(observations)));
}

void check_selection(const Product& family, const std::vector<std::uint8_t>& units) {
    if (units.size() != family.included().size())
        throw nb::value_error("the selection does not fit the units");
}

/// The log odds that each unit has a parameter for each cluster of a partition.
NumpyOut<double> selection_odds(const MixtureColumns& self, const Array1<std::uint32_t>& labels) {
    if (!self.family.selects() || labels.size() != self.table->n_items())
        throw nb::value_error("the labels are not of the table, or nothing is selected");
    auto family = self.family;
    const auto highest = *std::max_element(labels.data(), labels.data() + labels.size());
    const auto slots = partita::common::round_to_lanes(highest + std::size_t{1});
    Product::Summaries clusters;
    family.widen(slots);
    clusters.compute(family, *self.table, all_places(labels.size()), as_span(labels), slots);
    for (std::size_t slot = 0; slot < slots; ++slot)
        clusters.assign_to(family, slot, slot);
    return to_numpy(selection_log_odds(family, slots));
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
            nb::arg("counts"), nb::arg("shape"), nb::arg("rate"))
        .def("add_ordinal", &add_ordinal, nb::arg("codes"), nb::arg("log_weights"), nb::arg("shares"))
        .def(
            "add_negative_binomial",
            [](MixtureColumns& self, const Array2<double>& statistics, const Array2<double>& coordinates,
               double shape, double rate, const nb::list& sizes) {
                add_sums(self, statistics, coordinates,
                         NegativeBinomial({shape, rate, values_of<double>(sizes)}));
            },
            nb::arg("statistics"), nb::arg("coordinates"), nb::arg("shape"), nb::arg("rate"),
            nb::arg("sizes"))
        .def("add_regression", &add_regression, nb::arg("statistics"), nb::arg("coordinates"),
             nb::arg("precision"), nb::arg("a"), nb::arg("b"), nb::arg("log_weights"))
        .def(
            "select",
            [](MixtureColumns& self, double log_odds) { self.family.select(*self.table, log_odds); },
            nb::arg("log_odds"))
        .def(
            "admit_noise",
            [](MixtureColumns& self, double a, double b) {
                self.family.admit_noise(self.table->n_items(), a, b);
            },
            nb::arg("a"), nb::arg("b"))
        .def("selection_odds", &selection_odds, nb::arg("labels"))
        .def(
            "set_included",
            [](MixtureColumns& self, const nb::list& included) {
                const auto units = values_of<std::uint8_t>(included);
                check_selection(self.family, units);
                self.family.set_included(units);
            },
            nb::arg("included"));
    const auto make = [](const MixtureColumns& columns) {
        auto family = columns.family;
        family.own_noise();
        return std::pair(columns.table, std::move(family));
    };
    bind_sampler<Product>(m, "MixtureColumnsSampler", Inputs<MixtureColumns>{}, make, nb::arg("columns"))
        .def(
            "set_state",
            [](MixtureSampler<Product>& self, const Array1<std::uint32_t>& labels, double alpha) {
                self.set_state(as_span(labels), alpha, {});
            },
            nb::arg("labels"), nb::arg("alpha"))
        .def(
            "score_new",
            [](MixtureSampler<Product>& self, const Array1<std::uint32_t>& labels, double alpha,
               const MixtureColumns& columns, const nb::list& included) {
                if (const auto units = values_of<std::uint8_t>(included); !units.empty()) {
                    check_selection(self.family(), units);
                    self.set_included(units);
                }
                return score_table(self, labels, alpha, nb::list(), *columns.table);
            },
            nb::arg("labels"), nb::arg("alpha"), nb::arg("columns"), nb::arg("included") = nb::list());
    bind_mixture_search<Product>(m, "MixtureColumnsSearch", Inputs<MixtureColumns>{}, make,
                                 nb::arg("columns"));
}
