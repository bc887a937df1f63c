// The row bound and the scores of all draws, which bound and meet the expected losses of the draws.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "check.hpp"
#include "draws/distances.hpp"
#include "draws/draw_losses.hpp"
#include "proofs/pricing.hpp"
#include "proofs/row_bound.hpp"
#include "random_draws.hpp"

namespace {

using namespace partita;

template <class Label> void check_scores(std::size_t n) {
    const RandomDraws<Label> owned(12, n, 4, 0.0, 3);
    const auto draws = owned.view();
    const LossTables tables(VI{1.3, 0.7}, n);
    const common::StopFlag go{false}, stop{true};
    const auto scores = expected_losses_of_draws(draws, tables, 1e18, 2, go);
    CHECK(scores.size() == draws.n_draws());
    for (std::size_t t = 0; t < scores.size(); ++t) {
        const auto row = draws.draw(t);
        const std::vector<std::uint32_t> estimate(row.begin(), row.end());
        const auto losses = distances(std::span(estimate), draws, tables, 1);
        const double mean = std::inner_product(losses.begin(), losses.end(), draws.weights.begin(), 0.0);
        CHECK(near(scores[t], mean));
    }
    CHECK(expected_losses_of_draws(draws, tables, 1e18, 1, stop).empty());
    CHECK(expected_losses_of_draws(draws, LossTables(NVI{}, n), 1e18, 1, go).empty());
}

template <class Label> void check_row_bound(std::size_t n, std::size_t n_anchors) {
    const RandomDraws<Label> owned(15, n, 3, 0.0, 5);
    const auto draws = owned.view();
    const common::StopFlag go{false};
    const LossTables tables(VI{1, 1}, n);
    const auto scores = expected_losses_of_draws(draws, tables, 1e18, 1, go);
    proofs::RowBoundOptions options;
    options.seconds = 0.3;
    options.threads = 2;
    for (std::uint32_t item = 0; item < std::min(n, n_anchors); ++item)
        options.anchors.push_back(item);
    const auto bound = proofs::row_bound(draws, options, go);
    CHECK(bound.value <= *std::min_element(scores.begin(), scores.end()));
    CHECK(bound.rows_only <= bound.value);
}

/// No cluster costs less than a share far below zero per item, and none is proven when stopped.
template <class Label> void check_pricing(std::size_t n) {
    const RandomDraws<Label> owned(15, n, 3, 0.0, 5);
    const proofs::ClusterCosts costs(owned.view(), 1, 1);
    const common::StopFlag go{false}, stop{true};
    proofs::Items homes(n);
    for (std::size_t i = 0; i < n; ++i)
        homes[i] = static_cast<std::uint32_t>(i % 3);
    const std::vector<double> low(n, -3 * std::log2(static_cast<double>(n)) - 1), high(n, 1.0);
    CHECK(proofs::price({costs, low, homes}, 2, go).proven);
    CHECK(!proofs::price({costs, low, homes}, 2, stop).proven);
    const auto refuted = proofs::price({costs, high, homes}, 2, go);
    CHECK(!refuted.proven);
    CHECK(!refuted.negative.empty());
    CHECK(proofs::price({costs, high, homes, 1e4}, 2, go).proven); // no cluster is worth its price
}

} // namespace

void test_bounds() {
    check_pricing<std::uint8_t>(1);
    check_pricing<std::uint16_t>(12);
    check_pricing<std::uint32_t>(30);
    check_scores<std::uint8_t>(40);
    check_scores<std::uint16_t>(100);
    check_scores<std::uint32_t>(150);
    for (const std::size_t n_anchors : {0, 5, 60}) {
        check_row_bound<std::uint8_t>(1, n_anchors);
        check_row_bound<std::uint16_t>(12, n_anchors);
        check_row_bound<std::uint32_t>(30, n_anchors);
    }
}
