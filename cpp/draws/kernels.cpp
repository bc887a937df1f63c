#include "draws/kernels.hpp"

#include <stdexcept>

#include "common/clones.hpp"

namespace partita::search {
namespace {

/// Sums that are added to in turn, so that an addition need not wait for the one before.
template <std::size_t n_vectors> inline constexpr std::size_t turns = n_vectors == 1 ? 4 : 2;

/// `n_vectors` vectors of columns from `first` on, kept in registers over all rows. Adds to `own_sum` what
/// the item's own cells give back.
template <std::size_t n_vectors, bool with_own>
PARTITA_INLINE void sum_block(const CellTable& table, std::span<const std::uint32_t> rows, std::size_t first,
                              const OwnColumn* own, double* out, double& own_sum) {
    constexpr std::size_t width = n_vectors * vector_width;
    constexpr std::size_t flush = 64; // rows summed in float before they go to double
    typedef float Vector __attribute__((vector_size(vector_width * sizeof(float)), aligned(4), may_alias));
    for (std::size_t k = 0; k < width; ++k)
        out[first + k] = 0;
    for (std::size_t begin = 0; begin < rows.size(); begin += flush) {
        const auto end = begin + flush < rows.size() ? begin + flush : rows.size();
        float sums[width];
        float given_back[turns<n_vectors>] = {};
        auto add_own = [&](std::size_t e, std::size_t turn) {
            if constexpr (with_own)
                given_back[turn] += own->coefficients[e] * own->gain[table.counts(rows[e])[own->column] - 1];
        };
        Vector vectors[turns<n_vectors>][n_vectors] = {};
        auto add = [&](std::size_t e, std::size_t turn) {
            const auto* gains = reinterpret_cast<const Vector*>(table.gains(rows[e]) + first);
            for (std::size_t j = 0; j < n_vectors; ++j)
                vectors[turn][j] += gains[j];
            add_own(e, turn);
        };
        auto e = begin;
        for (; e + turns<n_vectors> <= end; e += turns<n_vectors>)
            for (std::size_t turn = 0; turn < turns<n_vectors>; ++turn)
                add(e + turn, turn);
        for (; e < end; ++e)
            add(e, 0);
        for (std::size_t turn = 1; turn < turns<n_vectors>; ++turn)
            for (std::size_t j = 0; j < n_vectors; ++j)
                vectors[0][j] += vectors[turn][j];
        for (std::size_t j = 0; j < n_vectors; ++j)
            for (std::size_t k = 0; k < vector_width; ++k)
                sums[j * vector_width + k] = vectors[0][j][k];
        for (std::size_t k = 0; k < width; ++k)
            out[first + k] += sums[k];
        for (const auto part : given_back)
            own_sum += part;
    }
}

template <bool with_own>
PARTITA_INLINE void sum_blocks(const CellTable& table, std::span<const std::uint32_t> rows,
                               std::size_t n_columns, const OwnColumn* own, double* out, double& own_sum) {
    switch (n_columns / vector_width) {
    case 1:
        return sum_block<1, with_own>(table, rows, 0, own, out, own_sum);
    case 2:
        return sum_block<2, with_own>(table, rows, 0, own, out, own_sum);
    case 3:
        return sum_block<3, with_own>(table, rows, 0, own, out, own_sum);
    default:
        return sum_block<4, with_own>(table, rows, 0, own, out, own_sum);
    }
}

template <bool with_margins, class Kind>
PARTITA_INLINE void score_plain(const Kind& loss, const CellTable& table, std::span<const std::uint32_t> rows,
                                std::span<const std::uint32_t> margin_rows, std::span<const DrawTerms> terms,
                                const double* estimate, std::size_t n_columns, double* out) {
    for (std::size_t e = 0; e < rows.size(); ++e) {
        const auto* gains = table.gains(rows[e]);
        const auto* margins = with_margins ? table.gains(margin_rows[e]) : nullptr;
        const auto& t = terms[e];
        for (std::size_t k = 0; k < n_columns; ++k) {
            const double own = with_margins ? estimate[e] + margins[k] : estimate[k];
            out[k] += t.weight * loss(Sums{t.joint + gains[k], own, t.draw, t.n, t.total});
        }
    }
}

#define SCORE_KERNEL(Kind)                                                                                   \
    PARTITA_CLONES void score(const Kind& loss, const CellTable& table, std::span<const std::uint32_t> rows, \
                              std::span<const std::uint32_t> margin_rows, std::span<const DrawTerms> terms,  \
                              const double* estimate, std::size_t n_columns, double* out) {                  \
        if (margin_rows.empty())                                                                             \
            score_plain<false>(loss, table, rows, margin_rows, terms, estimate, n_columns, out);             \
        else                                                                                                 \
            score_plain<true>(loss, table, rows, margin_rows, terms, estimate, n_columns, out);              \
    }
SCORE_KERNEL(NVI)
SCORE_KERNEL(ID)
SCORE_KERNEL(NID)
SCORE_KERNEL(OneMinusARI)
#undef SCORE_KERNEL

/// Weighted losses are linear and need no kernel, the user's own has tables, and 0-1 is never searched. A
/// loss that belongs here and has no line SCORE_KERNEL does not compile.
template <class Kind> inline constexpr bool needs_kernel = PlainLoss<Kind> && !std::is_same_v<Kind, ZeroOne>;

} // namespace

PARTITA_CLONES void sum_gains(const CellTable& table, std::span<const std::uint32_t> rows,
                              std::size_t n_columns, const OwnColumn* own, double* out) {
    double own_sum = 0;
    if (own)
        sum_blocks<true>(table, rows, n_columns, own, out, own_sum);
    else
        sum_blocks<false>(table, rows, n_columns, own, out, own_sum);
    std::size_t first = 4 * vector_width;
    for (; first + 4 * vector_width <= n_columns; first += 4 * vector_width)
        sum_block<4, false>(table, rows, first, own, out, own_sum);
    switch (first < n_columns ? (n_columns - first) / vector_width : 0) {
    case 3:
        sum_block<3, false>(table, rows, first, own, out, own_sum);
        break;
    case 2:
        sum_block<2, false>(table, rows, first, own, out, own_sum);
        break;
    case 1:
        sum_block<1, false>(table, rows, first, own, out, own_sum);
        break;
    default:
        break;
    }
    if (own)
        out[own->column] = own_sum;
}

void score_rows(const Loss& loss, const CellTable& table, std::span<const std::uint32_t> rows,
                std::span<const std::uint32_t> margin_rows, std::span<const DrawTerms> terms,
                std::span<const double> estimate, std::size_t n_columns, double* out) {
    std::visit(
        [&](const auto& kind) {
            if constexpr (needs_kernel<std::decay_t<decltype(kind)>>)
                score(kind, table, rows, margin_rows, terms, estimate.data(), n_columns, out);
            else
                throw std::logic_error("this loss has no kernel");
        },
        loss);
}

} // namespace partita::search
