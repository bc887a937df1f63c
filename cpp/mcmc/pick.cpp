#include "mcmc/pick.hpp"

#include <limits>

#include "common/clones.hpp"
#include "common/lanes.hpp"

namespace partita::models {

using common::lane_exp, common::Lanes, common::lanes, common::load, common::store;

namespace {

constexpr double min_exponent = -708.0; // lane_exp gives 0 below

/// Sums of upper bounds of exp(score - own) of the slots before and after `place`.
PARTITA_CLONES void bound_other_slots(const double* scores, std::size_t slots, double own, double place,
                                      OtherSlots& others) {
    Lanes before{}, after{}, index{0.0, 1.0, 2.0, 3.0};
    static_assert(lanes == 4);
    for (std::size_t s = 0; s < slots; s += lanes, index += static_cast<double>(lanes)) {
        Lanes bound;
        load(bound, scores + s);
        bound -= own;
        common::lane_exp_chord(bound);
        before += index < place ? bound : Lanes{};
        after += index > place ? bound : Lanes{};
    }
    others = {common::sum_of_lanes(before), common::sum_of_lanes(after)};
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
    return common::sum_of_lanes(sums);
}

/// A slot, and how far `uniform` is from its lower and its upper limit among the cumulated probabilities.
struct Picked {
    std::size_t slot;
    double above, below;
};

/// `left` of the probabilities are passed over.
Picked pick_at(const double* probabilities, std::size_t slots, double left) {
    std::size_t last = 0;
    for (std::size_t s = 0; s < slots; ++s) {
        if (probabilities[s] <= 0.0)
            continue;
        last = s;
        if (left < probabilities[s])
            return {s, left, probabilities[s] - left};
        left -= probabilities[s];
    }
    return {last, 0.0, 0.0}; // rounding only
}

} // namespace

std::size_t pick(double* scores, std::size_t slots, double uniform) {
    const double total = exponentiate(scores, slots);
    return pick_at(scores, slots, uniform * total).slot;
}

std::optional<std::size_t> pick_without_far(double* scores, std::size_t slots, double uniform,
                                            std::size_t place, double share) {
    const double total = exponentiate(scores, slots);
    const auto found = pick_at(scores, slots, uniform * total);
    // what was left out may come before the slot, and add to the total
    const double most = share * scores[place];
    if (found.above < most || found.below <= most)
        return std::nullopt;
    return found.slot;
}

OtherSlots other_slots(const double* scores, std::size_t slots, std::size_t place) {
    constexpr double none = std::numeric_limits<double>::infinity();
    if (!(scores[place] > -none))
        return {none, none};
    OtherSlots others;
    bound_other_slots(scores, slots, scores[place], static_cast<double>(place), others);
    return others;
}

} // namespace partita::models
