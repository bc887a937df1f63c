#include "proofs/stars.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace partita::proofs {

namespace {

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
