// Collapsed Gibbs sampling for nonparametric Bayesian clustering ensembles (Wang, Domeniconi & Laskey 2010).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/concentration.hpp"
#include "common/random.hpp"
#include "ensembles/state.hpp"

namespace partita::ensembles {

/// One with a prior is drawn after every sweep.
using Concentration = std::variant<common::FixedConcentration, common::GammaConcentration>;

/// One chain. The first sweep starts it at one of the base clusterings, chosen at random; items that it
/// leaves out follow one by one, each drawn given those before it.
template <class Label> class Sampler {
public:
    Sampler(Base<Label> base, Weights weights, std::uint32_t truncation, Concentration alpha,
            Concentration beta, common::Rng rng);
    void sweep();
    std::uint64_t sweeps() const { return sweeps_; }
    std::size_t n_items() const { return state_.n_items(); }
    double log_density() const {
        return state_.log_prior(state_.alpha()) + state_.log_likelihood(state_.beta());
    }
    void write_labels(std::uint32_t* out) const { state_.write_labels(out); }

    std::vector<std::string> stat_names() const { return {"log_density", "n_clusters", "alpha", "beta"}; }
    void append_stats(std::vector<double>& out) const {
        out.insert(out.end(),
                   {log_density(), static_cast<double>(state_.n_clusters()), state_.alpha(), state_.beta()});
    }

    /// Everything that the next sweep depends on, and back.
    std::string state();
    void restore(const std::string& bytes);

private:
    static constexpr int split_merges = 5; // proposals per sweep

    void start();
    void place(std::size_t item);
    void draw_concentrations();
    template <class Archive> void visit(Archive& archive) {
        auto random = rng_.state();
        archive(sweeps_, random, state_);
        rng_.restore(random);
    }

    Base<Label> base_;
    State<Label> state_;
    Concentration alpha_, beta_;
    common::Rng rng_;
    std::uint64_t sweeps_ = 0;
    bool started_ = false;
};

} // namespace partita::ensembles
