#include "draws/similarity.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "common/clones.hpp"

namespace partita {
namespace {

// Leaf loops: plain counting over contiguous labels, which compilers turn into vector compares.

template <class Label> inline std::uint32_t count_equal_plain(const Label* x, const Label* y, std::size_t n) {
    constexpr std::size_t width = 64 / sizeof(Label);
    constexpr std::size_t flush = 255 * width; // a byte-wide counter cannot overflow within it
    std::uint32_t total = 0;
    std::size_t i = 0;
    while (i + width <= n) {
        Label counters[width] = {};
        for (const auto end = std::min(n, i + flush); i + width <= end; i += width)
            for (std::size_t j = 0; j < width; ++j)
                counters[j] = static_cast<Label>(counters[j] + (x[i + j] == y[i + j]));
        for (std::size_t j = 0; j < width; ++j)
            total += counters[j];
    }
    for (; i < n; ++i)
        total += x[i] == y[i];
    return total;
}

PARTITA_CLONES std::uint32_t count_equal(const std::uint8_t* x, const std::uint8_t* y, std::size_t n) {
    return count_equal_plain(x, y, n);
}
PARTITA_CLONES std::uint32_t count_equal(const std::uint16_t* x, const std::uint16_t* y, std::size_t n) {
    return count_equal_plain(x, y, n);
}
PARTITA_CLONES std::uint32_t count_equal(const std::uint32_t* x, const std::uint32_t* y, std::size_t n) {
    return count_equal_plain(x, y, n);
}

/// counts[j] = number of places where x equals the j-th of four others, label by label of one byte.
PARTITA_CLONES void count_equal_to_four(const std::uint8_t* x, const std::uint8_t* const* others,
                                        std::size_t n, std::uint32_t* counts) {
    constexpr std::size_t width = 32, four = 4;
    typedef std::uint8_t Bytes __attribute__((vector_size(width), aligned(1), may_alias));
    typedef std::uint16_t Words __attribute__((vector_size(width)));
    typedef std::uint32_t Sums __attribute__((vector_size(width)));
    constexpr std::size_t flush = 255; // a byte-wide counter cannot overflow within so many vectors
    std::fill_n(counts, four, 0u);
    std::size_t i = 0;
    while (i + width <= n) {
        Bytes equal[four] = {};
        for (const auto end = std::min(n, i + flush * width); i + width <= end; i += width) {
            const auto own = *reinterpret_cast<const Bytes*>(x + i);
            for (std::size_t j = 0; j < four; ++j)
                equal[j] -= reinterpret_cast<Bytes>(own == *reinterpret_cast<const Bytes*>(others[j] + i));
        }
        for (std::size_t j = 0; j < four; ++j) {
            const auto words = reinterpret_cast<Words>(equal[j]);
            const auto pairs = reinterpret_cast<Sums>((words & 0xff) + (words >> 8));
            const Sums sums = (pairs & 0xffff) + (pairs >> 16);
            for (std::size_t k = 0; k < width / sizeof(std::uint32_t); ++k)
                counts[j] += sums[k];
        }
    }
    for (; i < n; ++i)
        for (std::size_t j = 0; j < four; ++j)
            counts[j] += x[i] == others[j][i];
}

template <class Label> std::uint32_t count_both(const Label* x, const Label* y, std::size_t n) {
    std::uint32_t total = 0;
    for (std::size_t i = 0; i < n; ++i)
        total += x[i] != gap<Label> && y[i] != gap<Label>;
    return total;
}

template <class Label> std::uint32_t count_both_gaps(const Label* x, const Label* y, std::size_t n) {
    std::uint32_t total = 0;
    for (std::size_t i = 0; i < n; ++i)
        total += x[i] == gap<Label> && y[i] == gap<Label>;
    return total;
}

template <class Label> double together(const ItemLabels<Label>& items, const Label* x, const Label* y) {
    double same = 0, both = 0;
    for (const auto& run : items.runs()) {
        const auto length = run.end - run.begin;
        same += run.weight * count_equal(x + run.begin, y + run.begin, length);
        if (items.has_gaps()) {
            same -= run.weight * count_both_gaps(x + run.begin, y + run.begin, length);
            both += run.weight * count_both(x + run.begin, y + run.begin, length);
        }
    }
    if (!items.has_gaps())
        return std::min(same, 1.0);
    return both > 0 ? std::min(same / both, 1.0) : std::numeric_limits<double>::quiet_NaN();
}

constexpr std::size_t at_once = 4; // items compared with one other

/// The same for several items y; their labels have no gaps.
template <class Label>
void together_at_once(const ItemLabels<Label>& items, const Label* x, const Label* const* y, double* same) {
    std::fill_n(same, at_once, 0.0);
    for (const auto& run : items.runs()) {
        const Label* others[at_once];
        std::uint32_t counts[at_once];
        for (std::size_t j = 0; j < at_once; ++j)
            others[j] = y[j] + run.begin;
        if constexpr (sizeof(Label) == 1)
            count_equal_to_four(x + run.begin, others, run.end - run.begin, counts);
        else
            for (std::size_t j = 0; j < at_once; ++j)
                counts[j] = count_equal(x + run.begin, others[j], run.end - run.begin);
        for (std::size_t j = 0; j < at_once; ++j)
            same[j] += run.weight * counts[j];
    }
    for (std::size_t j = 0; j < at_once; ++j)
        same[j] = std::min(same[j], 1.0);
}

/// Where hardly any two draws have the same weight, runs do not pay: one pass over labels and weights.
template <class Label>
double together_by_draw(const ItemLabels<Label>& items, const Label* x, const Label* y) {
    double same = 0, both = 0;
    for (const auto& run : items.runs())
        for (std::size_t t = run.begin; t < run.end; ++t) {
            const bool labelled = x[t] != gap<Label> && y[t] != gap<Label>;
            same += labelled && x[t] == y[t] ? run.weight : 0.0;
            both += labelled ? run.weight : 0.0;
        }
    return both > 0 ? std::min(same / both, 1.0) : std::numeric_limits<double>::quiet_NaN();
}

constexpr std::size_t shortest_run = 16; // on average; below it, whole runs cost more than single draws
constexpr std::size_t tile = 64;         // tile x draws labels stay in the cache

} // namespace

template <class Label>
ItemLabels<Label>::ItemLabels(const Draws<Label>& draws, const common::StopFlag& stop)
    : n_draws_(draws.n_draws()) {
    std::vector<std::size_t> order(n_draws_);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](auto s, auto t) { return draws.weights[s] < draws.weights[t]; });
    labels_.resize(n_draws_ * draws.n_items);
    for (std::size_t begin = 0; begin < draws.n_items && !stop; begin += tile)
        for (std::size_t column = 0; column < n_draws_; ++column) {
            const auto row = draws.draw(order[column]);
            for (std::size_t i = begin; i < std::min(begin + tile, draws.n_items); ++i) {
                labels_[i * n_draws_ + column] = row[i];
                has_gaps_ |= row[i] == gap<Label>;
            }
        }
    for (std::size_t column = 0; column < n_draws_; ++column) {
        const double weight = draws.weights[order[column]];
        if (runs_.empty() || runs_.back().weight != weight)
            runs_.push_back({column, column, weight});
        runs_.back().end = column + 1;
    }
}

template <class Label, class Real>
void similarity(const Draws<Label>& draws, std::span<const std::int64_t> rows,
                std::span<const std::int64_t> columns, std::span<Real> out, unsigned threads,
                const common::StopFlag& stop, const std::function<bool()>& is_over) {
    const ItemLabels<Label> items(draws, stop);
    const bool by_run = items.runs().size() * shortest_run <= items.n_draws();
    const bool symmetric = std::equal(rows.begin(), rows.end(), columns.begin(), columns.end());
    const auto n_row_tiles = (rows.size() + tile - 1) / tile;
    const auto width = columns.size();
    common::parallel_for(n_row_tiles, threads, stop, [&](std::size_t row_tile, unsigned) {
        const auto row_end = std::min(rows.size(), (row_tile + 1) * tile);
        const auto first_column = symmetric ? row_tile * tile : 0;
        for (std::size_t begin = first_column; begin < width && !stop; begin += tile) {
            if (is_over && is_over())
                stop.request();
            for (std::size_t r = row_tile * tile; r < row_end; ++r) {
                const auto* x = items.item(static_cast<std::size_t>(rows[r])).data();
                auto set = [&](std::size_t c, double value) {
                    out[r * width + c] = static_cast<Real>(value);
                    if (symmetric)
                        out[c * width + r] = static_cast<Real>(value);
                };
                auto item = [&](std::size_t c) {
                    return items.item(static_cast<std::size_t>(columns[c])).data();
                };
                auto c = symmetric ? std::max(begin, r) : begin;
                const auto end = std::min(begin + tile, width);
                if (by_run && !items.has_gaps())
                    for (; c + at_once <= end; c += at_once) {
                        const Label* others[at_once] = {item(c), item(c + 1), item(c + 2), item(c + 3)};
                        double same[at_once];
                        together_at_once(items, x, others, same);
                        for (std::size_t j = 0; j < at_once; ++j)
                            set(c + j, same[j]);
                    }
                for (; c < end; ++c)
                    set(c, by_run ? together(items, x, item(c)) : together_by_draw(items, x, item(c)));
            }
        }
    });
}

#define INSTANTIATE(Label)                                                                                   \
    template class ItemLabels<Label>;                                                                        \
    template void similarity(const Draws<Label>&, std::span<const std::int64_t>,                             \
                             std::span<const std::int64_t>, std::span<float>, unsigned,                      \
                             const common::StopFlag&, const std::function<bool()>&);                         \
    template void similarity(const Draws<Label>&, std::span<const std::int64_t>,                             \
                             std::span<const std::int64_t>, std::span<double>, unsigned,                     \
                             const common::StopFlag&, const std::function<bool()>&);
PARTITA_FOR_EACH_LABEL(INSTANTIATE)
#undef INSTANTIATE

} // namespace partita
