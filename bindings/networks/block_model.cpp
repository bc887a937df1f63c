// Block models of networks: the conversion of arrays.
#include <nanobind/nanobind.h>

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/common/interrupt.hpp"
#include "bindings/mcmc/chain.hpp"
#include "bindings/mixtures/mixture_columns.hpp"
#include "bindings/partition/evolution.hpp"
#include "networks/block_model.hpp"
#include "networks/policy.hpp"

using namespace partita::models;

namespace {

using Longs = Array1<std::int64_t>;
using Labels = Array1<std::uint32_t>;

template <class T> std::vector<T> copy_of(const Array1<T>& array) {
    return {array.data(), array.data() + array.size()};
}

nb::tuple maximize(const BlockModel& model, const Array2<std::uint32_t>& starts, const SearchPlan& plan,
                   double seconds) {
    return search_tuple(seconds, [&](const partita::common::StopFlag& stop) {
        return model.maximize(rows_of(starts), plan, stop);
    });
}

void bind_search_plan(nb::module_& m) {
    nb::enum_<StartKind>(m, "NetworkStart", "Where a run of the search of a network starts.")
        .value("given", StartKind::given)
        .value("spectral", StartKind::spectral)
        .value("periphery", StartKind::periphery)
        .value("k_means", StartKind::k_means)
        .value("communities", StartKind::communities)
        .value("annealed", StartKind::annealed)
        .value("random", StartKind::random);
    nb::class_<SearchPlan>(m, "NetworkPlan", "The settings of a search of a network; cpp/networks/policy.")
        .def(
            "__init__",
            [](SearchPlan* self, std::size_t n_nodes, const nb::list& kinds, std::size_t max_rows,
               std::size_t max_columns, bool plain, bool uneven, bool as_printed, std::uint64_t seed,
               unsigned threads) {
                new (self) SearchPlan(partita::networks::search_plan(
                    {n_nodes, {max_rows, max_columns}, plain, uneven, as_printed},
                    values_of<StartKind>(kinds), seed, threads));
            },
            nb::kw_only(), nb::arg("n_nodes"), nb::arg("kinds"), nb::arg("max_rows"), nb::arg("max_columns"),
            nb::arg("plain"), nb::arg("uneven"), nb::arg("as_printed"), nb::arg("seed"), nb::arg("threads"));
    m.attr("MAX_SMALL_NETWORK") = partita::networks::policy::max_small;
    m.attr("PERIPHERY_SHARES") = nb::make_tuple(partita::networks::policy::periphery_shares[0],
                                                partita::networks::policy::periphery_shares[1],
                                                partita::networks::policy::periphery_shares[2]);
    m.def(
        "network_start_kinds",
        [](std::size_t n_nodes, std::size_t restarts, std::size_t n_given, bool partitions, bool uneven) {
            nb::list kinds;
            for (const auto kind :
                 partita::networks::start_kinds(n_nodes, restarts, n_given, partitions, uneven))
                kinds.append(kind);
            return kinds;
        },
        nb::arg("n_nodes"), nb::arg("restarts"), nb::arg("n_given"), nb::arg("partitions"),
        nb::arg("uneven"));
    m.def("network_start_clusters", &partita::networks::start_clusters, nb::arg("n_nodes"));
    m.def(
        "network_start_widths",
        [](std::size_t count, std::size_t n_nodes, std::size_t most) {
            nb::list widths;
            for (const auto width : partita::networks::start_widths(count, n_nodes, most))
                widths.append(width);
            return widths;
        },
        nb::arg("count"), nb::arg("n_nodes"), nb::arg("most"));
}

} // namespace

void bind_block_model(nb::module_& m) {
    bind_search_plan(m);
    nb::enum_<MarkKind>(m, "MarkKind", "What the edges that are there carry.")
        .value("none", MarkKind::none)
        .value("normal", MarkKind::normal)
        .value("categories", MarkKind::categories);
    nb::class_<NetworkArrays>(m, "NetworkArrays",
                              "A network in compressed rows; see partita.models.networks.graph.")
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
        .def("set_marks", [](NetworkArrays& self, std::size_t direction,
                             const Array1<double>& mark) { self.mark[direction] = copy_of(mark); })
        .def("set_loop_marks",
             [](NetworkArrays& self, const Array1<double>& mark) { self.loop_mark = copy_of(mark); })
        .def("set_loops", [](NetworkArrays& self, const Labels& loop, const Array1<std::uint8_t>& observed) {
            self.loop = copy_of(loop);
            self.loop_observed = copy_of(observed);
        });

    nb::class_<LayerArrays>(m, "Layer", "One network of several on the same nodes, with its priors.")
        .def(
            "__init__",
            [](LayerArrays* self, const NetworkArrays& arrays, bool counts, double first, double second,
               bool degree_corrected, bool affiliation, MarkKind marks, const Array1<double>& mark_parameters,
               std::size_t n_categories) {
                new (self) LayerArrays{arrays,
                                       {counts, first, second, degree_corrected, affiliation},
                                       {marks, copy_of(mark_parameters), n_categories}};
            },
            nb::arg("arrays"), nb::arg("counts"), nb::arg("first"), nb::arg("second"),
            nb::arg("degree_corrected"), nb::arg("affiliation"), nb::arg("marks"), nb::arg("mark_parameters"),
            nb::arg("n_categories"));

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
        .def(
            "__init__",
            [](BlockModel* self, const NetworkArrays& cover, const nb::list& layers, double n0_rows,
               double n0_columns, const nb::list& tables) {
                std::vector<NodeTable> rows;
                for (const auto table : tables) {
                    const auto& columns = nb::cast<const MixtureColumns&>(table);
                    if (columns.table->n_items() != cover.n_nodes)
                        throw nb::value_error("a table does not fit the nodes");
                    rows.push_back({columns.table, columns.family});
                }
                new (self)
                    BlockModel(cover, values_of<LayerArrays>(layers), n0_rows, n0_columns, std::move(rows));
            },
            nb::arg("cover"), nb::arg("layers"), nb::arg("n0_rows"), nb::arg("n0_columns"),
            nb::arg("tables") = nb::list())
        .def("icl", [](const BlockModel& self, const Labels& labels) { return self.icl(as_span(labels)); })
        .def("swap_changes",
             [](const BlockModel& self, const Labels& labels, std::size_t node) {
                 return to_numpy(self.swap_changes(as_span(labels), node));
             })
        .def("some_swap_changes",
             [](const BlockModel& self, const Labels& labels, std::size_t node, const Labels& slots) {
                 return to_numpy(self.swap_changes(as_span(labels), node, as_span(slots)));
             })
        .def("merge_changes",
             [](const BlockModel& self, const Labels& labels) {
                 return to_numpy(self.merge_changes(as_span(labels)));
             })
        .def("merge_path", &merge_path<BlockModel>)
        .def("maximize", &maximize, nb::arg("starts"), nb::arg("plan"), nb::arg("seconds"));

    nb::class_<BlockSampler> sampler(m, "BlockSampler",
                                     "A chain of a block model; use partita.models instead.");
    sampler.def(
        "__init__",
        [](BlockSampler* self, const BlockModel& model, const Array1<double>& log_k_rows,
           const Array1<double>& log_k_columns, double split_merge_rate, std::uint32_t restricted_scans,
           std::uint32_t resizes, std::size_t start_clusters, std::uint64_t seed, std::uint64_t stream) {
            ChainPlan plan{{copy_of(log_k_rows), copy_of(log_k_columns)},
                           split_merge_rate,
                           restricted_scans,
                           resizes,
                           start_clusters,
                           seed,
                           stream};
            new (self) BlockSampler(model, std::move(plan));
        },
        nb::keep_alive<1, 2>(), nb::arg("model"), nb::arg("log_k_rows"), nb::arg("log_k_columns"),
        nb::arg("split_merge_rate"), nb::arg("restricted_scans"), nb::arg("resizes"),
        nb::arg("start_clusters"), nb::arg("seed"), nb::arg("stream"));
    bind_chain_methods(sampler, [](BlockSampler& self, auto work) { return self.visit(work); });
}
