#include "draws/io.hpp"

#include <charconv>
#include <system_error>

namespace partita {
namespace {

/// Moves `text` past `expected` if it comes next.
bool skip(std::string_view& text, char expected) {
    if (text.empty() || text.front() != expected)
        return false;
    text.remove_prefix(1);
    return true;
}

bool read_cell(std::string_view& text, std::int64_t& value) {
    const bool quoted = skip(text, '"');
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{})
        return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return !quoted || skip(text, '"');
}

bool at_line_end(std::string_view& text) {
    if (text.empty() || skip(text, '\n'))
        return true;
    return text.starts_with("\r\n") && skip(text, '\r') && skip(text, '\n');
}

} // namespace

std::optional<IntegerTable> read_integers(std::string_view text, char separator) {
    IntegerTable table;
    std::size_t column = 0;
    while (!text.empty()) {
        std::int64_t value = 0;
        if (!read_cell(text, value))
            return std::nullopt;
        table.values.push_back(value);
        ++column;
        if (skip(text, separator)) {
            if (text.empty())
                return std::nullopt; // an empty last cell
            continue;
        }
        if (!at_line_end(text))
            return std::nullopt;
        if (table.n_columns == 0)
            table.n_columns = column;
        if (column != table.n_columns)
            return std::nullopt;
        column = 0;
    }
    return table;
}

} // namespace partita
