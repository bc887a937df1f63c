// Cuts of the linear program of exact Binder estimates.
#include "bounds/triangles.hpp"

#include "arrays.hpp"
#include "bindings.hpp"

using namespace nb::literals;

namespace {

NumpyOut<std::int64_t> violated_triangles(const Array2<double>& x, std::size_t count, double tolerance) {
    std::vector<std::int64_t> triples;
    {
        nb::gil_scoped_release release;
        for (const auto& triangle :
             partita::bounds::violated_triangles(as_span(x), x.shape(0), count, tolerance))
            triples.insert(triples.end(), {triangle.i, triangle.j, triangle.k});
    }
    const std::size_t found = triples.size() / 3;
    return to_numpy(std::move(triples), {found, 3});
}

} // namespace

void bind_triangles(nb::module_& m) {
    m.def("violated_triangles", &violated_triangles, "x"_a, "count"_a, "tolerance"_a);
}
