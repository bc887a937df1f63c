#include "models/pick.hpp"

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

[[gnu::always_inline]] inline bool all_below(const Lanes& x, double bound) {
    const auto below = x < bound;
    bool all = true;
    for (std::size_t l = 0; l < lanes; ++l)
        all = all && below[l] != 0;
    return all;
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
        if (all_below(score, min_exponent)) {
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

} // namespace partita::models
