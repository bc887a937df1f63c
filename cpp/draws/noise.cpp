// With phi(1) = 0 an item that is alone, in a draw or in the estimate, adds nothing to any sum: n log2 n has
// that property, and Binder's loss is the same with n (n - 1) as with n², since the n's of its three sums
// cancel. So rows of cells are kept for clusters of two or more items only, and the choice "alone" always
// costs 0.
#include "draws/noise.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "common/parallel.hpp"
#include "common/work.hpp"
#include "draws/kernels.hpp"
#include "draws/linear_loss.hpp"
#include "draws/policy.hpp"

namespace partita::search {
namespace {

using Row = std::uint16_t;
constexpr Row no_label = 0xffff, single = 0xfffe; // the draw does not label the item; the item is alone in it
constexpr std::size_t most_rows = single;
constexpr std::size_t items_per_block = 512;

/// The rows of the draws, item after item, and the coefficients of the sums.
class NoiseProblem {
public:
    template <class Label>
    NoiseProblem(const Draws<Label>& draws, const LinearLoss& loss, unsigned threads)
        : n_items_(draws.n_items), phi_(draws.n_items + 2), gain_(draws.n_items + 1) {
        for (std::size_t n = 0; n < phi_.size(); ++n) {
            const auto count = static_cast<double>(n);
            phi_[n] = loss.is_binder ? count * (count - 1) : n < 2 ? 0.0 : count * std::log2(count);
        }
        for (std::size_t n = 0; n < gain_.size(); ++n)
            gain_[n] = phi_[n + 1] - phi_[n];
        std::vector<std::size_t> used;
        for (std::size_t t = 0; t < draws.n_draws(); ++t)
            if (draws.weights[t] > 0)
                used.push_back(t);
        number_rows(draws, used, loss);
        if (fits_)
            transpose(draws, used, threads);
    }

    bool fits() const { return fits_; }
    std::size_t n_items() const { return n_items_; }
    std::size_t n_draws() const { return first_row_.size(); }
    std::size_t n_rows() const { return coefficients_.size(); }
    std::span<const double> phi() const { return phi_; }
    double gain(std::size_t n) const { return gain_[n]; }
    double coefficient(std::size_t row) const { return coefficients_[row]; }
    double loss_of(double value) const { return unit_ * (value + constant_); }

    /// Calls use(row) for each row of cells in which item i counts.
    template <class Use> void for_each_row(std::size_t i, Use use) const {
        const auto* own = rows_.data() + i * n_draws();
        if (!has_gaps_)
            use(0);
        for (std::size_t t = 0; t < n_draws(); ++t) {
            if (own[t] == no_label)
                continue;
            if (has_gaps_)
                use(t);
            if (own[t] != single)
                use(first_row_[t] + own[t]);
        }
    }

private:
    /// Rows of clusters of two or more items, after those of the estimate's own sizes: one, or one for each
    /// draw if labels are missing.
    template <class Label>
    void number_rows(const Draws<Label>& draws, const std::vector<std::size_t>& used,
                     const LinearLoss& loss) {
        std::vector<double> of_estimate, of_cells;
        unit_ = loss.unit;
        numbers_.resize(used.size());
        for (std::size_t d = 0; d < used.size(); ++d) {
            const auto sizes = cluster_sizes(draws.draw(used[d]));
            const auto labelled = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
            has_gaps_ = has_gaps_ || labelled < n_items_;
            const auto share = draws.weights[used[d]] / loss.divisor(static_cast<double>(labelled));
            of_estimate.push_back(share * loss.b);
            of_cells.push_back(-share * (loss.a + loss.b));
            numbers_[d].resize(sizes.size());
            std::size_t next = 0;
            for (std::size_t k = 0; k < sizes.size(); ++k) {
                constant_ += share * loss.a * phi_[sizes[k]];
                numbers_[d][k] = sizes[k] > 1 ? static_cast<Row>(std::min(next, most_rows)) : single;
                next += sizes[k] > 1;
            }
            fits_ = fits_ && next < most_rows;
            first_row_.push_back(next);
        }
        if (has_gaps_)
            coefficients_ = of_estimate;
        else
            coefficients_ = {std::accumulate(of_estimate.begin(), of_estimate.end(), 0.0)};
        for (std::size_t d = 0; d < used.size(); ++d) {
            const auto count = std::exchange(first_row_[d], coefficients_.size());
            coefficients_.insert(coefficients_.end(), count, of_cells[d]);
        }
    }

    template <class Label>
    void transpose(const Draws<Label>& draws, const std::vector<std::size_t>& used, unsigned threads) {
        rows_.resize(n_items_ * used.size());
        const auto n_blocks = (n_items_ + items_per_block - 1) / items_per_block;
        common::parallel_for(n_blocks, threads, [&](std::size_t block, unsigned) {
            const auto end = std::min(n_items_, (block + 1) * items_per_block);
            for (std::size_t d = 0; d < used.size(); ++d) {
                const auto labels = draws.draw(used[d]);
                for (std::size_t i = block * items_per_block; i < end; ++i)
                    rows_[i * used.size() + d] = labels[i] == gap<Label> ? no_label : numbers_[d][labels[i]];
            }
        });
        numbers_ = {};
    }

    std::size_t n_items_;
    bool has_gaps_ = false, fits_ = true;
    double unit_ = 1, constant_ = 0;
    std::vector<double> phi_, gain_, coefficients_;
    std::vector<std::vector<Row>> numbers_; // of the clusters of each draw, until the rows are known
    std::vector<std::size_t> first_row_;
    std::vector<Row> rows_;
};

/// A partition into K clusters and items that are alone, with the counts of its cells and the gain of one
/// more item.
class NoiseState {
public:
    NoiseState(const NoiseProblem& problem, std::vector<std::uint32_t> labels)
        : problem_(problem), labels_(std::move(labels)) {
        for (const auto label : labels_)
            if (label < is_alone)
                n_clusters_ = std::max<std::size_t>(n_clusters_, label + 1);
        stride_ = (n_clusters_ + 7) / 8 * 8;
        counts_.resize(problem.n_rows() * stride_);
        gains_.resize(counts_.size()); // gain(0) is 0
        scores_.resize(stride_);
        for (std::size_t i = 0; i < labels_.size(); ++i)
            if (labels_[i] < is_alone)
                count(i, labels_[i], +1);
    }

    /// Moves each item to where it costs least; returns how many moved. Unplaced items are alone if time is
    /// up.
    std::uint64_t sweep(const Limits& limits) {
        std::uint64_t moves = 0;
        bool ended = false;
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            ended = ended || (i % poll_every == 0 && limits.reached());
            if (ended) {
                if (labels_[i] == is_unplaced)
                    labels_[i] = is_alone;
            } else {
                moves += move(i);
            }
        }
        return moves;
    }

    /// Merges two clusters if that lowers the loss: the pair that lowers it most.
    bool merge_best() {
        std::vector<double> changes(n_clusters_ * n_clusters_);
        for (std::size_t row = 0; row < problem_.n_rows(); ++row)
            add_pair_gains<double>(counts_.data() + row * stride_, n_clusters_, problem_.phi(),
                                   problem_.coefficient(row), changes);
        const auto best = std::ranges::min_element(changes);
        if (best == changes.end() || *best >= -draws::policy::noise_gain)
            return false;
        const auto at = static_cast<std::size_t>(best - changes.begin());
        const auto kept = static_cast<std::uint32_t>(at / n_clusters_);
        for (std::size_t i = 0; i < labels_.size(); ++i)
            if (labels_[i] == at % n_clusters_) {
                count(i, labels_[i], -1);
                count(i, labels_[i] = kept, +1);
            }
        return true;
    }

    double value() const {
        double sum = 0;
        for (std::size_t row = 0; row < problem_.n_rows(); ++row) {
            double own = 0;
            for (std::size_t k = 0; k < n_clusters_; ++k)
                own += problem_.phi()[counts_[row * stride_ + k]];
            sum += problem_.coefficient(row) * own;
        }
        return sum;
    }

    /// The labels, those that are alone with labels of their own.
    std::vector<std::uint32_t> partition() const {
        auto labels = labels_;
        auto next = static_cast<std::uint32_t>(n_clusters_);
        for (auto& label : labels)
            if (label >= is_alone)
                label = next++;
        renumber(labels);
        return labels;
    }

private:
    std::uint64_t move(std::size_t i) {
        common::count_steps(problem_.n_draws() * stride_);
        std::ranges::fill(scores_, 0.0);
        const auto own = labels_[i];
        const bool is_placed = own < is_alone;
        double stay = 0;
        problem_.for_each_row(i, [&](std::size_t row) {
            const auto coefficient = problem_.coefficient(row);
            const auto* gains = gains_.data() + row * stride_;
            for (std::size_t k = 0; k < stride_; ++k)
                scores_[k] += coefficient * gains[k];
            if (is_placed)
                stay += coefficient * problem_.gain(counts_[row * stride_ + own] - 1);
        });
        auto target = is_alone;
        double least = 0; // alone
        for (std::size_t k = 0; k < n_clusters_; ++k)
            if (k != own && scores_[k] < least - draws::policy::noise_gain) {
                least = scores_[k];
                target = static_cast<std::uint32_t>(k);
            }
        if (own == is_unplaced || (is_placed && least < stay - draws::policy::noise_gain) ||
            (own == is_alone && target != is_alone)) {
            if (is_placed)
                count(i, own, -1);
            if (target != is_alone)
                count(i, target, +1);
            labels_[i] = target;
            return 1;
        }
        return 0;
    }

    void count(std::size_t i, std::size_t k, int by) {
        problem_.for_each_row(i, [&](std::size_t row) {
            auto& cell = counts_[row * stride_ + k];
            cell = static_cast<std::uint32_t>(static_cast<std::int64_t>(cell) + by);
            gains_[row * stride_ + k] = problem_.gain(cell);
        });
    }

    const NoiseProblem& problem_;
    std::vector<std::uint32_t> labels_;
    std::size_t n_clusters_ = 0, stride_ = 0;
    std::vector<std::uint32_t> counts_;
    std::vector<double> gains_, scores_;
};

void refine(const NoiseProblem& problem, Run& run, const Limits& limits) {
    const auto begun = std::chrono::steady_clock::now();
    NoiseState state(problem, std::move(run.labels));
    do {
        std::uint64_t moves = 1;
        while (moves > 0 && run.tally.sweeps < draws::policy::max_noise_sweeps && !limits.reached()) {
            moves = state.sweep(limits);
            run.tally.moves += moves;
            ++run.tally.sweeps;
            run.tally.trace.push_back(problem.loss_of(state.value()));
        }
    } while (run.tally.sweeps < draws::policy::max_noise_sweeps && !limits.reached() && state.merge_best());
    run.labels = state.partition();
    run.clusters = *std::ranges::max_element(run.labels) + 1;
    run.loss = problem.loss_of(state.value());
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

} // namespace

template <class Label>
std::optional<std::vector<Run>> refine_with_noise(const Draws<Label>& draws, const LossTables& tables,
                                                  const SearchOptions& options, std::vector<Run> starts,
                                                  const common::StopFlag& stop, const Progress& progress) {
    const auto loss = as_linear(tables.loss());
    if (!loss)
        return std::nullopt;
    const Limits limits(stop, options.seconds);
    const NoiseProblem problem(draws, *loss, options.threads);
    std::size_t widest = 0;
    for (const auto& start : starts)
        for (const auto label : start.labels)
            if (label < is_alone)
                widest = std::max<std::size_t>(widest, label + 1);
    if (!problem.fits() || problem.n_rows() * (widest + 8) > draws::policy::max_noise_cells)
        return std::nullopt;
    common::parallel_for(starts.size(), options.threads, stop, [&](std::size_t s, unsigned) {
        refine(problem, starts[s], limits);
        if (progress)
            progress(starts[s]);
    });
    return starts;
}

#define INSTANTIATE(Label)                                                                                   \
    template std::optional<std::vector<Run>> refine_with_noise(const Draws<Label>&, const LossTables&,       \
                                                               const SearchOptions&, std::vector<Run>,       \
                                                               const common::StopFlag&, const Progress&);
PARTITA_FOR_EACH_LABEL(INSTANTIATE)
#undef INSTANTIATE

} // namespace partita::search
