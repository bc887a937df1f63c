// The search and the chain of labels under blocks with priors of their own; the number of clusters is fixed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/archive.hpp"
#include "common/parallel.hpp"
#include "common/random.hpp"
#include "networks/dirichlet.hpp"
#include "networks/labelled_state.hpp"
#include "partition/sweep.hpp"

namespace partita::models {

/// p(X, z) of labels 0 .. K − 1 with K given; clusters may be empty.
class LabelledModel {
public:
    /// The network must outlive the model.
    LabelledModel(const Network& network, LabelledBlocks blocks, bool degree_corrected, double n0)
        : network_(&network), blocks_(std::move(blocks)), degree_corrected_(degree_corrected),
          prior_(n0, network.n_nodes) {
        if (network.bipartite())
            throw std::invalid_argument("the blocks are those of one kind of node");
    }

    std::size_t n_nodes() const { return network_->n_nodes; }
    std::size_t n_clusters() const { return blocks_.n_clusters; }
    const DirichletPrior& prior() const { return prior_; }

    LabelledState make_state(std::span<const std::uint32_t> labels) const {
        LabelledState state(*network_, blocks_, degree_corrected_);
        state.assign(labels);
        return state;
    }

    /// log p(X, z | K), up to constants of the data.
    double log_density(const LabelledState& state) const {
        double total = state.log_likelihood() + prior_.clusters(n_clusters());
        for (std::size_t k = 0; k < n_clusters(); ++k)
            total += prior_.cluster(state.size(k));
        return total;
    }

    /// Moves nodes in random order, each to its best cluster, until a sweep moves none.
    std::vector<std::uint32_t> climb(std::span<const std::uint32_t> labels, common::Rng& rng,
                                     std::size_t max_sweeps, const common::StopFlag& stop) const;

private:
    const Network* network_;
    LabelledBlocks blocks_;
    bool degree_corrected_;
    DirichletPrior prior_;
};

/// The scores of a node under every label, and its way to one of them.
class LabelledMoves {
public:
    LabelledMoves(LabelledState& state, const DirichletPrior& prior)
        : state_(state), prior_(prior), weight_(state.slots()) {}

    PlaceScores score(std::size_t node);
    void put(std::size_t, std::size_t label) { state_.insert(label); }

private:
    LabelledState& state_;
    const DirichletPrior& prior_;
    std::vector<double> weight_;
};

/// Gibbs sampling of every label in turn; the model must outlive it.
class LabelledChain {
public:
    LabelledChain(const LabelledModel& model, std::uint64_t seed, std::uint64_t stream)
        : model_(&model), seed_(seed), stream_(stream), rng_(seed, stream),
          state_(model.make_state(std::vector<std::uint32_t>(model.n_nodes(), 0u))) {}

    std::uint64_t sweeps() const { return sweeps_; }
    std::size_t n_items() const { return model_->n_nodes(); }

    void sweep();

    /// The labels themselves: each is a row of the given priors.
    void write_labels(std::uint32_t* out) const {
        std::copy(state_.labels().begin(), state_.labels().end(), out);
    }

    std::vector<std::string> stat_names() const { return {"log_density", "n_clusters"}; }

    double log_density() const { return model_->log_density(state_); }

    void append_stats(std::vector<double>& out) {
        out.push_back(log_density());
        out.push_back(static_cast<double>(state_.filled(0)));
    }

    std::string state() {
        if (!started_)
            start();
        common::StateWriter writer;
        std::vector<std::uint32_t> labels(state_.labels().begin(), state_.labels().end());
        auto random = rng_.state();
        writer(sweeps_, random, labels);
        return std::move(writer).bytes();
    }

    void restore(const std::string& bytes) {
        common::StateReader reader(bytes);
        std::vector<std::uint32_t> labels;
        auto random = rng_.state();
        reader(sweeps_, random, labels);
        const auto known = [&](std::uint32_t label) { return label < model_->n_clusters(); };
        if (!reader.at_end() || labels.size() != n_items() ||
            !std::all_of(labels.begin(), labels.end(), known))
            throw std::invalid_argument("the state does not fit this network");
        rng_.restore(random);
        state_.assign(labels);
        started_ = true;
    }

private:
    void start();

    const LabelledModel* model_;
    std::uint64_t seed_, stream_;
    common::Rng rng_;
    LabelledState state_;
    std::uint64_t sweeps_ = 0;
    bool started_ = false;
};

} // namespace partita::models
