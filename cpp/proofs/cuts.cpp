#include "proofs/cuts.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

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

/// First leaves that are tried for each center.
constexpr std::size_t max_starts = 8;
/// A row of the program has a number for each pair of the star.
constexpr std::size_t max_leaves = 16;

bool comes_first(const Star& a, const Star& b) {
    return std::tie(b.excess, a.center, a.leaves) < std::tie(a.excess, b.center, b.leaves);
}

/// Items whose pair with the center is fractional, the nearest first.
std::vector<std::uint32_t> candidates(std::span<const double> row, double tolerance) {
    std::vector<std::uint32_t> near;
    for (std::size_t j = 0; j < row.size(); ++j)
        if (row[j] > tolerance && row[j] < 1 - tolerance)
            near.push_back(static_cast<std::uint32_t>(j));
    std::stable_sort(near.begin(), near.end(), [&](auto j, auto k) { return row[j] > row[k]; });
    return near;
}

/// Adds the leaf with the largest gain, beginning with `first`, until no leaf gains.
Star grow(std::span<const double> x, std::size_t n, std::size_t center,
          const std::vector<std::uint32_t>& near, std::size_t first) {
    Star star{static_cast<std::uint32_t>(center), {}, -1};
    std::vector<double> gain(near.size());
    for (std::size_t c = 0; c < near.size(); ++c)
        gain[c] = x[center * n + near[c]];
    for (std::size_t next = first; star.leaves.size() < max_leaves && gain[next] > 0;) {
        star.excess += gain[next];
        star.leaves.push_back(near[next]);
        for (std::size_t c = 0; c < near.size(); ++c)
            gain[c] = c == next ? -1 : gain[c] - x[near[next] * n + near[c]];
        next = static_cast<std::size_t>(std::max_element(gain.begin(), gain.end()) - gain.begin());
    }
    std::sort(star.leaves.begin(), star.leaves.end());
    return star;
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

std::vector<Star> violated_stars(std::span<const double> x, std::size_t n, std::size_t count,
                                 double tolerance) {
    std::vector<Star> found;
    for (std::size_t i = 0; i < n; ++i) {
        const auto near = candidates(x.subspan(i * n, n), tolerance);
        std::vector<Star> own;
        for (std::size_t first = 0; first < std::min(near.size(), max_starts); ++first)
            if (auto star = grow(x, n, i, near, first); star.excess > tolerance)
                own.push_back(std::move(star));
        std::sort(own.begin(), own.end(), [](const Star& a, const Star& b) { return a.leaves < b.leaves; });
        const auto same = [](const Star& a, const Star& b) { return a.leaves == b.leaves; };
        found.insert(found.end(), own.begin(), std::unique(own.begin(), own.end(), same));
    }
    std::sort(found.begin(), found.end(), comes_first);
    found.resize(std::min(found.size(), count));
    return found;
}

} // namespace partita::proofs
