#include "proofs/multipliers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

namespace partita::proofs {
namespace {

constexpr float momentum = 0.9f, memory = 0.99f, damping = 0.1f; // of the steps (Adam)
constexpr float in_use = 1e-4f;           // share below which an item's multipliers of a kind are not updated
constexpr float worth_separating = 0.02f; // share, and violation, below which no triangle is added
constexpr std::size_t triangles_per_item = 40; // at most this many new ones per pass and kind
constexpr std::size_t max_triangles = 3'000'000;
constexpr std::uint32_t patience = 50; // steps for which an idle triangle is kept

std::size_t pair_of(std::size_t s, std::size_t r, std::size_t m) { // s < r
    return s * (2 * m - s - 1) / 2 + r - s - 1;
}

/// All pairs s < r, in square tiles: the entries of (s, r) and (r, s) are far apart in memory.
template <class Use> void each_pair(std::size_t m, Use use) {
    constexpr std::size_t side = 32;
    for (std::size_t tile_s = 0; tile_s < m; tile_s += side)
        for (std::size_t tile_r = tile_s; tile_r < m; tile_r += side)
            for (std::size_t s = tile_s; s < std::min(m, tile_s + side); ++s)
                for (std::size_t r = std::max(s + 1, tile_r); r < std::min(m, tile_r + side); ++r)
                    use(s, r);
}

/// Adds the terms of a triangle's multiplier tau to the rows of its three items.
template <class Real>
void add_triangle(const TriangleMultiplier& t, double tau, std::size_t m, Real* cost, double* constant) {
    const auto whole = static_cast<Real>(tau), half = whole / 2;
    cost[t.i * m + t.j] += whole;
    cost[t.i * m + t.l] += whole;
    cost[t.j * m + t.l] -= half;
    cost[t.l * m + t.j] -= half;
    constant[t.i] -= tau;
}

float violation(const Rows& rows, const Kind& kind, const TriangleMultiplier& t) {
    const float together = 0.5f * (rows.joint(kind, t.j, t.l) + rows.joint(kind, t.l, t.j));
    return rows.joint(kind, t.i, t.j) + rows.joint(kind, t.i, t.l) - together -
           rows.share[kind.first_cell + t.i];
}

} // namespace

Multipliers::Multipliers(const Kinds& kinds) : pairs_(kinds.list.size()), triangles_(kinds.list.size()) {}

std::size_t Multipliers::n_triangles() const {
    return std::accumulate(triangles_.begin(), triangles_.end(), std::size_t{0},
                           [](std::size_t sum, const auto& list) { return sum + list.size(); });
}

void Multipliers::step(Rows& rows, double rate, unsigned threads) {
    ++steps_;
    common::parallel_for(pairs_.size(), threads, [&](std::size_t k, unsigned) {
        const auto& kind = rows.kinds.list[k];
        const auto scale = rate * rows.weights.both() * std::numbers::log2e / kind.size.upper;
        step_pairs(rows, k, static_cast<float>(scale));
        step_triangles(rows, k, static_cast<float>(scale));
    });
}

void Multipliers::step_pairs(Rows& rows, std::size_t k, float rate) {
    const auto& kind = rows.kinds.list[k];
    const auto m = kind.count();
    const auto* share = &rows.share[kind.first_cell];
    if (std::none_of(share, share + m, [](float y) { return y > in_use; }))
        return;
    auto& [mu, mean, square] = pairs_[k];
    for (auto* values : {&mu, &mean, &square})
        values->resize(m * (m - 1) / 2, 0.0f);
    const auto warm = static_cast<float>(steps_);
    const float of_mean = 1 / (1 - std::pow(momentum, warm)), of_square = 1 / (1 - std::pow(memory, warm));
    auto* cost = &rows.cost[kind.first_pair];
    each_pair(m, [&](std::size_t s, std::size_t r) {
        if (!(share[s] > in_use || share[r] > in_use))
            return;
        const auto p = pair_of(s, r, m);
        const float g = rows.joint(kind, s, r) - rows.joint(kind, r, s);
        mean[p] = momentum * mean[p] + (1 - momentum) * g;
        square[p] = memory * square[p] + (1 - memory) * g * g;
        const float move = rate * mean[p] * of_mean / (std::sqrt(square[p] * of_square) + damping);
        mu[p] += move;
        cost[s * m + r] += move;
        cost[r * m + s] -= move;
    });
}

void Multipliers::step_triangles(Rows& rows, std::size_t k, float rate) {
    const auto& kind = rows.kinds.list[k];
    auto* cost = &rows.cost[kind.first_pair];
    auto* constant = &rows.constant[kind.first_cell];
    for (auto& t : triangles_[k]) {
        const float g = violation(rows, kind, t);
        t.mean = momentum * t.mean + (1 - momentum) * g;
        t.square = memory * t.square + (1 - memory) * g * g;
        const float tau = std::max(0.0f, t.tau + rate * t.mean / (std::sqrt(t.square) + damping));
        add_triangle(t, static_cast<double>(tau - t.tau), kind.count(), cost, constant);
        t.idle = tau > 0 ? 0 : t.idle + 1;
        t.tau = tau;
    }
    std::erase_if(triangles_[k], [](const TriangleMultiplier& t) { return t.idle > patience; });
}

void Multipliers::separate(const Rows& rows, unsigned threads) {
    if (n_triangles() > max_triangles)
        return;
    common::parallel_for(triangles_.size(), threads, [&](std::size_t k, unsigned) {
        const auto added = violated(rows, k);
        triangles_[k].insert(triangles_[k].end(), added.begin(), added.end());
    });
}

std::vector<TriangleMultiplier> Multipliers::violated(const Rows& rows, std::size_t k) const {
    const auto& kind = rows.kinds.list[k];
    const auto m = kind.count();
    std::unordered_set<std::uint64_t> known;
    const auto key = [&](const TriangleMultiplier& t) {
        return (static_cast<std::uint64_t>(t.i) * m + t.j) * m + t.l;
    };
    for (const auto& t : triangles_[k])
        known.insert(key(t));
    std::vector<TriangleMultiplier> added;
    std::vector<std::pair<float, std::uint32_t>> near; // share together with i, place
    std::vector<std::pair<float, TriangleMultiplier>> list;
    for (std::uint32_t i = 0; i < m; ++i) {
        const float y = rows.share[kind.first_cell + i];
        if (y < worth_separating || kind.size.upper < 3)
            continue;
        near.clear();
        list.clear();
        for (std::uint32_t j = 0; j < m; ++j)
            if (j != i && rows.joint(kind, i, j) > worth_separating)
                near.emplace_back(rows.joint(kind, i, j), j);
        std::sort(near.begin(), near.end(), std::greater<>());
        for (std::size_t s = 0; s < near.size(); ++s) // x_ij + x_il > y is needed: later ones are too small
            for (std::size_t r = s + 1;
                 r < near.size() && near[s].first + near[r].first > y + worth_separating; ++r) {
                const auto [j, l] = std::minmax(near[s].second, near[r].second);
                const TriangleMultiplier t{i, j, l};
                const float v = violation(rows, kind, t);
                if (v > worth_separating && !known.contains(key(t)))
                    list.emplace_back(v, t);
            }
        const auto keep = std::min(triangles_per_item, list.size());
        std::partial_sort(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(keep), list.end(),
                          [](const auto& x, const auto& z) { return x.first > z.first; });
        for (std::size_t s = 0; s < keep; ++s)
            added.push_back(list[s].second);
    }
    return added;
}

void Multipliers::spread(Rows& rows, unsigned threads) const {
    common::parallel_for(pairs_.size(), threads, [&](std::size_t k, unsigned) {
        const auto& kind = rows.kinds.list[k];
        std::vector<double> cost, constant;
        costs(kind, k, cost, constant);
        std::transform(cost.begin(), cost.end(),
                       rows.cost.begin() + static_cast<std::ptrdiff_t>(kind.first_pair),
                       [](double value) { return static_cast<float>(value); });
        std::copy(constant.begin(), constant.end(),
                  rows.constant.begin() + static_cast<std::ptrdiff_t>(kind.first_cell));
    });
}

void Multipliers::costs(const Kind& kind, std::size_t k, std::vector<double>& cost,
                        std::vector<double>& constant) const {
    const auto m = kind.count();
    cost.assign(m * m, 0.0);
    constant.assign(m, 0.0);
    if (!pairs_[k].mu.empty())
        each_pair(m, [&](std::size_t s, std::size_t r) {
            const auto mu = static_cast<double>(pairs_[k].mu[pair_of(s, r, m)]);
            cost[s * m + r] = mu;
            cost[r * m + s] = -mu;
        });
    for (const auto& t : triangles_[k])
        add_triangle(t, static_cast<double>(t.tau), m, cost.data(), constant.data());
}

} // namespace partita::proofs
