// A partition of pair probabilities for tests: what moving a node to each cluster changes, and which are
// allowed.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <numeric>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/pairs/graph.hpp"
#include "pairs/state.hpp"

using namespace nb::literals;

namespace {

pairs::Local whole(const GraphArrays& graph, const ConstraintArrays& constraints) {
    std::vector<std::uint32_t> items(graph.view().n_items()), place(items.size(), pairs::nothing);
    std::iota(items.begin(), items.end(), 0u);
    return pairs::localise(graph.view(), constraints.view(), items, place);
}

/// A state on all items as one problem, whose nodes are the atoms.
template <class Objective> class PythonPairState {
public:
    PythonPairState(const GraphArrays& graph, const Objective& objective, const ConstraintArrays& constraints,
                    Array1<std::uint32_t> labels)
        : objective_(objective), local_(whole(graph, constraints)),
          state_(local_, objective_, local_.atoms, as_span(labels)) {}
    PythonPairState(const PythonPairState&) = delete; // the state refers to the problem

    std::vector<std::uint32_t> labels() const { return state_.labels(); }
    double value() const { return value_of(local_, objective_, state_.labels()); }

    /// For each cluster, the change of the objective if the node is there instead of alone, and whether the
    /// constraints allow it; then the best cluster.
    nb::tuple look(std::uint32_t node) {
        const auto own = state_.cluster_of(node);
        state_.detach(node);
        state_.look(node);
        std::vector<double> changes;
        std::vector<bool> allowed;
        for (std::uint32_t k = 0; k < state_.n_nodes(); ++k) {
            changes.push_back(state_.change(k));
            allowed.push_back(state_.allows(k));
        }
        const auto best = state_.best();
        state_.attach(node, own);
        return nb::make_tuple(changes, allowed, best.cluster, best.change);
    }

    void move(std::uint32_t node, std::uint32_t cluster) {
        state_.detach(node);
        state_.attach(node, cluster);
    }

private:
    Objective objective_;
    pairs::Local local_;
    pairs::State<Objective> state_;
};

template <class Objective> void bind(nb::module_& m, const char* name) {
    using State = PythonPairState<Objective>;
    nb::class_<State>(m, name)
        .def(nb::init<const GraphArrays&, const Objective&, const ConstraintArrays&, Array1<std::uint32_t>>(),
             "graph"_a, "objective"_a, "constraints"_a, "labels"_a, nb::keep_alive<1, 2>())
        .def_prop_ro("labels", &State::labels)
        .def_prop_ro("value", &State::value)
        .def("look", &State::look, "node"_a)
        .def("move", &State::move, "node"_a, "cluster"_a);
}

} // namespace

void bind_pair_state(nb::module_& m) {
    bind<pairs::Threshold>(m, "ThresholdState");
    bind<pairs::LogMass>(m, "LogMassState");
}
