#include "proofs/pricing.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <utility>

#include "proofs/family_rows.hpp"

namespace partita::proofs {
namespace {

constexpr std::size_t groups_of_all = 24, steps_of_all = 100; // for all clusters of a size, twice
constexpr double first_size_ratio = 1.25; // of the classes that a family is first split into
constexpr std::size_t steps_per_round = 20, max_rounds = 8; // before branching
constexpr double worth_another = 0.3;                       // share of what is missing that a round must gain
constexpr double worth_restricting = 0.1; // share of the open items that a round must decide
constexpr double chord_share = 0.3;       // of what is missing: sizes are split if their chord loses more

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

/// The clusters of one family.
class FamilyProof {
public:
    FamilyProof(const ReducedCosts& problem, const common::StopFlag& stop, const common::StopFlag& refuted)
        : problem_(problem), stop_(stop), refuted_(refuted) {}

    /// Whether every cluster of the family is proven, which is part of that of the rows.
    bool run(const FamilyRows& all, Family family) {
        if (is_decided(family))
            return decided(family);
        FamilyRows rows(all, std::move(family));
        ++families_;
        const auto verdict = ascend(rows);
        if (verdict != Verdict::open)
            return verdict == Verdict::proven;
        auto left = rows.remaining();
        if (left.lower > left.upper)
            return true;
        if (is_decided(left))
            return decided(left);
        const auto guess = descend(problem_.costs, problem_.duals, left, rows.likely());
        if (problem_.of(guess.items) < 0)
            return refuted(guess.items);
        return explore(FamilyRows(rows, std::move(left), FamilyRows::max_groups));
    }

    const Items& negative() const { return negative_; }
    std::size_t families() const { return families_; }

private:
    enum class Verdict { proven, stopped, open };

    Verdict ascend(FamilyRows& rows) {
        for (std::size_t t = 0; t < steps_per_round; ++t) {
            if (stop_ || refuted_)
                return Verdict::stopped;
            rows.step(t + 1 == steps_per_round);
            if (rows.bound() >= 0)
                return Verdict::proven;
        }
        return Verdict::open;
    }

    bool refuted(const Items& items) {
        negative_ = items;
        return false;
    }

    static bool is_decided(const Family& family) {
        return family.open.empty() || family.upper == family.in.size() ||
               family.lower == family.in.size() + family.open.size();
    }

    /// A family of one set, or of none.
    bool decided(const Family& family) {
        auto items = family.in;
        if (family.upper > family.in.size())
            items.insert(items.end(), family.open.begin(), family.open.end());
        return problem_.of(items) >= 0 || refuted(items);
    }

    bool explore_part(const FamilyRows& rows, Family part) {
        part.lower = std::max(part.lower, part.in.size());
        part.upper = std::min(part.upper, part.in.size() + part.open.size());
        if (part.lower > part.upper)
            return true;
        return is_decided(part) ? decided(part) : explore(FamilyRows(rows, std::move(part)));
    }

    bool explore(FamilyRows rows) {
        ++families_;
        for (std::size_t round = 0; round < max_rounds; ++round) {
            const double before = rows.bound();
            if (const auto verdict = ascend(rows); verdict != Verdict::open)
                return verdict == Verdict::proven;
            auto left = rows.remaining();
            const double n_open = static_cast<double>(rows.family().open.size());
            if (n_open - static_cast<double>(left.open.size()) >= worth_restricting * n_open)
                return explore_part(rows, std::move(left));
            if (round > 0 && rows.bound() - before < -worth_another * rows.bound())
                break;
        }
        return branch(rows);
    }

    bool branch(const FamilyRows& rows) {
        const auto left = rows.remaining();
        if (left.lower > left.upper)
            return true;
        if (left.lower < left.upper && rows.chord_loss() > -chord_share * rows.bound())
            return split_sizes(rows, left);
        if (left.open.empty())
            return explore_part(rows, left);
        const auto chosen = branching_item(rows, left);
        auto with = left;
        std::erase(with.open, chosen);
        auto without = with;
        with.in.push_back(chosen);
        return explore_part(rows, std::move(with)) && explore_part(rows, std::move(without));
    }

    /// The open item whose two parts gain most, and of those that gain nothing the one that is most in doubt.
    static std::uint32_t branching_item(const FamilyRows& rows, const Family& left) {
        std::pair best{-1.0, -1.0};
        std::uint32_t chosen = 0;
        for (std::size_t j = 0; j < rows.family().open.size(); ++j) {
            const auto item = rows.family().open[j];
            const bool is_left = std::find(left.open.begin(), left.open.end(), item) != left.open.end();
            const std::pair now{rows.gain_of_branching(j), 0.5 - std::abs(rows.share(j) - 0.5)};
            if (is_left && now > best) {
                best = now;
                chosen = item;
            }
        }
        return chosen;
    }

    /// At the size that the rows favour, which is left alone.
    bool split_sizes(const FamilyRows& rows, const Family& family) {
        const auto likely =
            std::clamp(static_cast<std::size_t>(std::lround(rows.likely_size())), family.lower, family.upper);
        auto below = family, at = family, above = family;
        below.upper = likely - 1;
        at.lower = at.upper = likely;
        above.lower = likely + 1;
        return explore_part(rows, std::move(at)) && explore_part(rows, std::move(below)) &&
               explore_part(rows, std::move(above));
    }

    const ReducedCosts& problem_;
    const common::StopFlag &stop_, &refuted_;
    Items negative_;
    std::size_t families_ = 0;
};

/// The rows of all sets of these sizes, whose draws are grouped anew when the references are known.
FamilyRows ascended(const Family& family, const ReducedCosts& problem, const common::StopFlag& stop) {
    const auto ascend = [&](FamilyRows& rows) {
        for (std::size_t t = 0; t < steps_of_all && rows.bound() < 0 && !stop; ++t)
            rows.step(t + 1 == steps_of_all);
    };
    FamilyRows first(problem, family, groups_of_all);
    ascend(first);
    if (first.bound() >= 0 || stop)
        return first;
    FamilyRows second(first, family, groups_of_all);
    ascend(second);
    return second;
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

Pricing price(const ReducedCosts& problem, unsigned threads, const common::StopFlag& stop) {
    Pricing result;
    std::mutex mutex;
    const common::StopFlag refuted;
    Items everything(problem.duals.size());
    std::iota(everything.begin(), everything.end(), 0u);
    for (std::size_t lower = 1; lower <= everything.size() && !stop && !refuted;) {
        const auto wide = static_cast<std::size_t>(static_cast<double>(lower) * first_size_ratio);
        const auto upper = std::min(everything.size(), std::max(lower, wide));
        const auto all = ascended({{}, everything, lower, upper}, problem, stop);
        const auto left = all.remaining();
        const auto parts = all.bound() >= 0 || left.lower > left.upper ? std::vector<Family>{}
                                                                       : by_home(left, problem.homes);
        common::parallel_for(parts.size(), threads, stop, [&](std::size_t k, unsigned) {
            if (stop || refuted)
                return;
            FamilyProof proof(problem, stop, refuted);
            const bool done = proof.run(all, parts[k]);
            std::lock_guard lock(mutex);
            result.families += proof.families();
            if (!done)
                refuted.request();
            if (!proof.negative().empty())
                result.negative.push_back(proof.negative());
        });
        lower = upper + 1;
    }
    result.proven = !stop && !refuted;
    return result;
}

} // namespace partita::proofs
