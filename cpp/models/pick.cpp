#include "models/pick.hpp"

#include <cmath>
#include <cstdint>

#include "common/clones.hpp"
#include "common/lanes.hpp"

namespace partita::models {

using common::lane_exp;
using common::Lanes;
using common::lanes;
using common::load;
using common::store;

namespace {

constexpr double min_exponent = -708.0; // lane_exp gives 0 below

/// How many scores are not below the floor.
PARTITA_CLONES std::uint64_t count_reaching(const double* scores, std::size_t slots, double floor) {
    common::LaneBits count{};
    for (std::size_t s = 0; s < slots; s += lanes) {
        Lanes score;
        load(score, scores + s);
        count -= (common::LaneBits)(score >= floor); // a comparison that holds is -1
    }
    std::uint64_t total = 0;
    for (std::size_t l = 0; l < lanes; ++l)
        total += count[l];
    return total;
}

/// exp(score - best) in place; returns the sum.
PARTITA_CLONES double exponentiate(double* scores, std::size_t slots) {
    Lanes best, score;
    load(best, scores);
    for (std::size_t s = lanes; s < slots; s += lanes) {
        load(score, scores + s);
        best = score > best ? score : best;
    }
    double top = best[0];
    for (std::size_t l = 1; l < lanes; ++l)
        top = best[l] > top ? best[l] : top;
    Lanes sums{};
    for (std::size_t s = 0; s < slots; s += lanes) {
        load(score, scores + s);
        score -= top;
        if (!common::any_reaches(score, min_exponent)) {
            store(Lanes{}, scores + s);
            continue;
        }
        lane_exp(score);
        store(score, scores + s);
        sums += score;
    }
    double total = 0.0;
    for (std::size_t l = 0; l < lanes; ++l)
        total += sums[l];
    return total;
}

} // namespace

std::size_t pick(double* scores, std::size_t slots, double uniform) {
    double left = uniform * exponentiate(scores, slots);
    std::size_t last = 0;
    for (std::size_t s = 0; s < slots; ++s) {
        if (scores[s] <= 0.0)
            continue;
        last = s;
        if ((left -= scores[s]) < 0.0)
            return s;
    }
    return last; // rounding only
}

bool towers(const double* scores, std::size_t slots, std::size_t place, double share) {
    const double floor = scores[place] + std::log(share / static_cast<double>(slots));
    return std::isfinite(floor) && count_reaching(scores, slots, floor) == 1;
}

} // namespace partita::models
