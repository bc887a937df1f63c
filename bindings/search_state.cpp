// A search state for tests and for methods written in Python: score, move and merge one step at a time.
#include <nanobind/stl/optional.h>

#include <memory>
#include <optional>

#include "arrays.hpp"
#include "bindings.hpp"
#include "loss_handle.hpp"
#include "sample_view.hpp"
#include "search/state.hpp"

using namespace nb::literals;

namespace {

using Copies = std::optional<Array1<std::uint32_t>>;

/// Calls use(draws) with what each item stands for.
template <class Use> auto visit(const SampleView& sample, const Copies& copies, Use use) {
    return sample.visit([&](auto draws) {
        if (copies)
            draws.copies = as_span(*copies);
        return use(draws);
    });
}

/// A state with the problem it lives on; the sample's arrays are kept alive by the view.
class PythonState {
public:
    PythonState(const SampleView& sample, const LossHandle& loss, std::uint32_t max_clusters, Copies copies,
                partita::Sharing sharing)
        : sample_(sample), copies_(std::move(copies)),
          tables_(loss.loss, visit(sample_, copies_, [](const auto& draws) { return draws.n_total(); })),
          problem_(visit(sample_, copies_,
                         [&](auto draws) {
                             draws.sharing = sharing;
                             return partita::Problem(draws, tables_);
                         })),
          state_(problem_, max_clusters) {}

    void assign(Array1<std::uint32_t> labels) { state_.assign(as_span(labels)); }
    NumpyOut<double> score(std::size_t i) { return copy(state_.score(i)); }
    NumpyOut<double> score_precisely(std::size_t i) { return copy(state_.score_precisely(i)); }
    void insert(std::size_t i, std::uint32_t cluster) { state_.insert(i, cluster); }
    void remove(std::size_t i) { state_.remove(i); }
    void move(std::size_t i, std::uint32_t cluster) { state_.move(i, cluster); }
    void merge(std::uint32_t k, std::uint32_t l) { state_.merge(k, l); }
    NumpyOut<std::uint32_t> labels() const { return to_numpy(std::vector<std::uint32_t>(state_.labels())); }
    double value() const { return state_.value() + problem_.constant(); }
    void refresh() { state_.refresh(); }
    std::uint32_t n_clusters() const { return state_.n_clusters(); }
    double clusters_a_row() const { return problem_.clusters_a_row(); }

    NumpyOut<double> merge_changes() const {
        const std::size_t clusters = state_.n_clusters();
        return to_numpy(state_.merge_changes(), {clusters, clusters});
    }

private:
    static NumpyOut<double> copy(std::span<const double> values) {
        return to_numpy(std::vector<double>(values.begin(), values.end()));
    }

    SampleView sample_;
    Copies copies_;
    partita::LossTables tables_;
    partita::Problem problem_;
    partita::State state_;
};

} // namespace

void bind_search_state(nb::module_& m) {
    nb::class_<PythonState>(m, "State", "A partition under search: remove, score, insert.")
        .def(nb::init<const SampleView&, const LossHandle&, std::uint32_t, Copies, partita::Sharing>(),
             "sample"_a, "loss"_a, "max_clusters"_a, "copies"_a.none() = nb::none(),
             "sharing"_a = partita::Sharing::where_it_pays)
        .def("assign", &PythonState::assign, "labels"_a)
        .def("score", &PythonState::score, "item"_a)
        .def("score_precisely", &PythonState::score_precisely, "item"_a)
        .def("insert", &PythonState::insert, "item"_a, "cluster"_a)
        .def("remove", &PythonState::remove, "item"_a)
        .def("move", &PythonState::move, "item"_a, "cluster"_a)
        .def("merge", &PythonState::merge, "keep"_a, "gone"_a)
        .def("merge_changes", &PythonState::merge_changes)
        .def("refresh", &PythonState::refresh)
        .def_prop_ro("labels", &PythonState::labels, nb::rv_policy::move)
        .def_prop_ro("value", &PythonState::value)
        .def_prop_ro("n_clusters", &PythonState::n_clusters)
        .def_prop_ro("clusters_a_row", &PythonState::clusters_a_row);
}
