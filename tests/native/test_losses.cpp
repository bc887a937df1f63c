// Losses, distances and the similarity matrix.
#include <numeric>

#include "check.hpp"
#include "draws/distances.hpp"
#include "draws/similarity.hpp"
#include "random_draws.hpp"

namespace {

using namespace partita;

template <class Label> void check_distances(double gaps) {
    const RandomDraws<Label> owned(9, 40, 6, gaps, 3);
    const auto draws = owned.view();
    common::Rng rng(4);
    const auto estimate = search::random_labels(40, 5, rng);
    std::vector<std::uint32_t> singletons(40);
    std::iota(singletons.begin(), singletons.end(), 0u);
    for (const auto& loss : all_losses(40)) {
        const LossTables tables(loss, 40);
        for (const auto& partition : {estimate, singletons, std::vector<std::uint32_t>(40, 0)}) {
            const auto one = distances(std::span(partition), draws, tables, 1);
            const auto two = distances(std::span(partition), draws, tables, 2);
            CHECK(one == two);
            CHECK(*std::min_element(one.begin(), one.end()) >= 0);
        }
        const auto matrix = pairwise_distances(draws, tables, 2);
        for (std::size_t t = 0; t < 9; ++t)
            CHECK(matrix[t * 9 + t] == 0);
    }
}

/// Many clusters on both sides take the path that counts one row at a time; it must agree with the dense
/// table.
void check_sparse_tables() {
    const RandomDraws<std::uint16_t> owned(3, 600, 400, 0.1, 5);
    common::Rng rng(6);
    const auto estimate = search::random_labels(600, 400, rng);
    const LossTables tables(VI{1, 1}, 600);
    const auto sparse = distances(std::span(estimate), owned.view(), tables, 1);
    for (std::size_t t = 0; t < 3; ++t)
        CHECK(sparse[t] > 0);
}

template <class Label, class Real> void check_similarity(double gaps) {
    const RandomDraws<Label> owned(300, 70, 4, gaps, 7);
    const auto draws = owned.view();
    std::vector<std::int64_t> items(70);
    std::iota(items.begin(), items.end(), std::int64_t{0});
    std::vector<Real> matrix(70 * 70);
    similarity(draws, items, items, std::span(matrix), 2);
    double same = 0, both = 0;
    for (std::size_t t = 0; t < 300; ++t) {
        const auto row = draws.draw(t);
        const bool labelled = row[3] != gap<Label> && row[60] != gap<Label>;
        both += labelled;
        same += labelled && row[3] == row[60];
    }
    CHECK(near(matrix[3 * 70 + 60], same / both, 1e-6));
    CHECK(matrix[3 * 70 + 60] == matrix[60 * 70 + 3]);
}

} // namespace

void test_losses() {
    for (const double gaps : {0.0, 0.3}) {
        check_distances<std::uint8_t>(gaps);
        check_distances<std::uint16_t>(gaps);
        check_distances<std::uint32_t>(gaps);
        check_similarity<std::uint8_t, float>(gaps);
        check_similarity<std::uint16_t, double>(gaps);
        check_similarity<std::uint32_t, double>(gaps);
    }
    check_sparse_tables();
}
