// Mixtures: priors on partitions at their ends, states that come back, and states that do not fit.
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "common/random.hpp"
#include "mcmc/pick.hpp"
#include "mixtures/mixtures.hpp"

namespace {

using namespace partita::models;
using Sampler = MixtureSampler<DiagonalGaussian>;

Sampler make_sampler(std::size_t n, PartitionPriorSettings prior) {
    std::vector<double> data;
    for (std::size_t i = 0; i < n; ++i)
        data.push_back(static_cast<double>(i % 3) * 9.0);
    const GammaBase base{{0.0}, {1.0}, {2.0}, {1.0}};
    return Sampler(std::make_shared<NumberTable>(std::move(data), 1), DiagonalGaussian(base, n + 1),
                   std::move(prior), {}, 1, 0, {});
}

PartitionPriorSettings finite_prior(std::size_t n) {
    FiniteMixturePrior prior;
    for (std::size_t t = 0; t <= n; ++t)
        prior.log_v.push_back(-static_cast<double>(t));
    return prior;
}

/// As many clusters as items: ln V has no entry for one more.
void check_full_table() {
    const PartitionPrior prior(finite_prior(2), 2);
    CHECK(prior.log_open(2) == -std::numeric_limits<double>::infinity());
    auto sampler = make_sampler(2, finite_prior(2));
    for (int sweep = 0; sweep < 50; ++sweep)
        sampler.sweep();
}

void check_large_concentrations() {
    for (const double alpha : {0.5, 1e5, 2e6, 1e12, 1e50, 1e100}) {
        const PartitionPrior prior(ProcessPrior{FixedConcentration{alpha}}, 30);
        for (const std::size_t t : {1, 7, 30}) {
            double exact = 0.0;
            for (std::size_t i = 1; i < 30; ++i)
                exact += (i < t ? std::log(alpha) : 0.0) - std::log(alpha + static_cast<double>(i));
            CHECK(std::abs(prior.log_v(t) - exact) < 1e-7);
        }
    }
}

/// Every byte of a state in turn: it is refused, or the sampler goes on with it.
void check_changed_states(PartitionPriorSettings prior) {
    auto original = make_sampler(9, prior);
    for (int sweep = 0; sweep < 5; ++sweep)
        original.sweep();
    const std::string state = original.state();
    int refused = 0;
    for (std::size_t place = 0; place < state.size(); ++place) {
        auto changed = state;
        changed[place] = static_cast<char>(changed[place] ^ 0x81);
        auto sampler = make_sampler(9, prior);
        try {
            sampler.restore(changed);
        } catch (const std::invalid_argument&) {
            ++refused;
            continue;
        }
        if (sampler.sweeps() == 5)
            sampler.sweep();
    }
    CHECK(refused > 0);
    auto sampler = make_sampler(9, prior);
    sampler.restore(state);
    CHECK(sampler.state() == state);
}

/// Draws of 16 slots, some of them far: without these the draw is the same, or said to be in doubt.
void check_draws_without_far_slots() {
    constexpr std::size_t slots = 16, own = 5;
    constexpr double share = 0.05;
    const double far = std::log(share / slots);
    partita::common::Rng rng(1, 0);
    int left_out = 0, in_doubt = 0;
    for (int repetition = 0; repetition < 20000; ++repetition) {
        std::vector<double> all(slots);
        for (auto& score : all)
            score = 16.0 * (rng.uniform() - 1.0);
        auto near = all;
        for (auto& score : near)
            if (score < all[own] + far)
                score = -std::numeric_limits<double>::infinity(), ++left_out;
        const double uniform = rng.uniform();
        const auto found = pick_without_far(near.data(), slots, uniform, own, share);
        in_doubt += !found;
        CHECK(!found || *found == pick(all.data(), slots, uniform));
    }
    CHECK(left_out > 10000);
    CHECK(in_doubt > 0 && in_doubt < 4000);
}

/// What bounds of the other slots say of a draw is what the draw says, with slots left out and without.
void check_draws_by_bounds() {
    constexpr std::size_t slots = 16, own = 6;
    constexpr double share = 0.01;
    partita::common::Rng rng(2, 0);
    int told = 0, stays = 0;
    for (int repetition = 0; repetition < 20000; ++repetition) {
        std::vector<double> all(slots);
        for (auto& score : all)
            score = 20.0 * (rng.uniform() - 1.0);
        all[own] += 4.0 * rng.uniform();
        auto near = all;
        for (auto& score : near)
            if (score < all[own] + std::log(share / slots))
                score = -std::numeric_limits<double>::infinity();
        const auto others = other_slots(near.data(), slots, own);
        double before = 0.0, after = 0.0;
        for (std::size_t s = 0; s < slots; ++s)
            (s < own ? before : after) += s == own ? 0.0 : std::exp(near[s] - all[own]);
        CHECK(others.before >= before && others.before <= 1.07 * before + 1e-15);
        CHECK(others.after >= after && others.after <= 1.07 * after + 1e-15);
        const double uniform = rng.uniform();
        const bool lose = others.lose(uniform, share);
        const bool stay = pick(all.data(), slots, uniform) == own;
        CHECK(!lose || stay);
        told += lose, stays += stay;
    }
    CHECK(told < stays && told > 0.8 * stays);
    std::vector<double> none(slots, -std::numeric_limits<double>::infinity());
    CHECK(!other_slots(none.data(), slots, own).lose(0.5, 0.0));
}

} // namespace

void test_mixtures() {
    check_draws_by_bounds();
    check_draws_without_far_slots();
    check_full_table();
    check_large_concentrations();
    check_changed_states({});
    check_changed_states(finite_prior(9));
}
