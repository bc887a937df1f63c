// Block models of networks: the conversion of arrays.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "interrupt.hpp"
#include "models/block_model.hpp"

using namespace partita;

namespace {

using Longs = Array1<std::int64_t>;
using Labels = Array1<std::uint32_t>;

template <class T> std::vector<T> copy_of(const Array1<T>& array) {
    return {array.data(), array.data() + array.size()};
}

std::vector<std::vector<std::uint32_t>> rows_of(const Array2<std::uint32_t>& array) {
    std::vector<std::vector<std::uint32_t>> rows;
    for (std::size_t r = 0; r < array.shape(0); ++r)
        rows.emplace_back(array.data() + r * array.shape(1), array.data() + (r + 1) * array.shape(1));
    return rows;
}

nb::tuple path_arrays(const std::vector<Merge>& path) {
    std::vector<std::uint32_t> into, from;
    std::vector<double> change;
    for (const auto& merge : path) {
        into.push_back(merge.into);
        from.push_back(merge.from);
        change.push_back(merge.change);
    }
    return nb::make_tuple(to_numpy(std::move(into)), to_numpy(std::move(from)), to_numpy(std::move(change)));
}

nb::tuple maximize(const BlockModel& model, const Array2<std::uint32_t>& starts, std::size_t most_rows,
                   std::size_t most_columns, std::size_t restarts, std::size_t trial_climbs,
                   std::size_t random_clusters, std::size_t generations, std::size_t most_anneals,
                   std::size_t anneal_sweeps, std::uint64_t seed, unsigned threads) {
    const SearchPlan plan{{most_rows, most_columns},
                          restarts,
                          trial_climbs,
                          random_clusters,
                          generations,
                          most_anneals,
                          anneal_sweeps,
                          seed,
                          threads};
    const auto rows = rows_of(starts);
    SearchResult result;
    const bool interrupted =
        run_interruptible([&](const StopFlag& stop) { result = model.maximize(rows, plan, stop); });
    return nb::make_tuple(to_numpy(std::move(result.best.labels)), result.best.icl,
                          to_numpy(std::move(result.run_icl)), result.generations, interrupted);
}

std::vector<std::string> stat_names(bool bipartite) {
    if (bipartite)
        return {"log_density", "n_clusters", "n_column_clusters", "k_rows", "k_columns", "split_merges"};
    return {"log_density", "n_clusters", "k", "split_merges"};
}

struct Sampler {
    BlockSampler chain;
    bool bipartite;
};

nb::tuple advance(Sampler& sampler, std::uint64_t sweeps, std::uint64_t warmup, std::uint64_t thin) {
    const auto n_stats = stat_names(sampler.bipartite).size();
    return sampler.chain.visit([&](auto& chain) {
        auto draws_after = [&](std::uint64_t s) { return s > warmup ? (s - warmup) / thin : 0; };
        const auto n_draws = draws_after(chain.sweeps() + sweeps) - draws_after(chain.sweeps());
        std::vector<std::uint32_t> labels(n_draws * chain.n_nodes());
        std::vector<double> stats;
        {
            nb::gil_scoped_release release;
            auto* next = labels.data();
            for (std::uint64_t s = 0; s < sweeps; ++s) {
                const auto drawn = draws_after(chain.sweeps());
                chain.sweep();
                if (draws_after(chain.sweeps()) == drawn)
                    continue;
                chain.write_labels(next);
                next += chain.n_nodes();
                stats.push_back(chain.log_density());
                for (std::size_t side = 0; side < (sampler.bipartite ? 2u : 1u); ++side)
                    stats.push_back(static_cast<double>(chain.filled(side)));
                for (std::size_t side = 0; side < (sampler.bipartite ? 2u : 1u); ++side)
                    stats.push_back(static_cast<double>(chain.clusters(side)));
                stats.push_back(static_cast<double>(chain.take_accepted()));
            }
        }
        return nb::make_tuple(to_numpy(std::move(labels), {n_draws, chain.n_nodes()}),
                              to_numpy(std::move(stats), {n_draws, n_stats}));
    });
}

} // namespace

void bind_block_model(nb::module_& m) {
    nb::class_<NetworkArrays>(m, "NetworkArrays", "A network in compressed rows; see partita.models.graph.")
        .def(
            "__init__",
            [](NetworkArrays* self, std::size_t n_nodes, std::size_t n_rows, bool directed,
               std::int64_t pair_exposure, std::int64_t loop_exposure) {
                new (self) NetworkArrays{};
                self->n_nodes = n_nodes;
                self->n_rows = n_rows;
                self->directed = directed;
                self->pair_exposure = pair_exposure;
                self->loop_exposure = loop_exposure;
            },
            nb::arg("n_nodes"), nb::arg("n_rows"), nb::arg("directed"), nb::arg("pair_exposure"),
            nb::arg("loop_exposure"))
        .def("set_edges",
             [](NetworkArrays& self, std::size_t direction, const Longs& start, const Labels& to,
                const Labels& count) {
                 self.edges[direction] = {copy_of(start), copy_of(to), copy_of(count)};
             })
        .def("set_missing",
             [](NetworkArrays& self, std::size_t direction, const Longs& start, const Labels& to) {
                 self.missing[direction] = {copy_of(start), copy_of(to), {}};
             })
        .def("set_loops", [](NetworkArrays& self, const Labels& loop, const Array1<std::uint8_t>& observed) {
            self.loop = copy_of(loop);
            self.loop_observed = copy_of(observed);
        });

    nb::class_<BlockModel>(m, "BlockModel", "A block model of one network; use partita.models instead.")
        .def(
            "__init__",
            [](BlockModel* self, const NetworkArrays& arrays, bool counts, double first, double second,
               bool degree_corrected, bool affiliation, double n0_rows, double n0_columns) {
                new (self) BlockModel(arrays, {counts, first, second, degree_corrected, affiliation}, n0_rows,
                                      n0_columns);
            },
            nb::arg("arrays"), nb::arg("counts"), nb::arg("first"), nb::arg("second"),
            nb::arg("degree_corrected"), nb::arg("affiliation"), nb::arg("n0_rows"), nb::arg("n0_columns"))
        .def("icl", [](const BlockModel& self, const Labels& labels) { return self.icl(as_span(labels)); })
        .def("swap_changes",
             [](const BlockModel& self, const Labels& labels, std::size_t node) {
                 return to_numpy(self.swap_changes(as_span(labels), node));
             })
        .def("merge_changes",
             [](const BlockModel& self, const Labels& labels) {
                 return to_numpy(self.merge_changes(as_span(labels)));
             })
        .def("merge_path", [](const BlockModel& self,
                              const Labels& labels) { return path_arrays(self.merge_path(as_span(labels))); })
        .def("maximize", &maximize, nb::arg("starts"), nb::arg("most_rows"), nb::arg("most_columns"),
             nb::arg("restarts"), nb::arg("trial_climbs"), nb::arg("random_clusters"), nb::arg("generations"),
             nb::arg("most_anneals"), nb::arg("anneal_sweeps"), nb::arg("seed"), nb::arg("threads"));

    nb::class_<Sampler>(m, "BlockSampler", "A chain of a block model; use partita.models instead.")
        .def(
            "__init__",
            [](Sampler* self, const BlockModel& model, const Array1<double>& log_k_rows,
               const Array1<double>& log_k_columns, double split_merge_rate, std::uint32_t restricted_scans,
               std::uint32_t resizes, std::size_t start_clusters, std::uint64_t seed, std::uint64_t stream) {
                ChainPlan plan{{copy_of(log_k_rows), copy_of(log_k_columns)},
                               split_merge_rate,
                               restricted_scans,
                               resizes,
                               seed,
                               stream};
                new (self) Sampler{BlockSampler(model, std::move(plan), start_clusters),
                                   model.network().bipartite()};
            },
            nb::keep_alive<1, 2>(), nb::arg("model"), nb::arg("log_k_rows"), nb::arg("log_k_columns"),
            nb::arg("split_merge_rate"), nb::arg("restricted_scans"), nb::arg("resizes"),
            nb::arg("start_clusters"), nb::arg("seed"), nb::arg("stream"))
        .def_prop_ro(
            "sweeps",
            [](Sampler& self) { return self.chain.visit([](auto& chain) { return chain.sweeps(); }); })
        .def_prop_ro("stat_names", [](const Sampler& self) { return stat_names(self.bipartite); })
        .def("advance", &advance, nb::arg("sweeps"), nb::arg("warmup"), nb::arg("thin"))
        .def("state",
             [](Sampler& self) {
                 const auto bytes = self.chain.visit([](auto& chain) { return chain.state(); });
                 return nb::bytes(bytes.data(), bytes.size());
             })
        .def(
            "restore",
            [](Sampler& self, const nb::bytes& bytes) {
                self.chain.visit(
                    [&](auto& chain) { chain.restore(std::string(bytes.c_str(), bytes.size())); });
            },
            nb::arg("state"));
}
