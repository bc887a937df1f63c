// Loss objects, exact losses and the similarity matrix.
#include <cmath>
#include <sstream>
#include <stdexcept>

#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "distances.hpp"
#include "draw_losses.hpp"
#include "interrupt.hpp"
#include "loss_handle.hpp"
#include "sample_view.hpp"
#include "similarity.hpp"

using namespace nb::literals;
using partita::Loss;

namespace {

/// f0 given in Python: called once for many values, with the GIL held.
partita::CustomLoss::Combine python_combine(nb::callable f0) {
    auto held = std::shared_ptr<nb::callable>(new nb::callable(std::move(f0)), [](nb::callable* f) {
        nb::gil_scoped_acquire acquire;
        delete f;
    });
    return [held](std::span<const double> joint, std::span<const double> estimate,
                  std::span<const double> draw, std::span<double> out) {
        nb::gil_scoped_acquire acquire;
        auto copy = [](std::span<const double> values) {
            return to_numpy(std::vector<double>(values.begin(), values.end()));
        };
        const auto result = nb::cast<Array1<double>>((*held)(copy(joint), copy(estimate), copy(draw)));
        if (result.size() != out.size())
            throw nb::value_error("f0 must return one value for each triple of sums");
        std::copy_n(result.data(), out.size(), out.data());
    };
}

/// f0 given as a C function double(double, double, double), by its address.
partita::CustomLoss::Combine native_combine(std::uintptr_t address) {
    auto* f0 = reinterpret_cast<double (*)(double, double, double)>(address);
    return [f0](std::span<const double> joint, std::span<const double> estimate, std::span<const double> draw,
                std::span<double> out) {
        for (std::size_t t = 0; t < out.size(); ++t) {
            out[t] = f0(joint[t], estimate[t], draw[t]);
            if (!std::isfinite(out[t])) {
                std::ostringstream text;
                text << "f0(" << joint[t] << ", " << estimate[t] << ", " << draw[t] << ") is " << out[t]
                     << "; it must be finite";
                throw std::invalid_argument(text.str());
            }
        }
    };
}

nb::object distances(Array1<std::uint32_t> estimate, const SampleView& sample, const LossHandle& loss,
                     unsigned threads) {
    return sample.visit([&](const auto& draws) {
        std::vector<double> result;
        {
            nb::gil_scoped_release release;
            const partita::LossTables tables(loss.loss, draws.n_items);
            result = partita::distances(as_span(estimate), draws, tables, threads);
        }
        return nb::cast(to_numpy(std::move(result)));
    });
}

nb::object pairwise_distances(const SampleView& sample, const LossHandle& loss, unsigned threads) {
    return sample.visit([&](const auto& draws) {
        std::vector<double> result;
        {
            nb::gil_scoped_release release;
            const partita::LossTables tables(loss.loss, draws.n_items);
            result = partita::pairwise_distances(draws, tables, threads);
        }
        const auto n = draws.n_draws();
        return nb::cast(to_numpy(std::move(result), {n, n}));
    });
}

nb::object expected_losses_of_draws(const SampleView& sample, const LossHandle& loss, double most_steps,
                                    unsigned threads) {
    return sample.visit([&](const auto& draws) {
        std::vector<double> result;
        const bool interrupted = run_interruptible([&](partita::StopFlag& stop) {
            const partita::LossTables tables(loss.loss, draws.n_items);
            result = partita::expected_losses_of_draws(draws, tables, most_steps, threads, stop);
        });
        if (interrupted) {
            PyErr_SetNone(PyExc_KeyboardInterrupt);
            throw nb::python_error();
        }
        return nb::cast(to_numpy(std::move(result)));
    });
}

template <class Real>
void similarity(const SampleView& sample, Array1<std::int64_t> rows, Array1<std::int64_t> columns,
                MutableArray2<Real> out, unsigned threads) {
    sample.visit([&](const auto& draws) {
        nb::gil_scoped_release release;
        partita::similarity(draws, as_span(rows), as_span(columns), std::span(out.data(), out.size()),
                            threads);
    });
}

} // namespace

void bind_losses(nb::module_& m) {
    nb::class_<LossHandle>(m, "Loss", "A loss as the core knows it.")
        .def_static(
            "binder", [](double a, double b) { return LossHandle{partita::Binder{a, b}}; }, "a"_a, "b"_a)
        .def_static(
            "vi", [](double a, double b) { return LossHandle{partita::VI{a, b}}; }, "a"_a, "b"_a)
        .def_static("nvi", [] { return LossHandle{partita::NVI{}}; })
        .def_static("id", [] { return LossHandle{partita::ID{}}; })
        .def_static("nid", [] { return LossHandle{partita::NID{}}; })
        .def_static("omari", [] { return LossHandle{partita::OneMinusARI{}}; })
        .def_static("zero_one", [] { return LossHandle{partita::ZeroOne{}}; })
        .def_static(
            "custom",
            [](std::vector<double> f1, std::vector<double> f2, std::vector<double> f3, nb::callable f0) {
                return LossHandle{partita::CustomLoss{python_combine(std::move(f0)), std::move(f1),
                                                      std::move(f2), std::move(f3)}};
            },
            "f1"_a, "f2"_a, "f3"_a, "f0"_a)
        .def_static(
            "custom_native",
            [](std::vector<double> f1, std::vector<double> f2, std::vector<double> f3, std::uintptr_t f0) {
                return LossHandle{
                    partita::CustomLoss{native_combine(f0), std::move(f1), std::move(f2), std::move(f3)}};
            },
            "f1"_a, "f2"_a, "f3"_a, "f0_address"_a);
    m.def(
        "capsule_address",
        [](nb::capsule capsule) {
            return reinterpret_cast<std::uintptr_t>(PyCapsule_GetPointer(capsule.ptr(), capsule.name()));
        },
        "capsule"_a);
    m.def("distances", &distances, "estimate"_a, "sample"_a, "loss"_a, "threads"_a);
    m.def("pairwise_distances", &pairwise_distances, "sample"_a, "loss"_a, "threads"_a);
    m.def("expected_losses_of_draws", &expected_losses_of_draws, "sample"_a, "loss"_a, "most_steps"_a,
          "threads"_a);
    m.def("similarity", &similarity<float>, "sample"_a, "rows"_a, "columns"_a, "out"_a.noconvert(),
          "threads"_a);
    m.def("similarity", &similarity<double>, "sample"_a, "rows"_a, "columns"_a, "out"_a.noconvert(),
          "threads"_a);
}
