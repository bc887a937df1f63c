#include "draws/merge_split_losses.hpp"

#include <limits>

#include "common/parallel.hpp"

namespace partita {

namespace {

/// Draws are summed in blocks of fixed length and in a fixed order, so that threads do not change the answer.
constexpr std::size_t block_length = 64;

/// The contingency table of the estimate and one draw, with its three sums.
class Table {
public:
    Table(std::size_t n_clusters) : n_clusters_(n_clusters) {}

    template <class Label>
    Sums fill(std::span<const std::uint32_t> estimate, std::span<const Label> draw,
              const LossTables& tables) {
        n_rows_ = count_clusters(draw);
        cells_.assign(n_rows_ * n_clusters_, 0);
        rows_.assign(n_rows_, 0);
        columns_.assign(n_clusters_, 0);
        std::size_t n = 0;
        for (std::size_t i = 0; i < draw.size(); ++i) {
            if (draw[i] == gap<Label>)
                continue;
            ++cells_[draw[i] * n_clusters_ + estimate[i]];
            ++rows_[draw[i]];
            ++columns_[estimate[i]];
            ++n;
        }
        Sums sums;
        for (const auto count : cells_)
            sums.joint += tables.joint()[count];
        for (const auto count : columns_)
            sums.estimate += tables.estimate()[count];
        for (const auto count : rows_)
            sums.draw += tables.draw()[count];
        sums.n = static_cast<double>(n);
        sums.total = tables.joint()[n];
        return sums;
    }

    std::size_t n_rows() const { return n_rows_; }
    const std::uint32_t* row(std::size_t r) const { return cells_.data() + r * n_clusters_; }
    std::uint32_t column(std::size_t k) const { return columns_[k]; }

private:
    std::size_t n_clusters_, n_rows_ = 0;
    std::vector<std::uint32_t> cells_, rows_, columns_;
};

/// Σ_t w_t loss(sums of candidate c in draw t), for all candidates; change(t, table, sums, out) writes
/// out[c].
template <class Label, class Change>
std::vector<double> expected(std::span<const std::uint32_t> estimate, const Draws<Label>& draws,
                             const LossTables& tables, std::size_t n_candidates, unsigned threads,
                             const common::StopFlag& stop, Change change) {
    const auto n_blocks = (draws.n_draws() + block_length - 1) / block_length;
    const auto n_clusters = count_clusters(estimate);
    std::vector<std::vector<double>> parts(n_blocks);
    common::parallel_for(n_blocks, threads, stop, [&](std::size_t block, unsigned) {
        auto& part = parts[block];
        part.assign(n_candidates, 0.0);
        Table table(n_clusters);
        std::vector<Sums> sums(n_candidates);
        std::vector<double> losses(n_candidates);
        const auto end = std::min(draws.n_draws(), (block + 1) * block_length);
        for (auto t = block * block_length; t < end && !stop; ++t) {
            const auto base = table.fill(estimate, draws.draw(t), tables);
            std::fill(sums.begin(), sums.end(), base);
            change(t, table, std::span(sums));
            tables.combine(sums, losses);
            for (std::size_t c = 0; c < n_candidates; ++c)
                part[c] += draws.weights[t] * losses[c];
        }
    });
    if (stop)
        return {};
    std::vector<double> total(n_candidates, 0.0);
    for (const auto& part : parts)
        for (std::size_t c = 0; c < n_candidates; ++c)
            total[c] += part[c];
    return total;
}

} // namespace

template <class Label>
std::vector<double> merge_losses(std::span<const std::uint32_t> estimate, const Draws<Label>& draws,
                                 const LossTables& tables, unsigned threads, const common::StopFlag& stop) {
    const std::size_t k = count_clusters(estimate);
    const auto joint = tables.joint();
    const auto own = tables.estimate();
    const auto pairs =
        expected(estimate, draws, tables, k * (k - 1) / 2, threads, stop,
                 [&](std::size_t, const Table& table, std::span<Sums> sums) {
                     std::size_t c = 0;
                     for (std::size_t left = 0; left < k; ++left)
                         for (std::size_t right = left + 1; right < k; ++right, ++c) {
                             const auto p = table.column(left), q = table.column(right);
                             sums[c].estimate += own[p + q] - own[p] - own[q];
                         }
                     for (std::size_t r = 0; r < table.n_rows(); ++r) {
                         const auto* row = table.row(r);
                         c = 0;
                         for (std::size_t left = 0; left < k; c += k - 1 - left, ++left) {
                             if (row[left] == 0)
                                 continue; // nothing joins
                             for (std::size_t right = left + 1; right < k; ++right)
                                 if (row[right] != 0)
                                     sums[c + right - left - 1].joint +=
                                         joint[row[left] + row[right]] - joint[row[left]] - joint[row[right]];
                         }
                     }
                 });
    if (stop)
        return {};
    std::vector<double> out(k * k, std::numeric_limits<double>::infinity());
    std::size_t c = 0;
    for (std::size_t left = 0; left < k; ++left)
        for (std::size_t right = left + 1; right < k; ++right)
            out[left * k + right] = pairs[c++];
    return out;
}

template <class Label>
std::vector<double> split_losses(std::span<const std::uint32_t> estimate, const Draws<Label>& draws,
                                 const LossTables& tables, const Splits& splits, unsigned threads,
                                 const common::StopFlag& stop) {
    const auto joint = tables.joint();
    const auto own = tables.estimate();
    return expected(estimate, draws, tables, splits.size(), threads, stop,
                    [&](std::size_t t, const Table& table, std::span<Sums> sums) {
                        const auto draw = draws.draw(t);
                        std::vector<std::uint32_t> taken(table.n_rows(), 0);
                        for (std::size_t s = 0; s < splits.size(); ++s) {
                            const auto part = splits[s];
                            const auto cluster = estimate[static_cast<std::size_t>(part[0])];
                            std::uint32_t moved = 0;
                            for (const auto i : part)
                                if (const auto r = draw[static_cast<std::size_t>(i)]; r != gap<Label>) {
                                    ++taken[r];
                                    ++moved;
                                }
                            const auto all = table.column(cluster);
                            sums[s].estimate += own[moved] + own[all - moved] - own[all];
                            for (const auto i : part)
                                if (const auto r = draw[static_cast<std::size_t>(i)];
                                    r != gap<Label> && taken[r] != 0) {
                                    const auto cell = table.row(r)[cluster];
                                    sums[s].joint += joint[taken[r]] + joint[cell - taken[r]] - joint[cell];
                                    taken[r] = 0;
                                }
                        }
                    });
}

#define PARTITA_NEIGHBOURS(Label)                                                                            \
    template std::vector<double> merge_losses(std::span<const std::uint32_t>, const Draws<Label>&,           \
                                              const LossTables&, unsigned, const common::StopFlag&);         \
    template std::vector<double> split_losses(std::span<const std::uint32_t>, const Draws<Label>&,           \
                                              const LossTables&, const Splits&, unsigned,                    \
                                              const common::StopFlag&);
PARTITA_FOR_EACH_LABEL(PARTITA_NEIGHBOURS)
#undef PARTITA_NEIGHBOURS

} // namespace partita
