// Mixture samplers: every prior on partitions and every family, few items and equal ones.
#include "chains.hpp"
#include "mixtures/mixtures.hpp"

namespace {

using namespace partita::models;
namespace common = partita::common;

constexpr std::size_t dims = 2;

std::vector<double> data_of(std::size_t n_items, bool equal) {
    common::Rng rng(3);
    std::vector<double> data(n_items * dims, 1.5);
    for (std::size_t at = 0; at < data.size() && !equal; ++at)
        data[at] = rng.uniform() + 5.0 * static_cast<double>(rng.below(3));
    return data;
}

std::vector<PartitionPriorSettings> priors(std::size_t n_items) {
    const ProcessPrior fixed, pitman_yor{FixedConcentration{1.0}, 0.5}, gamma{GammaConcentration{1.0, 1.0}};
    const ProcessPrior grid{GridConcentration{{0.1, 1.0, 10.0}, {-1.0, -1.0, -1.0}}};
    FiniteMixturePrior finite;
    for (std::size_t t = 0; t <= n_items + 1; ++t)
        finite.log_v.push_back(-static_cast<double>(t));
    return {fixed, pitman_yor, gamma, grid, finite};
}

template <class Family>
MakeChain chain_of(std::shared_ptr<const typename Family::Table> table, Family family,
                   PartitionPriorSettings prior) {
    return [=](std::uint64_t seed) {
        auto chain = std::make_shared<MixtureSampler<Family>>(table, family, prior, MixtureMoves{2.0, 1},
                                                              seed, 0, std::span<const std::uint32_t>{});
        return AnyChain{[=] { chain->sweep(); },
                        [=] {
                            std::vector<std::uint32_t> labels(table->n_items());
                            chain->write_labels(labels.data());
                            return labels;
                        },
                        [=] { return chain->log_density(); }, [=] { return chain->state(); },
                        [=](std::string bytes) { chain->restore(std::move(bytes)); }};
    };
}

/// Some cells are gaps.
template <class T> std::vector<T> with_gaps(std::vector<T> cells, T gap) {
    for (std::size_t at = 2; at < cells.size(); at += 5)
        cells[at] = gap;
    return cells;
}

template <class T> std::vector<T> small_numbers(std::size_t count, T below, bool equal) {
    common::Rng rng(4);
    std::vector<T> numbers(count, 1);
    for (std::size_t at = 0; at < count && !equal; ++at)
        numbers[at] = static_cast<T>(rng.below(below));
    return numbers;
}

/// A block of every family.
void check_products(std::size_t n, bool equal) {
    const std::vector<double> zero(dims, 0.0), one(dims, 1.0), unit{1.0, 0.0, 0.0, 1.0};
    const auto numbers = data_of(n, equal);
    auto table = std::make_shared<ProductTable>(n, 0.5);
    Product family;
    table->add(NumberTable(numbers, dims));
    family.add(DiagonalGaussian({zero, one, one, one}, n + 1));
    table->add(NumberTable(numbers, dims));
    family.add(FullGaussian({zero, {0.1}, {4.0}, unit, {}}, n + 1));
    table->add(NumberTable(with_gaps(numbers, std::numeric_limits<double>::quiet_NaN()), dims));
    family.add(GaussianCells({zero, one, one, one}, n + 1));
    table->add(LevelTable<std::uint8_t>(
        with_gaps(small_numbers<std::uint8_t>(n * dims, 3, equal), std::uint8_t{255}), dims));
    family.add(Categorical<std::uint8_t>({{3, 3}, one}, n + 1));
    table->add(LevelTable<std::uint32_t>(small_numbers<std::uint32_t>(n, 300, equal), 1));
    family.add(Categorical<std::uint32_t>({{300}, {0.5}}, n + 1));
    table->add(
        CountTable(with_gaps(small_numbers<std::uint32_t>(n * dims, 40, equal), CountTable::gap), dims));
    family.add(Counts({one, one}));
    for (const auto& prior : priors(n))
        check_chain(chain_of<Product>(table, family, prior));
}

void check_families(std::size_t n, bool equal) {
    const std::vector<double> zero(dims, 0.0), one(dims, 1.0), unit{1.0, 0.0, 0.0, 1.0};
    const auto table = std::make_shared<const NumberTable>(data_of(n, equal), dims);
    for (const auto& prior : priors(n)) {
        check_chain(chain_of(table, DiagonalGaussian({zero, one, one, one}, n + 1), prior));
        check_chain(chain_of(table, FullGaussian({zero, {0.1}, {4.0}, unit, {}}, n + 1), prior));
    }
    const WishartBase grids{zero, {0.1, 1.0}, {3.0, 5.0}, {}, {0.5, 2.0}};
    check_chain(chain_of(table, FullGaussian(grids, n + 1), priors(n)[0]));
}

} // namespace

void test_mixture_chains() {
    check_families(1, false);
    check_families(2, true);
    check_families(20, false);
    check_families(20, true);
    check_products(1, true);
    check_products(40, false);
    check_products(40, true);
}
