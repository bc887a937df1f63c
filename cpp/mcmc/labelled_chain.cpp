#include "mcmc/labelled_chain.hpp"

#include <numeric>

#include "common/variates.hpp"
#include "common/watched_stop.hpp"
#include "partition/solution.hpp"

namespace partita::models {

namespace {

constexpr std::size_t start_sweeps = 20;

} // namespace

std::vector<std::uint32_t> LabelledModel::climb(std::span<const std::uint32_t> labels, common::Rng& rng,
                                                std::size_t max_sweeps, const common::StopFlag& stop) const {
    auto state = make_state(labels);
    std::vector<std::uint32_t> order(n_nodes());
    std::iota(order.begin(), order.end(), 0u);
    for (std::size_t sweep = 0; sweep < max_sweeps; ++sweep) {
        rng.shuffle(std::span(order));
        std::size_t moved = 0;
        for (const auto node : order) {
            if (stop)
                break;
            moved += improve(state, node);
        }
        if (stop || moved == 0)
            break;
    }
    return {state.labels().begin(), state.labels().end()};
}

bool LabelledModel::improve(LabelledState& state, std::size_t node) const {
    const std::size_t own = state.label(node);
    state.look(node);
    state.remove();
    const auto value = [&](std::size_t h) {
        return state.score(h) + prior_.join(state.size(h) - (h == own ? 1 : 0));
    };
    auto best = own;
    double most = value(own) + min_gain;
    for (std::size_t h = 0; h < n_clusters(); ++h)
        if (const double here = h == own ? most : value(h); here > most) {
            most = here;
            best = h;
        }
    state.insert(best);
    return best != own;
}

void LabelledChain::sweep() {
    if (!started_)
        start();
    for (std::size_t node = 0; node < n_items(); ++node) {
        common::end_if_stopped();
        draw_label(node);
    }
    ++sweeps_;
}

/// A climb from random labels, with random numbers of its own beside the chain's.
void LabelledChain::start() {
    started_ = true;
    common::Rng rng(~seed_, stream_);
    std::vector<std::uint32_t> labels(n_items());
    for (auto& label : labels)
        label = static_cast<std::uint32_t>(rng.below(model_->n_clusters()));
    state_.assign(model_->climb(labels, rng, start_sweeps, common::WatchedStop::flag()));
    common::end_if_stopped();
}

void LabelledChain::draw_label(std::size_t node) {
    const std::size_t own = state_.label(node);
    state_.look(node);
    state_.remove();
    for (std::size_t h = 0; h < weight_.size(); ++h)
        weight_[h] = state_.score(h) + model_->prior().join(state_.size(h) - (h == own ? 1 : 0));
    state_.insert(common::draw_from_logs(rng_, weight_));
}

} // namespace partita::models
