// Mixture samplers: arrays in, draws out.
#include <nanobind/nanobind.h>

#include <memory>

#include "arrays.hpp"
#include "bindings.hpp"
#include "mixture_sampler.hpp"
#include "models/diagonal_gaussian.hpp"
#include "models/full_gaussian.hpp"

using namespace partita::models;

namespace {

std::vector<double> doubles(const nb::list& list) { return numbers_of<double>(list); }

std::vector<double> copy(const Array2<double>& array) { return {array.data(), array.data() + array.size()}; }

template <class Family, class Base> void bind_gaussian(nb::module_& m, const char* name) {
    using Table = Array2<double>;
    const auto table_of = [](const Table& data) {
        return std::make_shared<NumberTable>(copy(data), data.shape(1));
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
}

} // namespace

void bind_mixture(nb::module_& m) {
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
    nb::class_<PartitionPriorSettings>(m, "PartitionPriorSettings")
        .def(
            "__init__",
            [](PartitionPriorSettings* self, double alpha, double discount, double shape, double rate,
               nb::list grid, nb::list grid_log_prior, nb::list log_v) {
                new (self) PartitionPriorSettings{
                    alpha, discount, shape, rate, doubles(grid), doubles(grid_log_prior), doubles(log_v)};
            },
            nb::arg("alpha"), nb::arg("discount"), nb::arg("shape"), nb::arg("rate"), nb::arg("grid"),
            nb::arg("grid_log_prior"), nb::arg("log_v"));
    bind_gaussian<FullGaussian, WishartBase>(m, "FullGaussianSampler");
    bind_gaussian<DiagonalGaussian, GammaBase>(m, "DiagonalGaussianSampler");
}
