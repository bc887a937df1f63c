// Cuts of the linear program of exact Binder estimates.
#include "proofs/cuts.hpp"

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"

using namespace nb::literals;

namespace {

NumpyOut<std::int64_t> violated_triangles(const Array2<double>& x, std::size_t count, double tolerance) {
    std::vector<std::int64_t> triples;
    {
        nb::gil_scoped_release release;
        for (const auto& triangle :
             partita::proofs::violated_triangles(as_span(x), x.shape(0), count, tolerance))
            triples.insert(triples.end(), {triangle.i, triangle.j, triangle.k});
    }
    const std::size_t found = triples.size() / 3;
    return to_numpy(std::move(triples), {found, 3});
}

/// Centers, and the leaves of all stars one after the other with the place where each begins and the last
/// ends.
nb::tuple violated_stars(const Array2<double>& x, std::size_t count, double tolerance) {
    std::vector<std::int64_t> centers, leaves, begins{0};
    {
        nb::gil_scoped_release release;
        for (const auto& star : partita::proofs::violated_stars(as_span(x), x.shape(0), count, tolerance)) {
            centers.push_back(star.center);
            leaves.insert(leaves.end(), star.leaves.begin(), star.leaves.end());
            begins.push_back(static_cast<std::int64_t>(leaves.size()));
        }
    }
    return nb::make_tuple(to_numpy(std::move(centers)), to_numpy(std::move(leaves)),
                          to_numpy(std::move(begins)));
}

} // namespace

void bind_cuts(nb::module_& m) {
    m.def("violated_triangles", &violated_triangles, "x"_a, "count"_a, "tolerance"_a);
    m.def("violated_stars", &violated_stars, "x"_a, "count"_a, "tolerance"_a);
}
