// Ensembles of clusterings: each label type, both truncations, with gaps and without.
#include "chains.hpp"
#include "ensembles/sampler.hpp"

namespace {

using namespace partita;

template <class Label> struct Table {
    std::vector<Label> codes;
    std::vector<std::uint32_t> n_labels{2, 3, 1};
    std::vector<double> weights{1.0, 0.5, 0.25};

    Table(std::size_t n_items, double gaps) {
        common::Rng rng(4);
        for (std::size_t i = 0; i < n_items; ++i)
            for (const auto count : n_labels) {
                const auto label = static_cast<Label>(rng.below(count));
                codes.push_back(rng.uniform() < gaps ? gap<Label> : label);
            }
    }
};

template <class Label>
void check_ensemble(std::size_t n, double gaps, ensembles::Weights weights, bool learn) {
    const auto table = std::make_shared<Table<Label>>(n, gaps);
    check_chain([=](std::uint64_t seed) {
        const auto concentration = learn ? ensembles::Concentration(common::GammaConcentration{1.0, 1.0})
                                         : common::FixedConcentration{1.0};
        auto chain = std::make_shared<ensembles::Sampler<Label>>(
            ensembles::Base<Label>{table->codes, table->n_labels, table->weights}, weights, 6, concentration,
            concentration, common::Rng(seed, 0));
        return AnyChain{[=] { chain->sweep(); },
                        [=] {
                            std::vector<std::uint32_t> labels(n);
                            chain->write_labels(labels.data());
                            return labels;
                        },
                        [=] { return chain->log_density(); }, [=] { return chain->state(); },
                        [=](std::string bytes) { chain->restore(std::move(bytes)); }};
    });
}

} // namespace

void test_ensembles() {
    for (const std::size_t n : {1u, 15u})
        for (const double gaps : {0.0, 0.4})
            for (const auto weights : {ensembles::Weights::tsb, ensembles::Weights::fsd})
                for (const bool learn : {false, true}) {
                    check_ensemble<std::uint8_t>(n, gaps, weights, learn);
                    check_ensemble<std::uint32_t>(n, gaps, weights, learn);
                }
}
