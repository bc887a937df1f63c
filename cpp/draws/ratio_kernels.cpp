#include "draws/ratio_kernels.hpp"

#include <algorithm>
#include <stdexcept>

#include "common/clones.hpp"

namespace partita::search {
namespace {

constexpr std::size_t flush = 64;          // draws summed in single precision before they go to double
constexpr float nearly_one_cluster = 0.5f; // of D - C: sums of different partitions differ by more
constexpr float few_pairs = 1;             // of the divisor of 1 - ARI

/// The factors of one draw, named as in `ChangeFactors`.
struct DrawFactors {
    float per_growth = 0, per_gain = 0, slope = 0, shortfall = 0, max_rise = 0;
};

struct Factors {
    float *per_growth, *per_gain, *slope, *shortfall, *max_rise, *degenerate;

    /// A degenerate draw gets zeros, and with them changes of zero.
    PARTITA_INLINE void set(std::size_t t, bool is_degenerate, const DrawFactors& of_draw) const {
        per_growth[t] = is_degenerate ? 0.0f : of_draw.per_growth;
        per_gain[t] = is_degenerate ? 0.0f : of_draw.per_gain;
        slope[t] = is_degenerate ? 0.0f : of_draw.slope;
        shortfall[t] = is_degenerate ? 0.0f : of_draw.shortfall;
        max_rise[t] = is_degenerate ? 0.0f : of_draw.max_rise;
        degenerate[t] = is_degenerate ? 1.0f : 0.0f;
    }
};

PARTITA_INLINE DrawFactors factors_at(const ChangeFactors& f, std::size_t t) {
    return {f.per_growth[t], f.per_gain[t], f.slope[t], f.shortfall[t], f.max_rise[t]};
}

/// The sums of one draw; their differences are taken in double precision.
struct DrawSums {
    double joint, draw, estimate, total, n;
    float weight;
};

template <class Kind> struct Change;

template <> struct Change<NVI> {
    static PARTITA_INLINE void factors(const DrawSums& sums, std::size_t t, const Factors& out) {
        const auto entropy = static_cast<float>(sums.total - sums.joint);
        const auto distance = static_cast<float>((sums.draw - sums.joint) + (sums.estimate - sums.joint));
        const float slope = 1.0f / entropy, per_growth = sums.weight * slope;
        const auto left = static_cast<float>(sums.total - sums.draw); // no joint sum is above the draw's
        out.set(
            t, !(left > nearly_one_cluster),
            {.per_growth = per_growth, .per_gain = per_growth * (2.0f - distance * slope), .slope = slope});
    }
    template <class Real>
    static PARTITA_INLINE void add(Real& sum, const Real& gain, const Real& cluster, const Real&,
                                   const DrawFactors& f) {
        sum += (f.per_growth * cluster - f.per_gain * gain) / (1.0f - f.slope * gain);
    }
};

template <> struct Change<ID> {
    static PARTITA_INLINE void factors(const DrawSums& sums, std::size_t t, const Factors& out) {
        const auto above = static_cast<float>(sums.estimate - sums.draw);
        out.set(
            t, false,
            {.per_gain = sums.weight / static_cast<float>(sums.n), .shortfall = above < 0.0f ? above : 0.0f});
    }
    template <class Real>
    static PARTITA_INLINE void add(Real& sum, const Real& gain, const Real& cluster, const Real&,
                                   const DrawFactors& f) {
        const Real larger = cluster + f.shortfall;
        sum += f.per_gain * ((larger > 0.0f ? larger : Real{}) - gain);
    }
};

template <> struct Change<NID> {
    static PARTITA_INLINE void factors(const DrawSums& sums, std::size_t t, const Factors& out) {
        const auto above = static_cast<float>(sums.estimate - sums.draw); // B - C
        const auto left = static_cast<float>(sums.total - sums.draw);
        const auto of_estimate = 1.0f / static_cast<float>(sums.total - sums.estimate), of_draw = 1.0f / left;
        const auto distance =
            static_cast<float>(sums.draw - sums.joint) + (above > 0.0f ? above : 0.0f); // max(B, C) - A
        // 1/(D - C) - 1/(D - B) without the difference of two nearly equal numbers
        const auto rise = above < 0.0f ? -above * of_draw * of_estimate : 0.0f;
        out.set(t, !(left > nearly_one_cluster),
                {.per_growth = sums.weight * distance,
                 .per_gain = sums.weight * (above < 0.0f ? of_estimate : of_draw),
                 .slope = sums.weight,
                 .shortfall = above < 0.0f ? above : 0.0f,
                 .max_rise = rise});
    }
    template <class Real>
    static PARTITA_INLINE void add(Real& sum, const Real& gain, const Real& cluster, const Real& reciprocal,
                                   const DrawFactors& f) {
        const Real larger = cluster + f.shortfall;
        const Real rise = reciprocal < f.max_rise ? reciprocal : Real{} + f.max_rise;
        sum +=
            f.per_growth * rise + ((larger > 0.0f ? larger : Real{}) - gain) * (f.per_gain + f.slope * rise);
    }
};

template <> struct Change<OneMinusARI> {
    static PARTITA_INLINE void factors(const DrawSums& sums, std::size_t t, const Factors& out) {
        const double half = 0.5 - sums.draw / sums.total;
        const auto divisor = static_cast<float>(0.5 * sums.draw + half * sums.estimate);
        const auto distance = static_cast<float>(0.5 * (sums.estimate + sums.draw) - sums.joint);
        const float h = static_cast<float>(half), inverse = 1.0f / divisor, per_gain = sums.weight * inverse;
        const bool degenerate =
            !(divisor > few_pairs) || !(static_cast<float>(sums.total - sums.draw) > nearly_one_cluster);
        out.set(t, degenerate,
                {.per_growth = per_gain * (0.5f - distance * inverse * h),
                 .per_gain = per_gain,
                 .slope = h * inverse});
    }
    template <class Real>
    static PARTITA_INLINE void add(Real& sum, const Real& gain, const Real& cluster, const Real&,
                                   const DrawFactors& f) {
        sum += (f.per_growth * cluster - f.per_gain * gain) / (1.0f + f.slope * cluster);
    }
};

template <class Kind> inline constexpr bool has_change = requires { &Change<Kind>::factors; };

template <class Kind> PARTITA_INLINE void factors_plain(const SumsWithout& sums, const Factors& out) {
    const auto *weights = sums.weights.data(), *joint = sums.joint.data(), *draw = sums.draw.data();
    const auto estimate = sums.estimate, total = sums.total, n = sums.n;
    const auto n_draws = sums.weights.size();
    const Factors to = out;
#pragma GCC ivdep
    for (std::size_t t = 0; t < n_draws; ++t)
        Change<Kind>::factors({joint[t], draw[t], estimate, total, n, static_cast<float>(weights[t])}, t, to);
}

typedef float Vector __attribute__((vector_size(vector_width * sizeof(float)), aligned(4), may_alias));

template <class Kind>
PARTITA_INLINE void changes_plain(const CellTable& table, std::span<const std::uint32_t> rows,
                                  const ChangeFactors& f, const CandidateGains& candidates,
                                  std::size_t n_columns, double* out) {
    for (std::size_t first = 0; first < n_columns; first += vector_width) {
        const auto cluster = *reinterpret_cast<const Vector*>(candidates.cluster.data() + first);
        const auto reciprocal = *reinterpret_cast<const Vector*>(candidates.reciprocal.data() + first);
        for (std::size_t k = 0; k < vector_width; ++k)
            out[first + k] = 0;
        for (std::size_t begin = 0; begin < rows.size(); begin += flush) {
            const auto end = std::min(begin + flush, rows.size());
            Vector sum = {};
            for (std::size_t e = begin; e < end; ++e) {
                const auto gains = *reinterpret_cast<const Vector*>(table.gains(rows[e]) + first);
                Change<Kind>::add(sum, gains, cluster, reciprocal, factors_at(f, e));
            }
            for (std::size_t k = 0; k < vector_width; ++k)
                out[first + k] += static_cast<double>(sum[k]);
        }
    }
}

template <class Kind>
PARTITA_INLINE void add_draw_plain(const ChangeFactors& f, std::size_t t, const float* gains,
                                   const CandidateGains& candidates, double* out) {
    const auto factors = factors_at(f, t);
    const auto *cluster = candidates.cluster.data(), *reciprocal = candidates.reciprocal.data();
    const auto n = candidates.cluster.size();
#pragma GCC ivdep
    for (std::size_t k = 0; k < n; ++k) {
        float change = 0;
        Change<Kind>::add(change, gains[k], cluster[k], reciprocal[k], factors);
        out[k] += static_cast<double>(change);
    }
}

template <class Kind>
PARTITA_INLINE double changes_of_plain(std::span<const float> gains, const ChangeFactors& f, float cluster,
                                       float reciprocal) {
    double total = 0;
    for (std::size_t begin = 0; begin < gains.size(); begin += flush) {
        const auto end = std::min(begin + flush, gains.size());
        float sums[vector_width] = {};
        auto e = begin;
        for (; e + vector_width <= end; e += vector_width)
            for (std::size_t k = 0; k < vector_width; ++k)
                Change<Kind>::add(sums[k], gains[e + k], cluster, reciprocal, factors_at(f, e + k));
        for (; e < end; ++e)
            Change<Kind>::add(sums[0], gains[e], cluster, reciprocal, factors_at(f, e));
        for (const auto sum : sums)
            total += static_cast<double>(sum);
    }
    return total;
}

#define CHANGE_KERNELS(Kind)                                                                                 \
    PARTITA_CLONES void factors_of(const Kind&, const SumsWithout& sums, const Factors& out) {               \
        factors_plain<Kind>(sums, out);                                                                      \
    }                                                                                                        \
    PARTITA_CLONES void changes(const Kind&, const CellTable& table, std::span<const std::uint32_t> rows,    \
                                const ChangeFactors& factors, const CandidateGains& candidates,              \
                                std::size_t n_columns, double* out) {                                        \
        changes_plain<Kind>(table, rows, factors, candidates, n_columns, out);                               \
    }                                                                                                        \
    PARTITA_CLONES void add_draw(const Kind&, const ChangeFactors& factors, std::size_t t,                   \
                                 const float* gains, const CandidateGains& candidates, double* out) {        \
        add_draw_plain<Kind>(factors, t, gains, candidates, out);                                            \
    }                                                                                                        \
    PARTITA_CLONES double changes_of(const Kind&, std::span<const float> gains,                              \
                                     const ChangeFactors& factors, float cluster, float reciprocal) {        \
        return changes_of_plain<Kind>(gains, factors, cluster, reciprocal);                                  \
    }
CHANGE_KERNELS(NVI)
CHANGE_KERNELS(ID)
CHANGE_KERNELS(NID)
CHANGE_KERNELS(OneMinusARI)
#undef CHANGE_KERNELS

double sum_of(const std::vector<float>& values) {
    double sums[4] = {};
    std::size_t t = 0;
    for (; t + 4 <= values.size(); t += 4)
        for (std::size_t lane = 0; lane < 4; ++lane)
            sums[lane] += static_cast<double>(values[t + lane]);
    for (; t < values.size(); ++t)
        sums[0] += static_cast<double>(values[t]);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <class Use> auto with_kind(const Loss& loss, Use use) {
    return std::visit(
        [&](const auto& kind) -> decltype(use(NVI{})) {
            if constexpr (has_change<std::decay_t<decltype(kind)>>)
                return use(kind);
            else
                throw std::logic_error("this loss has no kernel of changes");
        },
        loss);
}

} // namespace

void ChangeFactors::resize(std::size_t n_draws) {
    for (auto* factor : {&per_growth, &per_gain, &slope, &shortfall, &max_rise, &degenerate})
        factor->resize(n_draws);
}

void find_factors(const Loss& loss, const SumsWithout& sums, ChangeFactors& factors) {
    factors.resize(sums.weights.size());
    const Factors out{factors.per_growth.data(), factors.per_gain.data(), factors.slope.data(),
                      factors.shortfall.data(),  factors.max_rise.data(), factors.degenerate.data()};
    with_kind(loss, [&](const auto& kind) { factors_of(kind, sums, out); });
    factors.any_degenerate = sum_of(factors.degenerate) > 0;
    // the divisors of NVI may fall to a half, and 1 - ARI's factor of d may be negative
    factors.bound_per_gain = 2 * sum_of(factors.per_gain);
    factors.bound_per_rise = sum_of(factors.per_growth); // s is zero for all losses but NID
}

void sum_changes(const Loss& loss, const CellTable& table, std::span<const std::uint32_t> rows,
                 const ChangeFactors& factors, const CandidateGains& candidates, std::size_t n_columns,
                 double* out) {
    with_kind(loss,
              [&](const auto& kind) { changes(kind, table, rows, factors, candidates, n_columns, out); });
}

void add_changes_of_draw(const Loss& loss, const ChangeFactors& factors, std::size_t t,
                         std::span<const float> gains, const CandidateGains& candidates,
                         std::span<double> out) {
    with_kind(loss,
              [&](const auto& kind) { add_draw(kind, factors, t, gains.data(), candidates, out.data()); });
}

double sum_changes_of(const Loss& loss, std::span<const float> gains, const ChangeFactors& factors,
                      float cluster_gain, float reciprocal_gain) {
    return with_kind(loss, [&](const auto& kind) {
        return changes_of(kind, gains, factors, cluster_gain, reciprocal_gain);
    });
}

} // namespace partita::search
