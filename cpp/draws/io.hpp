// Reading text: tables of whole numbers, the common case of draws in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace partita {

struct IntegerTable {
    std::vector<std::int64_t> values; // row by row
    std::size_t n_columns = 0;
};

/// Reads lines of integers, quoted or not. Gives up at anything else: an empty line, a missing cell, a row of
/// another length. A slower reader then finds the problem and its line.
std::optional<IntegerTable> read_integers(std::string_view text, char separator);

} // namespace partita
