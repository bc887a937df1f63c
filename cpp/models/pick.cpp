#include "models/pick.hpp"

#include "clones.hpp"
#include "models/lane_math.hpp"
#include "models/slots.hpp"

namespace partita {

namespace {

/// exp(score - best) in place; returns the sum, added up in slot order on every instruction set.
PARTITA_CLONES double exponentiate(double* scores, std::size_t slots) {
    double best[lanes];
    for (std::size_t l = 0; l < lanes; ++l)
        best[l] = scores[l];
    for (std::size_t s = lanes; s < slots; s += lanes)
        for (std::size_t l = 0; l < lanes; ++l)
            best[l] = scores[s + l] > best[l] ? scores[s + l] : best[l];
    double top = best[0];
    for (std::size_t l = 1; l < lanes; ++l)
        top = best[l] > top ? best[l] : top;
    double total = 0.0;
    for (std::size_t s = 0; s < slots; s += lanes) {
        for (std::size_t l = 0; l < lanes; ++l)
            scores[s + l] = lane_exp(scores[s + l] - top);
        for (std::size_t l = 0; l < lanes; ++l)
            total += scores[s + l];
    }
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

} // namespace partita
