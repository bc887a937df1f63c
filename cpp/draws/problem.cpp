#include "draws/problem.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "common/clones.hpp"
#include "draws/policy.hpp"
#include "partition/rounding.hpp"

namespace partita::search {
namespace {

template <class Label>
inline void decode_plain(const Label* labels, const std::uint32_t* begin, std::size_t n,
                         std::uint32_t* rows) {
    for (std::size_t t = 0; t < n; ++t)
        rows[t] = begin[t] + labels[t];
}

PARTITA_CLONES void decode(const std::uint8_t* labels, const std::uint32_t* begin, std::size_t n,
                           std::uint32_t* rows) {
    decode_plain(labels, begin, n, rows);
}
PARTITA_CLONES void decode(const std::uint16_t* labels, const std::uint32_t* begin, std::size_t n,
                           std::uint32_t* rows) {
    decode_plain(labels, begin, n, rows);
}
PARTITA_CLONES void decode(const std::uint32_t* labels, const std::uint32_t* begin, std::size_t n,
                           std::uint32_t* rows) {
    decode_plain(labels, begin, n, rows);
}

} // namespace

template <class Label>
Problem::Problem(const Draws<Label>& draws, const LossTables& tables, std::span<const std::uint32_t> subset)
    : ExpectedLoss(draws.n_items, tables), n_total_(draws.n_total()), copies_(draws.copies), draws_(draws),
      chosen_(subset.begin(), subset.end()) {
    if (chosen_.empty()) {
        chosen_.resize(draws.n_draws());
        std::iota(chosen_.begin(), chosen_.end(), 0u);
    }
    take_weights(draws.weights, chosen_);
    row_begin_.push_back(0);
    for (const auto t : chosen_) {
        const auto row = draws.draw(t);
        const auto clusters = count_clusters(row);
        std::size_t gaps = 0;
        if (has_copies()) {
            for (std::size_t i = 0; i < n_items_; ++i)
                gaps += row[i] == gap<Label> ? copies(i) : 0;
        } else {
            gaps = static_cast<std::size_t>(std::count(row.begin(), row.end(), gap<Label>));
        }
        labelled_.push_back(static_cast<std::uint32_t>(n_total_ - gaps));
        row_begin_.push_back(row_begin_.back() + clusters);
        has_gaps_ |= gaps > 0;
    }
    find_gains();
    find_coefficients();
    find_rounding();
    share_rows(draws);
    if (!shared_)
        transpose(draws);
    if (has_copies() && !is_linear_)
        throw std::invalid_argument("only linear losses are searched with copies of items");
}

void Problem::find_gains() {
    auto differences = [&](std::span<const double> table) {
        std::vector<float> gain(n_total_ + 1); // one more than needed: the gain of a full cell is never used
        for (std::size_t size = 0; size < n_total_; ++size)
            gain[size] = static_cast<float>(table[size + 1] - table[size]);
        return gain;
    };
    if (std::holds_alternative<CustomLoss>(tables_->loss())) { // scored from its tables in double precision
        joint_gain_.assign(n_total_ + 1, 0.0f);
        estimate_gain_ = joint_gain_;
        return;
    }
    joint_gain_ = differences(tables_->joint());
    estimate_gain_ = differences(tables_->estimate());
}

/// For each draw, the sum of f3 over its cluster sizes.
std::vector<double> Problem::draw_sums() const {
    std::vector<std::uint32_t> sizes(row_begin_.back());
    if (!has_gaps_ && !has_copies())
        count_cells(std::vector<std::uint32_t>(n_items_), sizes.data(), 1); // all items in one cluster
    else
        for (std::size_t t = 0; t < n_draws(); ++t)
            for_each_item(t, [&](std::size_t i, std::uint32_t row) { sizes[row] += copies(i); });
    std::vector<double> sums(n_draws());
    for (std::size_t t = 0; t < n_draws(); ++t)
        for (auto row = row_begin_[t]; row < row_begin_[t + 1]; ++row)
            sums[t] += tables_->draw()[sizes[row]];
    return sums;
}

void Problem::find_coefficients() {
    const auto loss = as_linear(tables_->loss());
    if (!loss)
        return;
    const auto sums = draw_sums();
    for (std::size_t t = 0; t < n_draws(); ++t)
        cell_coefficients_.push_back(add_draw(*loss, weights_[t], labelled_[t], sums[t]));
}

/// The magnitude of a linear value is at most that of one cluster with everything in it; the other losses
/// are sums and differences of entropies, or ratios of these.
void Problem::find_rounding() {
    if (std::holds_alternative<CustomLoss>(tables_->loss()))
        return;
    double magnitude = 1 + std::log2(static_cast<double>(n_total_));
    if (is_linear_) {
        magnitude = estimate_scale_;
        for (const auto coefficient : cell_coefficients_)
            magnitude += std::abs(coefficient);
        magnitude *= tables_->joint()[n_total_];
    }
    rounding_ = double_rounding * magnitude;
}

template <class Label> void Problem::share_rows(const Draws<Label>& draws) {
    if (draws.sharing == Sharing::never || !is_linear_ || has_gaps_)
        return;
    const auto max_share = draws.sharing == Sharing::always ? 1.0 : draws::policy::worthwhile_share;
    shared_ = find_distinct_clusters(draws, chosen_, cell_coefficients_, max_share);
}

template <class Label> void Problem::transpose(const Draws<Label>& draws) {
    constexpr std::size_t tile = 64;
    std::vector<Label> by_item(n_items_ * chosen_.size());
    for (std::size_t begin = 0; begin < n_items_; begin += tile)
        for (std::size_t t = 0; t < chosen_.size(); ++t) {
            const auto row = draws.draw(chosen_[t]);
            for (std::size_t i = begin; i < std::min(begin + tile, n_items_); ++i)
                by_item[i * chosen_.size() + t] = row[i];
        }
    by_item_ = std::move(by_item);
}

void Problem::rows_of(std::size_t i, std::span<std::uint32_t> rows) const {
    std::visit(
        [&](const auto& labels) {
            using Label = typename std::decay_t<decltype(labels)>::value_type;
            const auto* own = labels.data() + i * n_draws();
            decode(own, row_begin_.data(), n_draws(), rows.data());
            if (has_gaps_)
                for (std::size_t t = 0; t < n_draws(); ++t)
                    if (own[t] == gap<Label>)
                        rows[t] = no_row;
        },
        by_item_);
}

void Problem::count_cells(std::span<const std::uint32_t> labels, std::uint32_t* counts,
                          std::size_t row_stride) const {
    constexpr std::size_t together = 4; // draws whose counters do not wait for each other
    std::visit(
        [&](const auto& draws) {
            using Label = std::remove_const_t<typename decltype(draws.draw(0))::value_type>;
            const Label* rows[together];
            std::uint32_t* cells[together];
            for (std::size_t t = 0; t < n_draws(); t += together) {
                for (std::size_t other = 0; other < together; ++other) {
                    const auto draw = std::min(t + other, n_draws() - 1);
                    rows[other] = draws.draw(chosen_[draw]).data();
                    cells[other] = counts + row_begin_[draw] * row_stride;
                }
                auto count = [&](std::size_t i, std::size_t other) {
                    ++cells[other][rows[other][i] * row_stride + labels[i]];
                };
                if (t + together <= n_draws())
                    for (std::size_t i = 0; i < n_items_; ++i)
                        for (std::size_t other = 0; other < together; ++other)
                            count(i, other);
                else
                    for (std::size_t other = 0; t + other < n_draws(); ++other)
                        for (std::size_t i = 0; i < n_items_; ++i)
                            count(i, other);
            }
        },
        draws_);
}

#define INSTANTIATE(Label)                                                                                   \
    template Problem::Problem(const Draws<Label>&, const LossTables&, std::span<const std::uint32_t>);
PARTITA_FOR_EACH_LABEL(INSTANTIATE)
#undef INSTANTIATE

} // namespace partita::search
