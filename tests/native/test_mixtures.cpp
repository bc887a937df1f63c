// Mixtures: priors on partitions at their ends, states that come back, and states that do not fit.
#include <memory>
#include <stdexcept>
#include <string>

#include "check.hpp"
#include "models/diagonal_gaussian.hpp"
#include "models/mixture_sampler.hpp"

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

} // namespace

void test_mixtures() {
    check_full_table();
    check_large_concentrations();
    check_changed_states({});
    check_changed_states(finite_prior(9));
}
