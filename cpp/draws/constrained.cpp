#include "draws/constrained.hpp"

#include <algorithm>
#include <cmath>

namespace partita::search {

namespace {

constexpr std::uint64_t max_rebuilt = 3; // clusters that are taken apart at a time

/// Whether the value of a state, computed anew, is below what it was by more than rounding.
bool is_lower(State& state, double before) {
    state.refresh();
    return state.value() < before - state.precise_tolerance() * std::abs(before);
}

/// A state whose moves keep to the restrictions.
class ConstrainedState {
public:
    ConstrainedState(const Problem& problem, const Restrictions& restrictions)
        : restrictions_(&restrictions), state_(problem, static_cast<std::uint32_t>(problem.n_items())) {}

    State& state() { return state_; }

    /// Puts an atom that is in no cluster where it costs least.
    void place(const std::vector<std::uint32_t>& atom) {
        forbid(atom);
        const auto costs = costs_of(atom);
        auto best = state_.n_clusters(); // a new one is always allowed
        for (std::uint32_t k = 0; k < state_.n_clusters(); ++k)
            if (!forbidden_[k] && costs[k] < costs[best])
                best = k;
        insert(atom, best);
    }

    /// Moves an atom if that is a strict gain.
    bool improve(const std::vector<std::uint32_t>& atom) {
        if (atom.size() > 1)
            return improve_group(atom);
        const auto i = atom.front();
        const auto own = state_.cluster_of(i);
        forbid(atom);
        const auto scores = state_.score_precisely(i);
        auto best = own;
        for (std::uint32_t k = 0; k < scores.size(); ++k)
            if ((k >= forbidden_.size() || !forbidden_[k]) && scores[k] < scores[best])
                best = k;
        const auto rounding =
            state_.precise_tolerance() * std::max(std::abs(scores[own]), std::abs(scores[best]));
        if (best == own || !(scores[own] - scores[best] > rounding))
            return false;
        state_.move(i, best);
        return true;
    }

    /// The merge that gains most among those that are allowed; returns whether there was one.
    bool merge_best() {
        const auto clusters = state_.n_clusters();
        const auto changes = state_.merge_changes();
        const auto apart = apart_clusters();
        ClusterMerge best;
        for (std::uint32_t k = 0; k < clusters; ++k)
            for (std::uint32_t l = k + 1; l < clusters; ++l)
                if (const auto at = std::size_t{k} * clusters + l; !apart[at] && changes[at] < best.change)
                    best = {k, l, changes[at]};
        const auto before = state_.value();
        if (!(best.change < -state_.precise_tolerance() * std::abs(before)))
            return false;
        const auto labels = state_.labels();
        state_.merge(best.keep, best.gone);
        state_.refresh();
        if (state_.value() < before - state_.precise_tolerance() * std::abs(before))
            return true;
        state_.assign(labels); // what single precision took for a gain
        return false;
    }

private:
    void forbid(const std::vector<std::uint32_t>& atom) {
        forbidden_.resize(state_.n_clusters());
        for (std::uint32_t k = 0; k < forbidden_.size(); ++k)
            forbidden_[k] = state_.size(k) + atom.size() > restrictions_->max_size;
        for (const auto i : atom)
            for (const auto other : restrictions_->apart[i])
                if (const auto k = state_.cluster_of(other); k != State::nowhere)
                    forbidden_[k] = true;
    }

    std::vector<bool> apart_clusters() const {
        const auto clusters = state_.n_clusters();
        std::vector<bool> apart(std::size_t{clusters} * clusters);
        for (std::size_t k = 0; k < clusters; ++k)
            for (std::size_t l = k + 1; l < clusters; ++l)
                apart[k * clusters + l] = state_.size(k) + state_.size(l) > restrictions_->max_size;
        for (std::uint32_t i = 0; i < restrictions_->apart.size(); ++i)
            for (const auto j : restrictions_->apart[i]) {
                const auto k = std::min(state_.cluster_of(i), state_.cluster_of(j));
                const auto l = std::max(state_.cluster_of(i), state_.cluster_of(j));
                apart[std::size_t{k} * clusters + l] = true;
            }
        return apart;
    }

    void insert(const std::vector<std::uint32_t>& atom, std::uint32_t cluster) {
        for (const auto i : atom)
            state_.insert(i, cluster);
    }
    void remove(const std::vector<std::uint32_t>& atom) {
        for (const auto i : atom)
            state_.remove(i);
    }

    /// What it costs to have an atom, which is in no cluster, in each cluster that is allowed, and in a new
    /// one.
    std::vector<double> costs_of(const std::vector<std::uint32_t>& atom) {
        if (atom.size() == 1) {
            const auto scores = state_.score_precisely(atom.front());
            return {scores.begin(), scores.end()};
        }
        std::vector<double> costs(state_.n_clusters() + 1);
        for (std::uint32_t k = 0; k < costs.size(); ++k)
            if (k >= forbidden_.size() || !forbidden_[k]) {
                insert(atom, k);
                costs[k] = state_.value();
                remove(atom);
            }
        return costs;
    }

    bool improve_group(const std::vector<std::uint32_t>& atom) {
        const auto labels = state_.labels();
        state_.refresh();
        const auto before = state_.value();
        remove(atom);
        place(atom);
        if (is_lower(state_, before))
            return true;
        state_.assign(labels);
        return false;
    }

    const Restrictions* restrictions_;
    State state_;
    std::vector<bool> forbidden_; // clusters, for the atom that was asked about last
};

class ConstrainedRun {
public:
    ConstrainedRun(const Problem& problem, const Restrictions& restrictions, common::Rng& rng,
                   const Limits& limits)
        : restrictions_(&restrictions), constrained_(problem, restrictions), rng_(&rng), limits_(&limits) {}

    void begin_at(const std::vector<std::uint32_t>& labels) { constrained_.state().assign(labels); }

    void begin_in_order() {
        for (const auto v : rng_->permutation(restrictions_->atoms.size()))
            constrained_.place(restrictions_->atoms[v]);
    }

    /// Atoms and whole clusters move until neither gains, then up to three clusters at a time are taken apart
    /// and built anew.
    Run finish(std::string start, std::uint32_t patience) {
        Run run;
        run.start = std::move(start);
        descend(run.tally);
        for (std::uint32_t failures = 0; failures < patience && !limits_->reached();)
            failures = rebuild(run.tally) ? 0 : failures + 1;
        run.finish(constrained_.state());
        return run;
    }

private:
    void descend(Tally& tally) {
        do
            while (sweep_lowers(tally) && !limits_->reached())
                ;
        while (!limits_->reached() && constrained_.merge_best());
    }

    /// Whether a sweep lowered the value, computed anew: moves whose gain is rounding could go on for ever.
    bool sweep_lowers(Tally& tally) {
        auto& state = constrained_.state();
        state.refresh();
        const auto before = state.value();
        return sweep(tally) && is_lower(state, before);
    }

    bool sweep(Tally& tally) {
        std::uint64_t moves = 0;
        const auto order = rng_->permutation(restrictions_->atoms.size());
        for (std::size_t at = 0; at < order.size(); ++at) {
            if (at % poll_every == 0 && limits_->reached())
                break;
            moves += constrained_.improve(restrictions_->atoms[order[at]]);
        }
        ++tally.sweeps;
        tally.moves += moves;
        tally.trace.push_back(constrained_.state().value() + constrained_.state().problem().constant());
        return moves > 0;
    }

    bool rebuild(Tally& tally) {
        auto& state = constrained_.state();
        state.refresh();
        const auto labels = state.labels();
        const auto before = state.value();
        const auto order = rng_->permutation(state.n_clusters());
        std::vector<bool> chosen(state.n_clusters());
        for (std::size_t k = 0, count = 1 + rng_->below(max_rebuilt); k < std::min(count, order.size()); ++k)
            chosen[order[k]] = true;
        std::vector<std::uint32_t> atoms;
        for (std::uint32_t v = 0; v < restrictions_->atoms.size(); ++v)
            if (chosen[state.cluster_of(restrictions_->atoms[v].front())])
                atoms.push_back(v);
        rng_->shuffle(std::span(atoms));
        for (const auto v : atoms)
            for (const auto i : restrictions_->atoms[v])
                state.remove(i);
        for (const auto v : atoms)
            constrained_.place(restrictions_->atoms[v]);
        descend(tally);
        if (is_lower(state, before))
            return true;
        state.assign(labels);
        return false;
    }

    const Restrictions* restrictions_;
    ConstrainedState constrained_;
    common::Rng* rng_;
    const Limits* limits_;
};

} // namespace

std::vector<Run> search_constrained(const Problem& problem, const Restrictions& restrictions,
                                    const std::vector<std::vector<std::uint32_t>>& starts,
                                    const SearchOptions& options, const common::StopFlag& stop,
                                    const Progress& progress) {
    const Limits limits(stop, options.seconds);
    return run_stage(options.runs, options, limits, progress, [&](std::size_t index) {
        common::Rng rng(options.seed, index);
        ConstrainedRun run(problem, restrictions, rng, limits);
        const bool is_given = index < starts.size();
        if (is_given)
            run.begin_at(starts[index]);
        else
            run.begin_in_order();
        return run.finish(is_given ? "given" : "sequential", options.zealous);
    });
}

} // namespace partita::search
