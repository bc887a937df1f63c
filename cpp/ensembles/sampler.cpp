// One chain of the collapsed Gibbs sampler: start, sweeps, concentrations, and its state as bytes.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "common/slice.hpp"
#include "common/watched_stop.hpp"
#include "ensembles/sampler.hpp"

namespace partita::ensembles {

namespace {

double log_gamma_density(double x, const common::GammaConcentration& prior) {
    return (prior.shape - 1.0) * std::log(x) - prior.rate * x;
}

double start_of(const Concentration& concentration) {
    return std::visit([](const auto& kind) { return common::first_value(kind); }, concentration);
}

const common::GammaConcentration* prior_of(const Concentration& concentration) {
    return std::get_if<common::GammaConcentration>(&concentration);
}

} // namespace

template <class Label>
Sampler<Label>::Sampler(Base<Label> base, Weights weights, std::uint32_t truncation, Concentration alpha,
                        Concentration beta, common::Rng rng)
    : base_(base), state_(base, weights, truncation, start_of(alpha), start_of(beta)), alpha_(alpha),
      beta_(beta), rng_(rng) {}

template <class Label> void Sampler<Label>::start() {
    started_ = true;
    const auto first = rng_.below(base_.n_clusterings());
    std::vector<std::uint32_t> column(std::min(state_.truncation(), base_.n_labels[first]),
                                      State<Label>::empty);
    std::vector<std::uint32_t> left;
    for (const auto item : rng_.permutation(base_.n_items())) {
        const auto label = base_.item(item)[first];
        if (label >= column.size()) { // a gap, or more labels than clusters
            left.push_back(item);
            continue;
        }
        if (column[label] == State<Label>::empty)
            state_.score(item); // weighs the sticks
        column[label] = state_.insert(item, column[label], rng_);
    }
    for (const auto item : left)
        place(item);
}

template <class Label> void Sampler<Label>::place(std::size_t item) {
    common::end_if_stopped();
    state_.score(item);
    state_.insert(item, state_.draw(rng_), rng_);
}

template <class Label> void Sampler<Label>::sweep() {
    if (!started_)
        start();
    state_.compact();
    for (std::size_t item = 0; item < state_.n_items(); ++item) {
        state_.remove(item);
        place(item);
    }
    for (int move = 0; move < split_merges; ++move)
        state_.split_or_merge(rng_);
    state_.swap_sticks(rng_);
    ++sweeps_;
    draw_concentrations();
}

template <class Label> void Sampler<Label>::draw_concentrations() {
    const auto *alpha_prior = prior_of(alpha_), *beta_prior = prior_of(beta_);
    if (alpha_prior == nullptr && beta_prior == nullptr)
        return;
    auto alpha = state_.alpha(), beta = state_.beta();
    if (alpha_prior != nullptr)
        alpha = common::slice_draw(
            alpha, [&](double x) { return state_.log_prior(x) + log_gamma_density(x, *alpha_prior); }, rng_);
    if (beta_prior != nullptr)
        beta = common::slice_draw(
            beta, [&](double x) { return state_.log_likelihood(x) + log_gamma_density(x, *beta_prior); },
            rng_);
    state_.set_concentrations(alpha, beta);
}

template <class Label> std::string Sampler<Label>::state() {
    if (!started_)
        start();
    common::StateWriter writer;
    visit(writer);
    return std::move(writer).bytes();
}

template <class Label> void Sampler<Label>::restore(const std::string& bytes) {
    common::StateReader reader(bytes);
    visit(reader);
    if (!reader.at_end())
        throw std::invalid_argument("the state does not fit this model and data");
    state_.rebuild();
    started_ = true;
}

template class Sampler<std::uint8_t>;
template class Sampler<std::uint16_t>;
template class Sampler<std::uint32_t>;

} // namespace partita::ensembles
