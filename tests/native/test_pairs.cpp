// Pair probabilities: the state, the exact solution, the bounds and the search against all partitions.
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "common/random.hpp"
#include "pairs/from_draws.hpp"
#include "pairs/search.hpp"
#include "pairs/state.hpp"
#include "proofs/pair_bound.hpp"
#include "proofs/pair_exact.hpp"
#include "random_draws.hpp"
#include "random_pairs.hpp"

namespace {

using namespace partita::pairs;
using partita::grouped;
using partita::common::Rng;
using partita::common::StopFlag;
using Labels = std::vector<std::uint32_t>;

/// Calls use(labels) with every partition of n items.
void each_partition(std::uint32_t n, const std::function<void(const Labels&)>& use) {
    Labels labels(n);
    const std::function<void(std::uint32_t, std::uint32_t)> extend = [&](std::uint32_t i,
                                                                         std::uint32_t clusters) {
        if (i == n)
            return use(labels);
        for (std::uint32_t k = 0; k <= clusters; ++k) {
            labels[i] = k;
            extend(i + 1, std::max(clusters, k + 1));
        }
    };
    extend(0, 0);
}

template <class Objective> double least_value(const RandomPairs& pairs, const Objective& objective) {
    const auto local = pairs.local();
    double least = std::numeric_limits<double>::infinity();
    each_partition(pairs.n_items(), [&](const Labels& labels) {
        if (pairs.obeys(labels))
            least = std::min(least, value_of(local, objective, labels));
    });
    return least;
}

template <class Objective> void check_against_all_partitions(const Objective& objective) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const RandomPairs pairs(7, seed % 2 ? 1.0 : 0.4, seed % 3 > 0, seed);
        const auto local = pairs.local();
        const auto least = least_value(pairs, objective);
        const auto best = best_partition(local, objective);
        CHECK(pairs.obeys(best));
        CHECK(near(value_of(local, objective, best), least));
        Labels alone(pairs.atom);
        CHECK(lower_bound(local, objective, alone) <= least + 1e-9);
        CHECK(lower_bound(local, objective, best) <= least + 1e-9);
        const StopFlag go{false};
        const Options options{4, 2, 60, 2, seed};
        const auto found =
            partita::pairs::search(pairs.graph(), objective, pairs.constraints(), {}, options, go);
        CHECK(pairs.obeys(found.labels));
        CHECK(near(value_of(local, objective, found.labels), least));
        for (const auto& component : found.components)
            CHECK(component.proven);
    }
}

/// What a state says that a move changes is what the value changes, through moves, and whole clusters as
/// nodes.
template <class Objective> void check_changes(const Objective& objective) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const RandomPairs pairs(20, 0.5, seed % 2 > 0, seed);
        const auto local = pairs.local();
        Labels start(pairs.atom);
        State<Objective> state(local, objective, local.atoms, start);
        Rng rng(seed, 1);
        auto value = value_of(local, objective, state.labels());
        for (int step = 0; step < 60; ++step) {
            value += state.improve(static_cast<std::uint32_t>(rng.below(state.n_nodes())));
            CHECK(pairs.obeys(state.labels()));
            CHECK(near(value, value_of(local, objective, state.labels())));
        }
        const auto clusters = grouped(state.labels());
        State<Objective> whole(local, objective, clusters, state.labels());
        for (std::uint32_t node = 0; node < clusters.size(); ++node) {
            value += whole.improve(node);
            CHECK(near(value, value_of(local, objective, whole.labels())));
        }
    }
}

template <class Objective> void check_searches(const Objective& objective) {
    const RandomPairs pairs(120, 0.06, true, 3);
    const StopFlag go{false}, stop{true};
    const Options one{5, 3, 60, 1, 7}, many{5, 3, 60, 3, 7};
    const auto found = partita::pairs::search(pairs.graph(), objective, pairs.constraints(), {}, one, go);
    const auto again = partita::pairs::search(pairs.graph(), objective, pairs.constraints(), {}, many, go);
    CHECK(pairs.obeys(found.labels) && found.labels == again.labels);
    const auto begun =
        partita::pairs::search(pairs.graph(), objective, pairs.constraints(), found.labels, one, go);
    const auto local = pairs.local();
    CHECK(value_of(local, objective, begun.labels) <= value_of(local, objective, found.labels) + 1e-9);
    const auto stopped = partita::pairs::search(pairs.graph(), objective, pairs.constraints(), {}, one, stop);
    CHECK(stopped.labels.size() == pairs.n_items());
}

/// Each pair's probability is the weight of the draws that have it together.
template <class Label> void check_pairs_of_draws() {
    const RandomDraws<Label> owned(15, 12, 4, 0.0, 9);
    const StopFlag go{false};
    const auto list = pairs_of(owned.view(), 0.2, 2, go);
    std::size_t expected = 0;
    for (std::uint32_t i = 0; i < 12; ++i)
        for (std::uint32_t j = i + 1; j < 12; ++j) {
            double together = 0;
            for (std::size_t t = 0; t < 15; ++t)
                together += owned.view().draw(t)[i] == owned.view().draw(t)[j] ? owned.weights[t] : 0;
            if (together <= 0.2 + 1e-12)
                continue;
            ++expected;
            bool is_there = false;
            for (std::size_t e = 0; e < list.left.size(); ++e)
                is_there |= list.left[e] == i && list.right[e] == j && near(list.probability[e], together);
            CHECK(is_there);
        }
    CHECK(list.left.size() == expected);
}

} // namespace

void test_pairs() {
    check_against_all_partitions(Threshold{0.5, 0.0});
    check_against_all_partitions(Threshold{0.6, 0.3});
    check_against_all_partitions(LogMass{1.0, 1.0});
    check_against_all_partitions(LogMass{0.4, 1.6});
    check_changes(Threshold{0.5, 0.0});
    check_changes(LogMass{1.0, 1.0});
    check_searches(Threshold{0.5, 0.0});
    check_searches(LogMass{1.0, 1.0});
    check_pairs_of_draws<std::uint8_t>();
    check_pairs_of_draws<std::uint16_t>();
    check_pairs_of_draws<std::uint32_t>();
}
