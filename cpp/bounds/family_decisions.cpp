// Which open items every set of negative reduced cost contains, or lacks.
#include <algorithm>
#include <numeric>

#include "bounds/family_rows.hpp"
#include "bounds/selection.hpp"

namespace partita::bounds {

void FamilyRows::note_decided(const std::vector<double>& reduced, double of_in) {
    const auto count = n_open();
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), 0u);
    std::sort(order_.begin(), order_.end(), [&](auto s, auto t) { return reduced[s] < reduced[t]; });
    std::vector<double> sums(count + 1, 0.0); // of the least
    std::size_t negative = 0;
    for (std::size_t s = 0; s < count; ++s) {
        sums[s + 1] = sums[s] + reduced[order_[s]];
        negative += reduced[order_[s]] < 0;
    }
    const auto low = family_.lower - n_in(), high = std::min(family_.upper - n_in(), count);
    const auto take = taken(negative, low, high);
    bound_ = std::max(bound_, of_in + sums[take]);
    std::fill(chosen_.begin(), chosen_.end(), 0);
    for (std::size_t s = 0; s < take; ++s)
        chosen_[order_[s]] = 1;
    for (std::size_t s = 0; s < count; ++s) {
        const auto j = order_[s];
        const auto others = [&](std::size_t k) { return k <= s ? sums[k] : sums[k + 1] - reduced[j]; };
        const auto negative_others = negative - (reduced[j] < 0 ? 1 : 0);
        const auto with = taken(negative_others, low - std::min<std::size_t>(low, 1),
                                high - std::min<std::size_t>(high, 1));
        if (high == 0 || of_in + reduced[j] + others(with) >= 0)
            never_in_[j] = 1;
        if (low > count - 1 || of_in + others(taken(negative_others, low, std::min(high, count - 1))) >= 0)
            never_out_[j] = 1;
    }
}

/// What the row costs more if the open item has to be in its set.
double FamilyRows::cost_with(const Row& row, std::size_t open) {
    if (row.chosen[open])
        return 0.0;
    return row.given_up > -never ? row.coefficients[open] - row.given_up : never;
}

/// What the row costs more if its set has to lack the open item.
double FamilyRows::cost_without(const Row& row, std::size_t open) {
    return row.chosen[open] ? row.taken_instead - row.coefficients[open] : 0.0;
}

/// If an open item is in S, every row has to have it, and if it is out, every row has to lack it.
void FamilyRows::probe(const std::vector<double>& reduced, double of_in) {
    const auto count = n_open();
    const auto low = family_.lower - n_in(), high = std::min(family_.upper - n_in(), count);
    with_.assign(count, never);
    without_.assign(count, never);
    std::vector<double> values;
    const auto bound = [&](std::size_t j, auto cost, double start, std::size_t least, std::size_t most) {
        values.clear();
        for (std::size_t i = 0; i < n_in(); ++i)
            start += cost(rows_[i], j);
        for (std::size_t k = 0; k < count; ++k)
            if (k != j)
                values.push_back(reduced[k] + cost(rows_[n_in() + k], j));
        return start + least_sum(values, least, most);
    };
    for (std::size_t j = 0; j < count; ++j) {
        if (high > 0)
            with_[j] = bound(j, cost_with, of_in + reduced[j], low - std::min<std::size_t>(low, 1), high - 1);
        without_[j] = bound(j, cost_without, of_in, low, high);
        never_in_[j] |= with_[j] >= 0;
        never_out_[j] |= without_[j] >= 0;
    }
}

double FamilyRows::gain_of_branching(std::size_t open) const {
    if (with_.empty())
        return 0.0;
    const auto gain = [&](double part) { return std::max(std::min(part, 0.0) - bound_, 0.0); };
    return gain(with_[open]) * gain(without_[open]);
}

Family FamilyRows::remaining() const {
    Family left{family_.in, {}, family_.lower, family_.upper};
    for (std::size_t j = 0; j < n_open(); ++j) {
        if (never_in_[j] && never_out_[j])
            return {{}, {}, 1, 0};
        if (never_out_[j])
            left.in.push_back(family_.open[j]);
        else if (!never_in_[j])
            left.open.push_back(family_.open[j]);
    }
    left.lower = std::max(left.lower, left.in.size());
    left.upper = std::min(left.upper, left.in.size() + left.open.size());
    return left;
}

} // namespace partita::bounds
