// Mixture samplers: arrays in, draws out.
#include <nanobind/nanobind.h>

#include <memory>
#include <utility>
#include <variant>

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/mcmc/mixture_sampler.hpp"
#include "bindings/mixtures/mixture_search.hpp"

using namespace partita::models;

namespace {

std::vector<double> doubles(const nb::list& list) { return values_of<double>(list); }

template <class Family, class Base> void bind_gaussian(nb::module_& m, const char* name, const char* search) {
    using Table = Array2<double>;
    const auto table_of = [](const Table& data) {
        return std::make_shared<NumberTable>(shared_cells(data), data.shape(1));
    };
    const auto make = [table_of](const Table& data, const Base& base) {
        return std::pair(table_of(data), Family(base, data.shape(0) + 1));
    };
    bind_sampler<Family>(m, name, Inputs<Table, Base>{}, make, nb::arg("data"), nb::arg("base"))
        .def(
            "score_new",
            [table_of](MixtureSampler<Family>& self, const Array1<std::uint32_t>& labels, double alpha,
                       const nb::list& place, const Table& points) {
                return score_table(self, labels, alpha, place, *table_of(points));
            },
            nb::arg("labels"), nb::arg("alpha"), nb::arg("place"), nb::arg("points"));
    bind_mixture_search<Family>(m, search, Inputs<Table, Base>{}, make, nb::arg("data"), nb::arg("base"));
}

void bind_partition_priors(nb::module_& m) {
    nb::class_<FixedConcentration>(m, "FixedConcentration")
        .def(
            "__init__", [](FixedConcentration* self, double value) { new (self) FixedConcentration{value}; },
            nb::arg("value"));
    nb::class_<GammaConcentration>(m, "GammaConcentration")
        .def(
            "__init__",
            [](GammaConcentration* self, double shape, double rate, double start) {
                new (self) GammaConcentration{shape, rate, start};
            },
            nb::arg("shape"), nb::arg("rate"), nb::arg("start") = 1.0);
    nb::class_<GridConcentration>(m, "GridConcentration")
        .def(
            "__init__",
            [](GridConcentration* self, nb::list values, nb::list log_prior) {
                if (values.size() == 0 || values.size() != log_prior.size())
                    throw nb::value_error("a grid needs values, and one log weight per value");
                new (self) GridConcentration{doubles(values), doubles(log_prior)};
            },
            nb::arg("values"), nb::arg("log_prior"));
    nb::class_<ProcessPrior>(m, "ProcessPrior")
        .def(
            "__init__",
            [](ProcessPrior* self, Alpha alpha, double discount) {
                new (self) ProcessPrior{std::move(alpha), discount};
            },
            nb::arg("alpha"), nb::arg("discount") = 0.0);
    nb::class_<FiniteMixturePrior>(m, "FiniteMixturePrior")
        .def(
            "__init__",
            [](FiniteMixturePrior* self, double weight, nb::list log_v) {
                if (log_v.size() < 2)
                    throw nb::value_error("a finite mixture needs ln V(t) for t = 0, 1, ...");
                new (self) FiniteMixturePrior{weight, doubles(log_v)};
            },
            nb::arg("weight"), nb::arg("log_v"));
}

} // namespace

void bind_gaussian_mixtures(nb::module_& m) {
    bind_mixture_plan(m);
    nb::class_<WishartBase>(m, "WishartBase")
        .def(
            "__init__",
            [](WishartBase* self, nb::list mean, nb::list kappas, nb::list nus, nb::list scale,
               nb::list spreads) {
                new (self) WishartBase{doubles(mean), doubles(kappas), doubles(nus), doubles(scale),
                                       doubles(spreads)};
            },
            nb::arg("mean"), nb::arg("kappas"), nb::arg("nus"), nb::arg("scale"), nb::arg("spreads"));
    nb::class_<GammaBase>(m, "GammaBase")
        .def(
            "__init__",
            [](GammaBase* self, nb::list mean, nb::list c, nb::list a, nb::list b) {
                new (self) GammaBase{doubles(mean), doubles(c), doubles(a), doubles(b)};
            },
            nb::arg("mean"), nb::arg("c"), nb::arg("a"), nb::arg("b"));
    bind_partition_priors(m);
    bind_gaussian<FullGaussian, WishartBase>(m, "FullGaussianSampler", "FullGaussianSearch");
    bind_gaussian<DiagonalGaussian, GammaBase>(m, "DiagonalGaussianSampler", "DiagonalGaussianSearch");
}
