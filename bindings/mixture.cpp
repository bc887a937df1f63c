// Mixture samplers: arrays in, draws out.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "models/diagonal_gaussian.hpp"
#include "models/full_gaussian.hpp"
#include "models/mixture_sampler.hpp"

using namespace partita;

namespace {

std::vector<double> copy(const Array2<double>& array) { return {array.data(), array.data() + array.size()}; }

template <class Family> std::vector<std::string> stat_names() {
    std::vector<std::string> names{"log_density", "n_clusters", "alpha", "split_merges"};
    if constexpr (has_grids<Family>)
        names.insert(names.end(), {"kappa0", "nu0", "spread"});
    return names;
}

template <class Family>
void write_stats(const MixtureSampler<Family>& sampler, std::uint64_t accepted, double* out) {
    *out++ = sampler.log_density();
    *out++ = static_cast<double>(sampler.n_clusters());
    *out++ = sampler.alpha();
    *out++ = static_cast<double>(accepted);
    if constexpr (has_grids<Family>) {
        const auto& base = sampler.family().base();
        const auto place = sampler.family().grid_place();
        *out++ = base.kappas[place[0]];
        *out++ = base.nus[place[1]];
        *out++ = base.spreads.empty() ? 1.0 : base.spreads[place[2]];
    }
}

template <class Family>
auto advance(MixtureSampler<Family>& sampler, std::uint64_t sweeps, std::uint64_t warmup,
             std::uint64_t thin) {
    const auto n_stats = stat_names<Family>().size();
    auto draws_after = [&](std::uint64_t s) { return s > warmup ? (s - warmup) / thin : 0; };
    const auto n_draws = draws_after(sampler.sweeps() + sweeps) - draws_after(sampler.sweeps());
    std::vector<std::uint32_t> labels(n_draws * sampler.n_items());
    std::vector<double> stats(n_draws * n_stats);
    {
        nb::gil_scoped_release release;
        auto* next_labels = labels.data();
        auto* next_stats = stats.data();
        for (std::uint64_t s = 0; s < sweeps; ++s) {
            const auto drawn = draws_after(sampler.sweeps());
            sampler.sweep();
            if (draws_after(sampler.sweeps()) == drawn)
                continue;
            sampler.write_labels(next_labels);
            write_stats(sampler, sampler.take_accepted(), next_stats);
            next_labels += sampler.n_items(), next_stats += n_stats;
        }
    }
    return nb::make_tuple(to_numpy(std::move(labels), {n_draws, sampler.n_items()}),
                          to_numpy(std::move(stats), {n_draws, n_stats}));
}

/// Log weights of new points for every cluster of a given partition (canonical labels), the last column for a
/// new one.
template <class Family>
NumpyOut<double> score_new(MixtureSampler<Family>& sampler, const Array1<std::uint32_t>& labels, double alpha,
                           const std::vector<std::uint32_t>& place, const Array2<double>& points) {
    sampler.set_state(as_span(labels), alpha, place);
    const auto clusters = sampler.n_clusters(), columns = clusters + 1;
    std::vector<double> scores(points.shape(0) * columns);
    {
        nb::gil_scoped_release release;
        for (std::size_t row = 0; row < points.shape(0); ++row) {
            const auto found = sampler.score_new(points.data() + row * points.shape(1));
            std::copy_n(found.begin(), clusters, scores.begin() + static_cast<std::ptrdiff_t>(row * columns));
            scores[row * columns + clusters] = found[sampler.open_slot()];
        }
    }
    return to_numpy(std::move(scores), {points.shape(0), columns});
}

template <class Family, class Base> void bind_sampler(nb::module_& m, const char* name) {
    using Sampler = MixtureSampler<Family>;
    nb::class_<Sampler>(m, name)
        .def(
            "__init__",
            [](Sampler* self, const Array2<double>& data, Base base, PartitionPriorSettings prior,
               double split_merges, std::uint32_t restricted_scans, std::uint64_t seed, std::uint64_t stream,
               const Array1<std::uint32_t>& labels) {
                new (self)
                    Sampler(copy(data), Family(std::move(base), data.shape(0) + 1), std::move(prior),
                            MixtureMoves{split_merges, restricted_scans}, seed, stream, as_span(labels));
            },
            nb::arg("data"), nb::arg("base"), nb::arg("prior"), nb::arg("split_merges"),
            nb::arg("restricted_scans"), nb::arg("seed"), nb::arg("stream"), nb::arg("labels"))
        .def_prop_ro("sweeps", &Sampler::sweeps)
        .def_prop_ro("stat_names", [](const Sampler&) { return stat_names<Family>(); })
        .def("advance", &advance<Family>, nb::arg("sweeps"), nb::arg("warmup"), nb::arg("thin"))
        .def("state",
             [](Sampler& self) {
                 const auto bytes = self.state();
                 return nb::bytes(bytes.data(), bytes.size());
             })
        .def(
            "restore",
            [](Sampler& self, const nb::bytes& bytes) {
                self.restore(std::string(bytes.c_str(), bytes.size()));
            },
            nb::arg("state"))
        .def("score_new", &score_new<Family>, nb::arg("labels"), nb::arg("alpha"), nb::arg("place"),
             nb::arg("points"));
}

} // namespace

void bind_mixture(nb::module_& m) {
    nb::class_<WishartBase>(m, "WishartBase")
        .def(nb::init<std::vector<double>, std::vector<double>, std::vector<double>, std::vector<double>,
                      std::vector<double>>(),
             nb::arg("mean"), nb::arg("kappas"), nb::arg("nus"), nb::arg("scale"), nb::arg("spreads"));
    nb::class_<GammaBase>(m, "GammaBase")
        .def(nb::init<std::vector<double>, std::vector<double>, std::vector<double>, std::vector<double>>(),
             nb::arg("mean"), nb::arg("c"), nb::arg("a"), nb::arg("b"));
    nb::class_<PartitionPriorSettings>(m, "PartitionPriorSettings")
        .def(nb::init<double, double, double, double, std::vector<double>, std::vector<double>,
                      std::vector<double>>(),
             nb::arg("alpha"), nb::arg("discount"), nb::arg("shape"), nb::arg("rate"), nb::arg("grid"),
             nb::arg("grid_log_prior"), nb::arg("log_v"));
    bind_sampler<FullGaussian, WishartBase>(m, "FullGaussianSampler");
    bind_sampler<DiagonalGaussian, GammaBase>(m, "DiagonalGaussianSampler");
}
