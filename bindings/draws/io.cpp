// Binds cpp/io: bytes in, a table of integers out.
#include "draws/io.hpp"

#include <nanobind/stl/optional.h>

#include "bindings/bindings.hpp"
#include "bindings/common/arrays.hpp"

using namespace nb::literals;

void bind_io(nb::module_& m) {
    m.def(
        "read_integers",
        [](const nb::bytes& text, char separator) -> std::optional<NumpyOut<std::int64_t>> {
            std::optional<partita::IntegerTable> table;
            {
                nb::gil_scoped_release release;
                table = partita::read_integers({text.c_str(), text.size()}, separator);
            }
            if (!table || table->n_columns == 0)
                return std::nullopt;
            const auto n_rows = table->values.size() / table->n_columns;
            return to_numpy(std::move(table->values), {n_rows, table->n_columns});
        },
        "text"_a, "separator"_a);
}
