#include "proofs/families_by_home.hpp"

#include <algorithm>
#include <cmath>

namespace partita::proofs {
namespace {

constexpr double home_share = 0.5; // of a home, or of the size if it is less: sets with this are of the home

/// The numbers of items of each home, most first, that sets of this size at least have if it is theirs.
std::vector<HomeLimits> thresholds(std::span<const std::uint32_t> homes, std::size_t size) {
    std::vector<std::size_t> counts;
    for (const auto home : homes) {
        counts.resize(std::max<std::size_t>(counts.size(), home + 1));
        ++counts[home];
    }
    std::vector<HomeLimits> found;
    for (std::uint32_t home = 0; home < counts.size(); ++home)
        if (const auto most = std::min(counts[home], size); most > 0)
            found.push_back({home,
                             {static_cast<std::size_t>(std::ceil(home_share * static_cast<double>(most))),
                              counts[home]}});
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& s, const auto& t) { return s.count.upper > t.count.upper; });
    return found;
}

} // namespace

std::vector<Family> by_home(const Family& family, std::span<const std::uint32_t> homes) {
    std::vector<Family> parts;
    auto rest = family;
    for (const auto& limit : thresholds(homes, family.lower)) {
        parts.push_back(rest);
        parts.back().homes.push_back(limit);
        rest.homes.push_back({limit.home, {0, limit.count.lower - 1}});
    }
    parts.push_back(rest);
    return parts;
}

} // namespace partita::proofs
