#include "draws/sparse_problem.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "partition/rounding.hpp"

namespace partita::search {

bool allows_candidates(const Loss& loss) {
    return !std::holds_alternative<CustomLoss>(loss) && !std::holds_alternative<ZeroOne>(loss);
}

template <class Label>
SparseProblem::SparseProblem(const Draws<Label>& draws, const LossTables& tables, unsigned threads,
                             Order order)
    : ExpectedLoss(draws.n_items, tables) {
    if (!allows_candidates(tables.loss()))
        throw std::invalid_argument("this loss is not searched by candidates");
    if (!draws.copies.empty() && !is_linear_)
        throw std::invalid_argument("only linear losses are searched with copies of items");
    choose_draws(draws);
    order_items(draws, order);
    find_gaps(draws);
    rounding_ = double_rounding * (1 + std::log2(static_cast<double>(draws.n_total())));
    const auto coefficients = is_linear_ ? find_coefficients(draws) : std::vector<double>{};
    rows_ = find_sparse_rows(draws, chosen_, coefficients, ranks_, threads);
    if (rows_.n_all() > 0)
        clusters_per_row_ = static_cast<double>(rows_.n_seen) / static_cast<double>(rows_.n_all());
}

template <class Label> void SparseProblem::choose_draws(const Draws<Label>& draws) {
    for (std::uint32_t t = 0; t < draws.n_draws(); ++t)
        if (draws.weights[t] > 0)
            chosen_.push_back(t);
    take_weights(draws.weights, chosen_);
}

template <class Label> void SparseProblem::find_gaps(const Draws<Label>& draws) {
    has_gaps_ = std::any_of(chosen_.begin(), chosen_.end(), [&](auto t) {
        const auto labels = draws.draw(t);
        return std::find(labels.begin(), labels.end(), gap<Label>) != labels.end();
    });
    if (!has_gaps_)
        return;
    is_labelled_.resize(n_items_ * n_draws());
    for (std::size_t t = 0; t < n_draws(); ++t)
        for (std::size_t i = 0; i < n_items_; ++i)
            is_labelled_[ranks_[i] * n_draws() + t] = draws.draw(chosen_[t])[i] != gap<Label>;
}

/// The factor of the cells of each draw. Fills in the constant, the factors of margins and what items add
/// alone.
template <class Label> std::vector<double> SparseProblem::find_coefficients(const Draws<Label>& draws) {
    const auto loss = *as_linear(tables_->loss());
    const auto table = tables_->joint();
    std::vector<double> coefficients;
    alone_.assign(n_items_, 0);
    for (const auto t : chosen_) {
        const auto labels = draws.draw(t);
        std::vector<std::uint32_t> sizes(count_clusters(labels));
        for (std::size_t i = 0; i < n_items_; ++i)
            if (labels[i] != gap<Label>)
                sizes[labels[i]] += copies(ranks_[i]);
        double sum = 0, labelled = 0;
        for (const auto size : sizes) {
            sum += table[size];
            labelled += size;
        }
        coefficients.push_back(add_draw(loss, weights_[coefficients.size()], labelled, sum));
        if (has_gaps_)
            for (std::size_t i = 0; i < n_items_; ++i)
                if (labels[i] != gap<Label>)
                    alone_[ranks_[i]] += coefficients.back() * table[copies(ranks_[i])];
    }
    const auto total = std::accumulate(coefficients.begin(), coefficients.end(), 0.0);
    rounding_ = double_rounding * (estimate_scale_ - total) * table[draws.n_total()];
    if (!has_gaps_)
        for (std::size_t i = 0; i < n_items_; ++i)
            alone_[i] = total * table[copies(i)];
    return coefficients;
}

SparseProblem SparseProblem::restricted(std::span<const std::uint32_t> items, double constant) const {
    SparseProblem part;
    static_cast<ExpectedLoss&>(part) = *this;
    part.n_items_ = items.size();
    part.constant_ += constant;
    part.clusters_per_row_ = clusters_per_row_;
    for (const auto i : items) {
        part.alone_.push_back(alone_[i]);
        if (!copies_.empty())
            part.copies_.push_back(copies_[i]);
        for (std::size_t t = 0; has_gaps_ && t < n_draws(); ++t)
            part.is_labelled_.push_back(is_labelled(i, t));
    }
    part.rows_ = search::restricted(rows_, items);
    return part;
}

/// In the order of the labels of the heaviest draw, if by locality.
template <class Label> void SparseProblem::order_items(const Draws<Label>& draws, Order order) {
    given_.resize(n_items_);
    std::iota(given_.begin(), given_.end(), 0u);
    if (order == Order::by_locality && !chosen_.empty()) {
        const auto heaviest = std::max_element(weights_.begin(), weights_.end()) - weights_.begin();
        const auto labels = draws.draw(chosen_[static_cast<std::size_t>(heaviest)]);
        std::stable_sort(given_.begin(), given_.end(), [&](auto i, auto j) { return labels[i] < labels[j]; });
    }
    ranks_.resize(n_items_);
    for (std::uint32_t rank = 0; rank < n_items_; ++rank)
        ranks_[given_[rank]] = rank;
    for (const auto i : given_)
        if (!draws.copies.empty())
            copies_.push_back(draws.copies[i]);
}

std::vector<std::uint32_t> SparseProblem::to_own(std::span<const std::uint32_t> labels) const {
    std::vector<std::uint32_t> own(labels.size());
    for (std::size_t i = 0; i < own.size(); ++i)
        own[ranks_[i]] = labels[i];
    return own;
}

std::vector<std::uint32_t> SparseProblem::to_given(std::span<const std::uint32_t> labels) const {
    std::vector<std::uint32_t> given(labels.size());
    for (std::size_t i = 0; i < given.size(); ++i)
        given[i] = labels[ranks_[i]];
    return given;
}

#define INSTANTIATE(Label)                                                                                   \
    template SparseProblem::SparseProblem(const Draws<Label>&, const LossTables&, unsigned, Order);
PARTITA_FOR_EACH_LABEL(INSTANTIATE)
#undef INSTANTIATE

} // namespace partita::search
