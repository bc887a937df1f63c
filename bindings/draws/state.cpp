// A search state for tests and for methods written in Python: score, move and merge one step at a time.
#include <nanobind/stl/optional.h>

#include <memory>
#include <optional>

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/draws/problem.hpp"
#include "draws/cell_states.hpp"
#include "draws/sparse_state.hpp"

using namespace nb::literals;

namespace {

partita::search::Problem make_problem(const auto& draws, const partita::LossTables& tables,
                                      partita::search::Problem*) {
    return partita::search::Problem(draws, tables);
}

partita::search::SparseProblem make_problem(const auto& draws, const partita::LossTables& tables,
                                            partita::search::SparseProblem*) {
    return partita::search::SparseProblem(draws, tables, 1, partita::search::SparseProblem::Order::as_given);
}

/// A state with the problem it lives on, which borrows the arrays and tables of Python's problem.
template <class S> class PythonState {
public:
    PythonState(const DrawsProblem& problem, std::uint32_t max_clusters)
        : problem_(problem.draws([&](const auto& draws) {
              return make_problem(draws, problem.tables(), static_cast<typename S::Setting*>(nullptr));
          })),
          state_(problem_, max_clusters) {}

    S& state() { return state_; }
    void assign(Array1<std::uint32_t> labels) { state_.assign(as_span(labels)); }
    NumpyOut<double> score(std::size_t i) { return in_loss(state_.score(i)); }
    NumpyOut<double> score_precisely(std::size_t i) { return in_loss(state_.score_precisely(i)); }
    void insert(std::size_t i, std::uint32_t cluster) { state_.insert(i, cluster); }
    void remove(std::size_t i) { state_.remove(i); }
    void move(std::size_t i, std::uint32_t cluster) { state_.move(i, cluster); }
    void merge(std::uint32_t k, std::uint32_t l) { state_.merge(k, l); }
    NumpyOut<std::uint32_t> labels() const { return to_numpy(std::vector<std::uint32_t>(state_.labels())); }
    double value() const { return problem_.loss_of(state_.value()); }
    void refresh() { state_.refresh(); }
    std::uint32_t n_clusters() const { return state_.n_clusters(); }
    double clusters_per_row() const { return problem_.clusters_per_row(); }

    NumpyOut<double> merge_changes() const {
        const std::size_t clusters = state_.n_clusters();
        return to_numpy(scaled(state_.merge_changes()), {clusters, clusters});
    }

private:
    std::vector<double> scaled(std::span<const double> values) const {
        std::vector<double> losses(values.begin(), values.end());
        for (auto& loss : losses)
            loss *= problem_.unit();
        return losses;
    }
    NumpyOut<double> in_loss(std::span<const double> scores) const { return to_numpy(scaled(scores)); }

    typename S::Setting problem_;
    S state_;
};

/// The methods that every kind of state has.
template <class S> auto bind_state(nb::module_& m, const char* name, const char* doc) {
    using Bound = PythonState<S>;
    return nb::class_<Bound>(m, name, doc)
        .def(nb::init<const DrawsProblem&, std::uint32_t>(), nb::keep_alive<1, 2>(), "problem"_a,
             "max_clusters"_a)
        .def("assign", &Bound::assign, "labels"_a)
        .def("score", &Bound::score, "item"_a)
        .def("score_precisely", &Bound::score_precisely, "item"_a)
        .def("insert", &Bound::insert, "item"_a, "cluster"_a)
        .def("remove", &Bound::remove, "item"_a)
        .def("move", &Bound::move, "item"_a, "cluster"_a)
        .def("merge", &Bound::merge, "keep"_a, "gone"_a)
        .def("merge_changes", &Bound::merge_changes)
        .def("refresh", &Bound::refresh)
        .def_prop_ro("labels", &Bound::labels, nb::rv_policy::move)
        .def_prop_ro("value", &Bound::value)
        .def_prop_ro("n_clusters", &Bound::n_clusters)
        .def_prop_ro("clusters_per_row", &Bound::clusters_per_row);
}

/// The state on cells for the loss of the problem.
nb::object cell_state(const DrawsProblem& problem, std::uint32_t max_clusters) {
    return partita::search::with_cell_state(problem.tables().loss(), [&]<class S>() {
        return nb::cast(new PythonState<S>(problem, max_clusters), nb::rv_policy::take_ownership);
    });
}

/// Clusters and their scores, or changes, as two arrays.
nb::tuple as_arrays(std::span<const partita::search::SparseState::Candidate> candidates) {
    std::vector<std::uint32_t> clusters;
    std::vector<double> scores;
    for (const auto& candidate : candidates) {
        clusters.push_back(candidate.cluster);
        scores.push_back(candidate.score);
    }
    return nb::make_tuple(to_numpy(std::move(clusters)), to_numpy(std::move(scores)));
}

} // namespace

void bind_search_state(nb::module_& m) {
    using Sparse = PythonState<partita::search::SparseState>;
    constexpr auto doc = "A partition under search: remove, score, insert.";
    bind_state<partita::search::LinearState>(m, "LinearState", doc);
    bind_state<partita::search::RatioState>(m, "RatioState", doc);
    bind_state<partita::search::CustomState>(m, "CustomState", doc);
    m.def("cell_state", &cell_state, nb::keep_alive<0, 1>(), "problem"_a, "max_clusters"_a);
    bind_state<partita::search::SparseState>(m, "SparseState", "The same for many small clusters.")
        .def(
            "candidates", [](Sparse& state, std::size_t i) { return as_arrays(state.state().candidates(i)); },
            "item"_a)
        .def(
            "merges_of", [](Sparse& state, std::uint32_t k) { return as_arrays(state.state().merges_of(k)); },
            "cluster"_a);
}
