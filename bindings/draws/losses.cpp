// Loss objects, exact losses and the similarity matrix.
#include <nanobind/stl/string_view.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/common/held.hpp"
#include "bindings/common/interrupt.hpp"
#include "bindings/draws/problem.hpp"
#include "draws/distances.hpp"
#include "draws/draw_losses.hpp"
#include "draws/similarity.hpp"

using namespace nb::literals;
using partita::Loss;

namespace {

/// f0 given in Python: called once for many values, with the GIL held.
partita::CustomLoss::Combine python_combine(nb::callable f0) {
    return [held = hold(std::move(f0))](std::span<const double> joint, std::span<const double> estimate,
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
            if (!(std::abs(out[t]) <= partita::CustomLoss::max_value)) {
                std::ostringstream text;
                text << "f0(" << joint[t] << ", " << estimate[t] << ", " << draw[t] << ") is " << out[t]
                     << "; it must be finite, and its size at most " << partita::CustomLoss::max_value;
                throw std::invalid_argument(text.str());
            }
        }
    };
}

LossHandle custom_loss(partita::CustomLoss::Combine combine, const nb::list& f1, const nb::list& f2,
                       const nb::list& f3) {
    return {partita::CustomLoss{std::move(combine), values_of<double>(f1), values_of<double>(f2),
                                values_of<double>(f3)}};
}

nb::object distances(Array1<std::uint32_t> estimate, const DrawsProblem& problem, unsigned threads) {
    return problem.draws([&](const auto& draws) {
        std::vector<double> result;
        run_or_raise(static_cast<double>(draws.labels.size()), [&](const partita::common::StopFlag& stop) {
            result = partita::distances(as_span(estimate), draws, problem.tables(), threads, stop);
        });
        return nb::cast(to_numpy(std::move(result)));
    });
}

nb::object pairwise_distances(const DrawsProblem& problem, unsigned threads) {
    return problem.draws([&](const auto& draws) {
        const auto n = draws.n_draws();
        std::vector<double> result;
        const auto steps = static_cast<double>(n) * static_cast<double>(draws.labels.size());
        run_or_raise(steps, [&](const partita::common::StopFlag& stop) {
            result = partita::pairwise_distances(draws, problem.tables(), threads, stop);
        });
        return nb::cast(to_numpy(std::move(result), {n, n}));
    });
}

nb::object expected_losses_of_draws(const DrawsProblem& problem, double max_steps, unsigned threads,
                                    double seconds) {
    return problem.draws([&](const auto& draws) {
        std::vector<double> result;
        run_for(seconds, [&](const partita::common::StopFlag& stop) {
            result = partita::expected_losses_of_draws(draws, problem.tables(), max_steps, threads, stop);
        });
        return nb::cast(to_numpy(std::move(result)));
    });
}

template <class Real>
void similarity(const SampleView& sample, Array1<std::int64_t> rows, Array1<std::int64_t> columns,
                MutableArray2<Real> out, unsigned threads) {
    sample.visit([&](const auto& draws) {
        const auto n_draws = static_cast<double>(draws.n_draws());
        const auto steps = n_draws * static_cast<double>(out.size() + draws.n_items);
        run_or_raise(steps, [&](const partita::common::StopFlag& stop) {
            partita::similarity(draws, as_span(rows), as_span(columns), std::span(out.data(), out.size()),
                                threads, stop);
        });
    });
}

} // namespace

void bind_losses(nb::module_& m) {
    nb::class_<LossHandle>(m, "Loss", "A loss as the core knows it.")
        .def_static(
            "binder",
            [](double a, double b) { return LossHandle{partita::with_weights<partita::Binder>(a, b)}; },
            "a"_a, "b"_a)
        .def_static(
            "vi", [](double a, double b) { return LossHandle{partita::with_weights<partita::VI>(a, b)}; },
            "a"_a, "b"_a)
        .def_static(
            "plain", [](std::string_view name) { return LossHandle{partita::plain_loss(name)}; }, "name"_a)
        .def_static(
            "custom",
            [](nb::list f1, nb::list f2, nb::list f3, nb::callable f0) {
                return custom_loss(python_combine(std::move(f0)), f1, f2, f3);
            },
            "f1"_a, "f2"_a, "f3"_a, "f0"_a)
        .def_static(
            "custom_native",
            [](nb::list f1, nb::list f2, nb::list f3, std::uintptr_t f0) {
                return custom_loss(native_combine(f0), f1, f2, f3);
            },
            "f1"_a, "f2"_a, "f3"_a, "f0_address"_a);
    m.def(
        "capsule_address",
        [](nb::capsule capsule) {
            return reinterpret_cast<std::uintptr_t>(PyCapsule_GetPointer(capsule.ptr(), capsule.name()));
        },
        "capsule"_a);
    m.def("distances", &distances, "estimate"_a, "problem"_a, "threads"_a);
    m.def("pairwise_distances", &pairwise_distances, "problem"_a, "threads"_a);
    m.def("expected_losses_of_draws", &expected_losses_of_draws, "problem"_a, "max_steps"_a, "threads"_a,
          "seconds"_a = std::numeric_limits<double>::infinity());
    m.def("similarity", &similarity<float>, "sample"_a, "rows"_a, "columns"_a, "out"_a.noconvert(),
          "threads"_a);
    m.def("similarity", &similarity<double>, "sample"_a, "rows"_a, "columns"_a, "out"_a.noconvert(),
          "threads"_a);
}
