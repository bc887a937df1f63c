// A population of good partitions: pairs of them are crossed, the children are improved, and the best of all
// stay, generation after generation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "partition/level.hpp"

namespace partita::search {

/// How large a population is and when it ends: after so many generations in a row that have not lowered the
/// least loss, or as soon as so many children of other parents have led to it again.
struct Breeding {
    std::size_t population, children, fruitless_generations, enough_times;
};

/// Different partitions of a population, two by two, at random; there are at least two.
inline std::vector<Parents> random_parents(std::size_t population, std::size_t count, common::Rng& rng) {
    std::vector<Parents> parents;
    for (; count > 0; --count)
        parents.push_back(rng.two_below(population));
    return parents;
}

/// How many of the children have the loss of the best partition, which is none of their parents.
inline std::size_t count_found_again(const std::vector<Run>& children, const std::vector<Parents>& parents,
                                     const Run& best) {
    std::size_t count = 0;
    for (std::size_t child = 0; child < children.size(); ++child)
        count += parents[child].first > 0 && parents[child].second > 0 &&
                 children[child].loss <= best.loss + best.rounding;
    return count;
}

/// Breeds from the best of the runs; what it leads to joins them.
template <SearchState S, class Improvement>
void breed(Level<S>& level, std::vector<Run>& runs, const Runner& runner, const Breeding& breeding,
           Improvement improvement) {
    constexpr std::uint64_t breeding_stream = std::uint64_t{1} << 62;
    common::Rng rng(runner.options().seed, breeding_stream);
    std::size_t times = 0, fruitless = 0;
    for (auto population = best_of(runs, breeding.population);
         population.size() > 1 && fruitless < breeding.fruitless_generations &&
         times < breeding.enough_times && !runner.limits().reached();) {
        const auto& best = population.front();
        const auto parents = random_parents(population.size(), breeding.children, rng);
        auto children = runner.run(level.children(population, parents, improvement));
        const bool falls = std::any_of(children.begin(), children.end(), [&](const Run& child) {
            return child.loss < best.loss - best.rounding;
        });
        times = falls ? 0 : times + count_found_again(children, parents, best);
        fruitless = falls ? 0 : fruitless + 1;
        std::move(children.begin(), children.end(), std::back_inserter(runs));
        population = best_of(runs, breeding.population);
    }
}

} // namespace partita::search
