#include "proofs/rows.hpp"

#include <algorithm>
#include <utility>

#include "common/clones.hpp"

namespace partita::proofs {
namespace {

PARTITA_CLONES void coefficients(const float* shares, const std::uint32_t* items, std::size_t count,
                                 const float* tangents, std::size_t groups, float scale, float slope,
                                 const float* cost, float* out) {
    for (std::size_t s = 0; s < count; ++s) {
        const float* row = shares + items[s] * groups;
        float part[8] = {};
        for (std::size_t g = 0; g < groups; g += 8)
            for (int lane = 0; lane < 8; ++lane)
                part[lane] += row[g + lane] * tangents[g + lane];
        for (int lane = 0; lane < 4; ++lane)
            part[lane] += part[lane + 4];
        out[s] = slope + cost[s] - scale * ((part[0] + part[2]) + (part[1] + part[3]));
    }
}

PARTITA_CLONES void add_to(const float* row, float scale, std::size_t n, float* out) {
    for (std::size_t g = 0; g < n; ++g)
        out[g] += scale * row[g];
}

} // namespace

struct Rows::Scratch {
    std::vector<float> q, tangents, overlap;
    std::vector<std::uint32_t> chosen;
};

Rows::Rows(std::size_t n_items, Kinds all_kinds, Weights loss_weights, std::size_t groups)
    : n(n_items), kinds(std::move(all_kinds)), weights(loss_weights), n_groups(groups), members(n),
      own(n, 0.0), log2_table(n + 2, 0.0), reference(kinds.n_pairs, 0.0f),
      overlap(kinds.n_cells * n_groups, 1.0f), share(kinds.n_cells, 0.0f), cost(kinds.n_pairs, 0.0f),
      constant(kinds.n_cells, 0.0), value(kinds.n_cells, 0.0) {
    for (std::size_t m = 1; m < log2_table.size(); ++m)
        log2_table[m] = std::log2(static_cast<double>(m));
    for (const auto& kind : kinds.list)
        for (const auto item : kind.items)
            if (!kind.admits(item))
                value[kind.cell(item)] = never;
}

void Rows::start(std::size_t item, double own_log, std::span<const std::uint32_t> nearest_first) {
    own[item] = own_log;
    for (const auto& kind : kinds.list) {
        if (!kind.admits(item))
            continue;
        auto* x = &reference[kind.row(item)];
        auto left = static_cast<std::size_t>((kind.size.lower + kind.size.upper) / 2);
        for (const auto s : fixed_places(kind, item)) {
            x[s] = 1.0f;
            left -= std::min<std::size_t>(left, 1);
        }
        for (std::size_t r = 0; r < nearest_first.size() && left > 0; ++r) {
            const auto s = kind.place[nearest_first[r]];
            if (s != no_item && x[s] == 0.0f) {
                x[s] = 1.0f;
                --left;
            }
        }
    }
}

void Rows::pass(double step, bool all, unsigned threads) {
    common::parallel_for(n, threads, [&](std::size_t i, unsigned) {
        Scratch scratch;
        scratch.tangents.resize(n_groups);
        const double in_play = all ? never : min_of(i) + margin;
        double best = never;
        const Kind* best_kind = nullptr;
        for (const auto& kind : kinds.list) {
            if (!kind.admits(i) || value[kind.cell(i)] > in_play)
                continue;
            const double now = value[kind.cell(i)] = evaluate(i, kind, scratch);
            move_reference(i, kind, step, scratch);
            if (now < best) {
                best = now;
                best_kind = &kind;
            }
        }
        for (const auto& kind : kinds.list)
            if (kind.admits(i)) {
                auto& y = share[kind.cell(i)];
                y += static_cast<float>(step) * ((&kind == best_kind ? 1.0f : 0.0f) - y);
            }
    });
}

double Rows::evaluate(std::size_t i, const Kind& kind, Scratch& scratch) {
    const auto c = kind.cell(i);
    const auto& m = members[i];
    double fixed = kind.size.intercept + weights.a * own[i] + constant[c];
    for (std::size_t g = 0; g < n_groups; ++g) {
        const double v = std::max(1.0, static_cast<double>(overlap[c * n_groups + g]));
        const double p = std::numbers::log2e / v;
        scratch.tangents[g] = m.weight[g] * static_cast<float>(p);
        if (m.weight[g] > 0)
            fixed -= weights.both() * static_cast<double>(m.weight[g]) * conjugate(v, p, log2_table);
    }
    scratch.q.resize(kind.count());
    coefficients(m.shares.data(), kind.items.data(), kind.count(), scratch.tangents.data(), n_groups,
                 static_cast<float>(weights.both()), static_cast<float>(kind.size.slope), &cost[kind.row(i)],
                 scratch.q.data());
    const auto places = fixed_places(kind, i);
    const Row<float> row{scratch.q, fixed, places, static_cast<std::size_t>(kind.size.lower),
                         static_cast<std::size_t>(kind.size.upper)};
    std::size_t taken = 0;
    const double min_value = least(row, scratch.chosen, taken);
    scratch.chosen.resize(taken);
    scratch.chosen.insert(scratch.chosen.end(), places.begin(), places.end());
    return min_value;
}

void Rows::move_reference(std::size_t i, const Kind& kind, double step, Scratch& scratch) {
    const auto keep = static_cast<float>(1 - step), add = static_cast<float>(step);
    auto* x = &reference[kind.row(i)];
    for (std::size_t s = 0; s < kind.count(); ++s)
        x[s] *= keep;
    scratch.overlap.assign(n_groups, 0.0f);
    for (const auto s : scratch.chosen) {
        x[s] += add;
        add_to(&members[i].shares[kind.items[s] * n_groups], 1.0f, n_groups, scratch.overlap.data());
    }
    auto* mean = &overlap[kind.cell(i) * n_groups];
    for (std::size_t g = 0; g < n_groups; ++g)
        mean[g] = keep * mean[g] + add * scratch.overlap[g];
}

double Rows::min_of(std::size_t item) const {
    double best = never;
    for (const auto& kind : kinds.list)
        if (kind.admits(item))
            best = std::min(best, value[kind.cell(item)]);
    return best;
}

std::vector<std::size_t> Rows::near(std::size_t item, double within) const {
    const double in_play = min_of(item) + within;
    std::vector<std::size_t> found;
    for (std::size_t k = 0; k < kinds.list.size(); ++k)
        if (kinds.list[k].admits(item) && value[kinds.list[k].cell(item)] <= in_play)
            found.push_back(k);
    if (found.size() > 6) { // many kinds have nearly nested sets: some of them represent all
        const auto all = std::exchange(found, {});
        for (std::size_t s = 0; s < 6; ++s)
            found.push_back(all[s * (all.size() - 1) / 5]);
    }
    return found;
}

void Rows::spread_reference(std::size_t item, const Kind& kind, std::vector<float>& x) const {
    x.assign(n, 0.0f);
    const auto* mine = &reference[kind.row(item)];
    for (std::size_t s = 0; s < kind.count(); ++s)
        x[kind.items[s]] = mine[s];
}

void Rows::set_groups(std::size_t groups) {
    n_groups = groups;
    overlap.assign(kinds.n_cells * n_groups, 1.0f);
}

void Rows::refresh_overlaps(std::size_t item) {
    for (const auto& kind : kinds.list) {
        if (!kind.admits(item))
            continue;
        const auto* x = &reference[kind.row(item)];
        auto* v = &overlap[kind.cell(item) * n_groups];
        std::fill_n(v, n_groups, 0.0f);
        for (std::size_t s = 0; s < kind.count(); ++s)
            if (x[s] > 0)
                add_to(&members[item].shares[kind.items[s] * n_groups], x[s], n_groups, v);
    }
}

} // namespace partita::proofs
