// The weights of the clusters before labels are seen: the two truncations of the Dirichlet process, and the
// order of sticks.
#include <algorithm>
#include <cmath>
#include <limits>

#include "common/log_gamma.hpp"
#include "ensembles/state.hpp"

namespace partita::ensembles {

/// An empty stick, drawn by its prior weight: the labels do not depend on which.
template <class Label> std::uint32_t State<Label>::pick_slot(common::Rng& rng) {
    double left = rng.uniform() * empty_prior_;
    std::uint32_t last = 0;
    for (std::uint32_t slot = 0; slot < truncation_; ++slot) {
        if (column_of_[slot] != no_column)
            continue;
        last = slot;
        if ((left -= stick_prior_[slot]) < 0.0)
            break;
    }
    return last;
}

template <class Label> std::uint32_t State<Label>::slot_size(std::uint32_t slot) const {
    return column_of_[slot] == no_column ? 0 : sizes_[column_of_[slot]];
}

/// p(z_i = k | the others) for stick-breaking; the last stick takes all that is left.
template <class Label> void State<Label>::score_sticks() {
    double beyond = static_cast<double>(n_inserted_), left = 1.0;
    empty_prior_ = 0.0;
    for (std::uint32_t slot = 0; slot < truncation_; ++slot) {
        const double size = slot_size(slot);
        const double rest = alpha_ + beyond - size, total = 1.0 + alpha_ + beyond;
        const double weight = slot + 1 == truncation_ ? left : left * (1.0 + size) / total;
        // never zero, so that a far stick with items can still be drawn
        stick_prior_[slot] = std::max(weight, std::numeric_limits<double>::min());
        if (column_of_[slot] == no_column)
            empty_prior_ += stick_prior_[slot];
        else
            prior_[column_of_[slot]] = stick_prior_[slot];
        left *= rest / total;
        beyond -= size;
    }
    if (n_clusters_ == truncation_)
        empty_prior_ = 0.0;
}

template <class Label> double State<Label>::log_prior(double alpha) const {
    const double n = static_cast<double>(n_inserted_), share = alpha / truncation_;
    double sum = 0.0;
    if (weights_ == Weights::fsd) {
        sum =
            common::log_gamma(alpha) - common::log_gamma(alpha + n) - n_clusters_ * common::log_gamma(share);
        for (std::uint32_t column = 0; column < n_columns_; ++column)
            if (sizes_[column] > 0)
                sum += common::log_gamma(share + sizes_[column]);
        return sum;
    }
    double beyond = n;
    for (std::uint32_t slot = 0; slot + 1 < truncation_; ++slot) {
        const double size = slot_size(slot);
        sum += std::log(alpha) + common::log_gamma(1.0 + size) + common::log_gamma(alpha + beyond - size) -
               common::log_gamma(1.0 + alpha + beyond);
        beyond -= size;
    }
    return sum;
}

template <class Label> void State<Label>::swap_sticks(common::Rng& rng) {
    if (weights_ != Weights::tsb)
        return;
    double beyond = static_cast<double>(n_inserted_);
    for (std::uint32_t slot = 0; slot + 1 < truncation_; ++slot) {
        const double here = slot_size(slot), next = slot_size(slot + 1);
        const double after = beyond - here - next;
        const bool ends = slot + 2 == truncation_; // the last stick has no factor of its own
        const double log_ratio = ends ? common::log_gamma(1.0 + next) + common::log_gamma(alpha_ + here) -
                                            common::log_gamma(1.0 + here) - common::log_gamma(alpha_ + next)
                                      : std::log((alpha_ + next + after) / (alpha_ + here + after));
        if (std::log1p(-rng.uniform()) < log_ratio) {
            std::swap(column_of_[slot], column_of_[slot + 1]);
            for (const auto moved : {slot, slot + 1})
                if (column_of_[moved] != no_column)
                    slot_of_[column_of_[moved]] = moved;
        }
        beyond -= slot_size(slot);
    }
}

#define INSTANTIATE(Label)                                                                                   \
    template std::uint32_t State<Label>::pick_slot(common::Rng&);                                            \
    template std::uint32_t State<Label>::slot_size(std::uint32_t) const;                                     \
    template void State<Label>::score_sticks();                                                              \
    template double State<Label>::log_prior(double) const;                                                   \
    template void State<Label>::swap_sticks(common::Rng&);

PARTITA_FOR_EACH_LABEL(INSTANTIATE)
#undef INSTANTIATE

} // namespace partita::ensembles
