// Binds cpp/sample: blocks of labels in, distinct draws out.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"
#include "draws/canonical.hpp"
#include "draws/distinct_draws.hpp"

namespace {

using partita::SampleBuilder;

template <class Input> void bind_add(nb::class_<SampleBuilder>& builder) {
    builder.def(
        "add",
        [](SampleBuilder& self, const Array2<Input>& block, unsigned threads) {
            if (block.shape(1) != self.n_items())
                throw nb::value_error("the block has another number of items than the builder");
            nb::gil_scoped_release release;
            self.add(as_span(block), threads);
        },
        nb::arg("block").noconvert(), nb::arg("threads"));
}

nb::tuple finish(SampleBuilder& self) {
    auto draws = self.finish();
    const auto n_items = self.n_items();
    const auto n_unique = draws.counts.size();
    auto labels =
        std::visit([&](auto& values) { return nb::cast(to_numpy(std::move(values), {n_unique, n_items})); },
                   draws.labels);
    return nb::make_tuple(labels, to_numpy(std::move(draws.counts)), to_numpy(std::move(draws.index)),
                          draws.has_gaps);
}

template <class Input> void bind_canonical(nb::module_& m) {
    m.def(
        "canonical",
        [](const Array1<Input>& labels) {
            std::vector<std::uint32_t> canonical(labels.size());
            partita::common::Canonicaliser()(as_span(labels), std::span(canonical));
            return to_numpy(std::move(canonical));
        },
        nb::arg("labels").noconvert());
}

template <class Label> void bind_canonical_check(nb::module_& m) {
    m.def(
        "first_not_canonical",
        [](const Array2<Label>& labels) -> std::optional<std::size_t> {
            nb::gil_scoped_release release;
            for (std::size_t row = 0; row < labels.shape(0); ++row)
                if (!partita::common::is_canonical(
                        as_span(labels).subspan(row * labels.shape(1), labels.shape(1))))
                    return row;
            return std::nullopt;
        },
        nb::arg("labels").noconvert());
}

template <class... Labels> void bind_canonical_checks(nb::module_& m) {
    (bind_canonical_check<Labels>(m), ...);
}

template <class... Inputs> void bind_for(nb::module_& m, nb::class_<SampleBuilder>& builder) {
    (bind_add<Inputs>(builder), ...);
    (bind_canonical<Inputs>(m), ...);
}

} // namespace

void bind_sample(nb::module_& m) {
    auto builder = nb::class_<SampleBuilder>(m, "SampleBuilder");
    builder.def(nb::init<std::size_t, std::uint64_t>(), nb::arg("n_items"),
                nb::arg("hash_mask") = ~std::uint64_t{0});
    builder.def("finish", &finish,
                nb::sig("def finish(self) -> tuple[typing.Any, typing.Any, typing.Any, bool]"),
                "Labels, counts, index, and whether there are gaps; the builder is then empty.");
    bind_for<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
             std::uint32_t, std::uint64_t>(m, builder);
    bind_canonical_checks<std::int8_t, std::int16_t, std::int32_t, std::uint8_t, std::uint16_t,
                          std::uint32_t>(m);
}
