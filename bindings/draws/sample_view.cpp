#include "bindings/draws/sample_view.hpp"

#include "bindings/bindings.hpp"

using namespace nb::literals;

void bind_sample_view(nb::module_& m) {
    nb::class_<SampleView>(m, "Sample", "Distinct draws and their weights, borrowed from NumPy.")
        .def(nb::init<Array2<std::uint8_t>, Array1<double>>(), "labels"_a.noconvert(), "weights"_a)
        .def(nb::init<Array2<std::uint16_t>, Array1<double>>(), "labels"_a.noconvert(), "weights"_a)
        .def(nb::init<Array2<std::uint32_t>, Array1<double>>(), "labels"_a.noconvert(), "weights"_a);
}
