#include "proofs/triangles.hpp"

#include <algorithm>
#include <tuple>

#include "common/clones.hpp"

namespace partita::proofs {

namespace {

/// Columns that are screened at once.
constexpr std::size_t block_size = 64;
/// Rounding of a difference of two numbers in [0, 1] in single precision.
constexpr float rounding = 2e-7f;

/// Whether first[c] - second[c] exceeds the threshold in any column of a block.
PARTITA_CLONES bool exceeds_in_block(const float* first, const float* second, float threshold) {
    int exceeded = 0;
    for (std::size_t c = 0; c < block_size; ++c)
        exceeded |= first[c] - second[c] > threshold;
    return exceeded != 0;
}

bool is_more_violated(const Triangle& a, const Triangle& b) {
    return std::tuple(-a.excess, a.i, a.j, a.k) < std::tuple(-b.excess, b.i, b.j, b.k);
}

/// Leaves the first `count` triangles, in no order.
void keep_first(std::vector<Triangle>& found, std::size_t count) {
    if (found.size() <= count)
        return;
    std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end(),
                     is_more_violated);
    found.resize(count);
}

/// Rows in single precision, padded to whole blocks; what is padded exceeds nothing.
std::vector<float> padded_rows(std::span<const double> x, std::size_t n, std::size_t stride) {
    std::vector<float> rows(n * stride, 0.0f);
    for (std::size_t i = 0; i < n; ++i)
        std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(i * n), n,
                    rows.begin() + static_cast<std::ptrdiff_t>(i * stride));
    return rows;
}

} // namespace

std::vector<Triangle> violated_triangles(std::span<const double> x, std::size_t n, std::size_t count,
                                         double tolerance) {
    const std::size_t stride = (n + block_size - 1) / block_size * block_size;
    const auto rows = padded_rows(x, n, stride);
    std::vector<Triangle> found;
    const auto add_block = [&](std::size_t i, std::size_t j, std::size_t begin) {
        for (std::size_t k = std::max(begin, j + 1); k < std::min(begin + block_size, n); ++k) {
            const double excess = x[i * n + j] + x[i * n + k] - x[j * n + k] - 1;
            if (excess > tolerance && k != i)
                found.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j),
                                 static_cast<std::uint32_t>(k), excess});
        }
    };
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            if (j == i || x[i * n + j] <= tolerance)
                continue;
            const auto threshold = static_cast<float>(1 + tolerance - x[i * n + j]) - rounding;
            for (std::size_t begin = (j + 1) / block_size * block_size; begin < n; begin += block_size)
                if (exceeds_in_block(rows.data() + i * stride + begin, rows.data() + j * stride + begin,
                                     threshold))
                    add_block(i, j, begin);
        }
        if (found.size() > 4 * count)
            keep_first(found, count);
    }
    keep_first(found, count);
    std::sort(found.begin(), found.end(), is_more_violated);
    return found;
}

} // namespace partita::proofs
