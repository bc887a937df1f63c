#include "mcmc/labelled_chain.hpp"

#include <numeric>

#include "common/watched_stop.hpp"
#include "networks/policy.hpp"
#include "partition/sweep.hpp"

namespace partita::models {

std::vector<std::uint32_t> LabelledModel::climb(std::span<const std::uint32_t> labels, common::Rng& rng,
                                                std::size_t max_sweeps, const common::StopFlag& stop) const {
    auto state = make_state(labels);
    LabelledMoves moves(state, prior_);
    std::vector<std::uint32_t> order(n_nodes());
    std::iota(order.begin(), order.end(), 0u);
    for (std::size_t count = 0; count < max_sweeps && !stop; ++count) {
        rng.shuffle(std::span(order));
        if (models::sweep(moves, order, stop) == 0)
            break;
    }
    return {state.labels().begin(), state.labels().end()};
}

PlaceScores LabelledMoves::score(std::size_t node) {
    const std::size_t own = state_.label(node);
    state_.look(node);
    state_.remove();
    for (std::size_t h = 0; h < weight_.size(); ++h)
        weight_[h] = state_.score(h) + prior_.join(state_.size(h) - (h == own ? 1 : 0));
    return {weight_, own};
}

void LabelledChain::sweep() {
    if (!started_)
        start();
    LabelledMoves moves(state_, model_->prior());
    gibbs_sweep(moves, n_items(), rng_);
    ++sweeps_;
}

/// A climb from random labels, with random numbers of its own beside the chain's.
void LabelledChain::start() {
    started_ = true;
    common::Rng rng(~seed_, stream_);
    std::vector<std::uint32_t> labels(n_items());
    for (auto& label : labels)
        label = static_cast<std::uint32_t>(rng.below(model_->n_clusters()));
    state_.assign(
        model_->climb(labels, rng, networks::policy::labelled_start_sweeps, common::WatchedStop::flag()));
    common::end_if_stopped();
}

} // namespace partita::models
