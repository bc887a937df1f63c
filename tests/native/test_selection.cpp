// Selections with limits against all subsets, and families by home, of which every subset is in one.
#include <algorithm>
#include <bit>

#include "check.hpp"
#include "common/random.hpp"
#include "proofs/pricing.hpp"
#include "proofs/selection.hpp"

namespace {

using namespace partita::proofs;

struct Case {
    std::vector<double> values;
    std::vector<std::uint16_t> group;
    std::vector<Limits> limits; // of the groups; those of group 0 do not count
    Limits total;

    bool allows(unsigned set) const {
        std::vector<std::size_t> counts(limits.size(), 0);
        for (std::size_t j = 0; j < values.size(); ++j)
            counts[group[j]] += set >> j & 1u;
        const auto size = static_cast<std::size_t>(std::popcount(set));
        bool allowed = total.lower <= size && size <= total.upper;
        for (std::size_t g = 1; g < limits.size(); ++g)
            allowed = allowed && limits[g].lower <= counts[g] && counts[g] <= limits[g].upper;
        return allowed;
    }

    /// The least sum of the sets that have all of one set and none of another.
    double least(unsigned with, unsigned without) const {
        double best = never;
        for (unsigned set = 0; set < 1u << values.size(); ++set) {
            if ((set & with) != with || (set & without) != 0 || !allows(set))
                continue;
            double sum = 0;
            for (std::size_t j = 0; j < values.size(); ++j)
                sum += set >> j & 1u ? values[j] : 0.0;
            best = std::min(best, sum);
        }
        return best;
    }
};

template <class Random> Limits random_limits(std::size_t most, Random& random) {
    const auto s = random.below(most + 1), t = random.below(most + 1);
    return {std::min(s, t), std::max(s, t)};
}

bool same(double s, double t) { return s >= never / 2 ? t >= never / 2 : near(s, t); }

void check(const Case& given) {
    Selection selection(given.group, given.limits);
    partita::proofs::Choice choice;
    selection.run(given.values, given.total, choice);
    CHECK(same(choice.sum, given.least(0, 0)));
    for (std::size_t j = 0; j < given.values.size(); ++j) {
        const double value = given.values[j], with = given.least(1u << j, 0),
                     without = given.least(0, 1u << j);
        const double taken = selection.least_sum_with(given.values, given.total, j);
        CHECK(same(with, taken < never ? taken + value : never));
        CHECK(same(without, selection.least_sum_without(given.values, given.total, j)));
        if (!choice.is_possible())
            continue;
        const auto group = selection.group(j);
        CHECK(same(with, choice.sum + choice.cost_with(j, value, group)));
        CHECK(same(without, choice.sum + choice.cost_without(j, value, group)));
    }
}

bool holds(const Family& family, unsigned set, const std::vector<std::uint32_t>& homes) {
    return std::all_of(family.homes.begin(), family.homes.end(), [&](const HomeLimits& limit) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < homes.size(); ++i)
            count += homes[i] == limit.home && (set >> i & 1u);
        return limit.count.lower <= count && count <= limit.count.upper;
    });
}

void check_homes(const std::vector<std::uint32_t>& homes) {
    for (std::size_t lower = 1; lower <= homes.size(); ++lower) {
        const auto parts = by_home({{}, {}, lower, lower + 1}, homes);
        for (unsigned set = 0; set < 1u << homes.size(); ++set)
            CHECK(std::count_if(parts.begin(), parts.end(),
                                [&](const Family& part) { return holds(part, set, homes); }) == 1);
    }
}

} // namespace

void test_selection() {
    check_homes({0, 0, 0, 1, 1, 1, 2, 2, 2});
    check_homes({3, 0, 0, 0, 0, 3, 0, 1});
    partita::common::Rng random(3);
    std::size_t possible = 0;
    for (int repeat = 0; repeat < 400; ++repeat) {
        Case given;
        const auto n = 1 + random.below(8), n_groups = 1 + random.below(3);
        for (std::size_t j = 0; j < n; ++j) {
            given.values.push_back(2 * random.uniform() - 1);
            given.group.push_back(static_cast<std::uint16_t>(random.below(n_groups)));
        }
        for (std::size_t g = 0; g < n_groups; ++g)
            given.limits.push_back(random_limits(3, random));
        given.total = random_limits(n, random);
        possible += given.least(0, 0) < never;
        check(given);
    }
    CHECK(possible > 100);
}
