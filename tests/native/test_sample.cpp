// Collecting draws: canonical, distinct, wide labels, forced collisions.
#include "check.hpp"
#include "common/random.hpp"
#include "draws/distinct_draws.hpp"

namespace {

using namespace partita;

template <class Input> void check_builder(std::uint64_t hash_mask, std::int64_t widest) {
    constexpr std::size_t n_items = 50, n_draws = 40;
    common::Rng rng(2);
    std::vector<Input> block;
    for (std::size_t t = 0; t < n_draws; ++t)
        for (std::size_t i = 0; i < n_items; ++i)
            block.push_back(static_cast<Input>(static_cast<std::int64_t>(rng.below(3)) * widest));
    block.insert(block.end(), block.begin(), block.begin() + n_items); // the first draw again
    SampleBuilder builder(n_items, hash_mask);
    builder.add(std::span<const Input>(block), 2);
    const auto draws = builder.finish();
    CHECK(draws.index.size() == n_draws + 1);
    CHECK(draws.index.back() == draws.index.front());
    std::uint64_t total = 0;
    for (const auto count : draws.counts)
        total += count;
    CHECK(total == n_draws + 1);
}

} // namespace

void test_sample() {
    for (const std::uint64_t mask : {~std::uint64_t{0}, std::uint64_t{0}}) {
        check_builder<std::uint8_t>(mask, 100);
        check_builder<std::int32_t>(mask, 1'000'000'000);
        check_builder<std::int64_t>(mask, std::int64_t{1} << 60);
    }
}
