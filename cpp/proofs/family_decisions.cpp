// Which open items every set of negative reduced cost contains, or lacks.
#include <algorithm>

#include "proofs/family_rows.hpp"
#include "proofs/selection.hpp"

namespace partita::proofs {

void FamilyRows::note_decided(const std::vector<double>& reduced, double of_in) {
    selection_.run(reduced, limits(), choice_);
    const double now = choice_.is_possible() ? of_in + choice_.sum : never;
    bound_ = std::max(bound_, now);
    if (bound_ >= 0)
        return;
    for (std::size_t j = 0; j < n_open(); ++j) {
        const auto group = selection_.group(j);
        never_in_[j] |= now + choice_.cost_with(j, reduced[j], group) >= 0;
        never_out_[j] |= now + choice_.cost_without(j, reduced[j], group) >= 0;
    }
}

double FamilyRows::cost_with(const Row& row, std::size_t open) const {
    return row.choice.cost_with(open, row.coefficients[open], selection_.group(open));
}

double FamilyRows::cost_without(const Row& row, std::size_t open) const {
    return row.choice.cost_without(open, row.coefficients[open], selection_.group(open));
}

/// If an open item is in S, every row has to have it, and if it is out, every row has to lack it.
void FamilyRows::probe(const std::vector<double>& reduced, double of_in) {
    const auto count = n_open();
    with_.assign(count, never);
    without_.assign(count, never);
    auto values = reduced;
    for (std::size_t j = 0; j < count; ++j) {
        double of_with = of_in + reduced[j], of_without = of_in;
        for (std::size_t i = 0; i < n_in(); ++i) {
            of_with += cost_with(rows_[i], j);
            of_without += cost_without(rows_[i], j);
        }
        for (std::size_t k = 0; k < count; ++k)
            if (k != j && rows_[n_in() + k].choice.is_possible())
                values[k] = reduced[k] + cost_with(rows_[n_in() + k], j);
        with_[j] = of_with + selection_.least_sum_with(values, limits(), j);
        for (std::size_t k = 0; k < count; ++k)
            if (k != j && rows_[n_in() + k].choice.is_possible())
                values[k] = reduced[k] + cost_without(rows_[n_in() + k], j);
        without_[j] = of_without + selection_.least_sum_without(values, limits(), j);
        values[j] = reduced[j];
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
    Family left{family_.in, {}, family_.lower, family_.upper, family_.homes};
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

} // namespace partita::proofs
