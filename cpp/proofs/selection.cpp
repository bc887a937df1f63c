#include "proofs/selection.hpp"

#include <algorithm>
#include <utility>

namespace partita::proofs {
namespace {

using Places = std::vector<std::uint32_t>;

auto at(Places& places, std::size_t index) { return places.begin() + static_cast<std::ptrdiff_t>(index); }

/// Of the places before `end`, those of the least values go to the front.
void least_first(Places& places, std::size_t end, std::size_t count, std::span<const double> values) {
    if (0 < count && count < end)
        std::nth_element(places.begin(), at(places, count), at(places, end),
                         [&](auto s, auto t) { return values[s] < values[t]; });
}

} // namespace

Selection::Selection(std::vector<std::uint16_t> group, std::vector<Limits> limits)
    : group_(std::move(group)), limits_(std::move(limits)), groups_(limits_.size()) {}

void Selection::run(std::span<const double> values, Limits total, Choice& out, std::size_t taken) {
    choose(values, total, taken, no_item);
    out.sum = sum_;
    out.chosen.assign(values.size(), 0);
    if (!out.is_possible())
        return;
    for (const auto j : picked_)
        out.chosen[j] = 1;
    note_exchanges(values, total, out, taken);
}

double Selection::least_sum_with(std::span<const double> values, Limits total, std::size_t taken) {
    choose(values, total, taken, no_item);
    return sum_;
}

double Selection::least_sum_without(std::span<const double> values, Limits total, std::size_t left_out) {
    choose(values, total, no_item, left_out);
    return sum_;
}

void Selection::choose(std::span<const double> values, Limits total, std::size_t taken,
                       std::size_t left_out) {
    for (auto& group : groups_) {
        group.places.clear();
        group.count = 0;
    }
    for (std::uint32_t j = 0; j < values.size(); ++j)
        if (j != taken && j != left_out)
            groups_[group_[j]].places.push_back(j);
    if (taken != no_item)
        ++groups_[group_[taken]].count;
    picked_.clear();
    sum_ = never;
    if (!fill(values, total, taken != no_item ? 1 : 0))
        return;
    sum_ = 0;
    for (const auto j : picked_) {
        sum_ += values[j];
        ++groups_[group_[j]].count;
    }
}

/// The least values that each group must give, then the least of what the groups may still give.
bool Selection::fill(std::span<const double> values, Limits total, std::size_t count) {
    auto& pool = groups_[0].places;
    for (std::size_t g = 1; g < groups_.size(); ++g) {
        auto& [places, held] = groups_[g];
        if (held > limits_[g].upper || held + places.size() < limits_[g].lower)
            return false;
        const auto must = limits_[g].lower - std::min(limits_[g].lower, held);
        const auto may = std::min(limits_[g].upper - held, places.size());
        least_first(places, places.size(), may, values);
        least_first(places, may, must, values);
        picked_.insert(picked_.end(), places.begin(), at(places, must));
        pool.insert(pool.end(), at(places, must), at(places, may));
    }
    count += picked_.size();
    if (count > total.upper || count + pool.size() < total.lower)
        return false;
    const auto is_negative = [&](std::uint32_t j) { return values[j] < 0; };
    const auto negative = static_cast<std::size_t>(std::count_if(pool.begin(), pool.end(), is_negative));
    const auto low = total.lower - std::min(total.lower, count);
    const auto wanted = std::clamp(negative, low, std::min(total.upper - count, pool.size()));
    least_first(pool, pool.size(), wanted, values);
    picked_.insert(picked_.end(), pool.begin(), at(pool, wanted));
    return true;
}

void Selection::note_exchanges(std::span<const double> values, Limits total, Choice& out,
                               std::size_t taken) const {
    const auto n_groups = groups_.size();
    std::vector<double> most(n_groups, -never), least(n_groups, never); // of the chosen, and of the others
    for (std::size_t j = 0; j < values.size(); ++j)
        if (j != taken) {
            const auto g = group_[j];
            out.chosen[j] ? most[g] = std::max(most[g], values[j]) : least[g] = std::min(least[g], values[j]);
        }
    const auto may_shrink = [&](std::size_t g) { return g == 0 || groups_[g].count > limits_[g].lower; };
    const auto may_grow = [&](std::size_t g) { return g == 0 || groups_[g].count < limits_[g].upper; };
    const auto count = picked_.size() + (taken != no_item ? 1 : 0);
    double removed = count < total.upper ? 0.0 : -never, added = count > total.lower ? 0.0 : never;
    for (std::size_t g = 0; g < n_groups; ++g) {
        if (may_shrink(g))
            removed = std::max(removed, most[g]);
        if (may_grow(g))
            added = std::min(added, least[g]);
    }
    out.given_up.resize(n_groups);
    out.replacement.resize(n_groups);
    for (std::size_t g = 0; g < n_groups; ++g) {
        out.given_up[g] = may_grow(g) ? std::max(removed, most[g]) : most[g];
        out.replacement[g] = may_shrink(g) ? std::min(added, least[g]) : least[g];
    }
}

} // namespace partita::proofs
