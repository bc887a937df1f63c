// The search for the partition of largest exact ICL: many climbs, crossovers of the good solutions,
// annealing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "block_climb.hpp"

namespace partita {

struct SearchPlan {
    std::size_t most[2];         // clusters allowed on each side
    std::size_t restarts;        // climbs, the given starts first and random partitions after them
    std::size_t trial_climbs;    // if the first so many agree, the others are left out
    std::size_t random_clusters; // clusters of a random start
    std::size_t generations;     // crossovers end after so many, or when the best one stays
    std::size_t most_anneals;    // annealed runs, until one ends at the best solution so far
    std::size_t anneal_sweeps;
    std::uint64_t seed;
    unsigned threads;
};

struct SearchResult {
    Solution best;
    std::vector<double> run_icl; // of each climb, before any crossover
    std::size_t generations = 0;
};

/// A random partition, labels apart on each side.
inline std::vector<std::uint32_t> random_labels(const Network& network, std::size_t clusters,
                                                const std::size_t (&most)[2], Rng& rng) {
    std::vector<std::uint32_t> labels(network.n_nodes);
    for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i] = static_cast<std::uint32_t>(rng.below(std::min(clusters, most[network.side(i)])));
    return labels;
}

/// The coarsest common refinement of two partitions, on each side.
inline std::vector<std::uint32_t> meet(const Network& network, std::span<const std::uint32_t> x,
                                       std::span<const std::uint32_t> y, std::size_t (&clusters)[2]) {
    const std::size_t width = *std::max_element(y.begin(), y.end()) + std::size_t{1};
    const std::size_t height = *std::max_element(x.begin(), x.end()) + std::size_t{1};
    const auto unseen = static_cast<std::uint32_t>(-1);
    std::vector<std::uint32_t> cell[2];
    std::vector<std::uint32_t> labels(x.size());
    for (std::size_t s = 0; s < 2; ++s) {
        cell[s].assign(width * height, unseen);
        clusters[s] = 0;
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto s = network.side(i);
        auto& label = cell[s][x[i] * width + y[i]];
        if (label == unseen)
            label = static_cast<std::uint32_t>(clusters[s]++);
        labels[i] = label;
    }
    return labels;
}

template <NetworkState State> class Evolution {
public:
    Evolution(const BlockModelView<State>& model, const SearchPlan& plan, const StopFlag& stop)
        : model_(model), plan_(plan), stop_(stop) {}

    SearchResult run(std::span<const std::vector<std::uint32_t>> starts) {
        climb(starts, 0, std::min(plan_.trial_climbs, plan_.restarts));
        if (!agree())
            climb(starts, population_.size(), plan_.restarts);
        SearchResult result;
        for (const auto& solution : population_)
            result.run_icl.push_back(solution.icl);
        rank();
        if (!agree()) {
            evolve(result);
            anneal();
        }
        result.best = population_.front();
        return result;
    }

private:
    static constexpr std::size_t patience = 5;             // generations without a better solution
    static constexpr std::size_t most_meet_clusters = 256; // merging costs the cube of these

    /// Climbs number `first` to `last`, each from its start.
    void climb(std::span<const std::vector<std::uint32_t>> starts, std::size_t first, std::size_t last) {
        population_.resize(last);
        parallel_for(last - first, plan_.threads, [&](std::size_t task, unsigned) {
            const auto run = first + task;
            Rng rng(plan_.seed, run);
            const auto labels = run < starts.size()
                                    ? starts[run]
                                    : random_labels(model_.network, plan_.random_clusters, plan_.most, rng);
            population_[run] = Climber<State>(model_, labels, plan_.most, rng, stop_).run(false);
        });
        stream_ = last;
    }

    void evolve(SearchResult& result) {
        std::size_t idle = 0;
        while (result.generations < plan_.generations && idle < patience && !agree() && !stop_) {
            const double before = population_.front().icl;
            breed();
            ++result.generations;
            idle = population_.front().icl > before + least_gain ? 0 : idle + 1;
        }
    }

    /// Annealed runs until one ends where the best solution is: two ways that meet are a good sign.
    void anneal() {
        for (std::size_t run = 0; run < plan_.most_anneals && !stop_; ++run) {
            Rng rng(plan_.seed, stream_++);
            const auto labels = random_labels(model_.network, plan_.random_clusters, plan_.most, rng);
            auto found = Climber<State>(model_, labels, plan_.most, rng, stop_).anneal(plan_.anneal_sweeps);
            auto& best = population_.front();
            if (std::abs(found.icl - best.icl) < least_gain)
                return;
            if (found.icl > best.icl)
                best = std::move(found);
        }
    }

    /// One child for each place of the population; the best of parents and children, no two alike, live on.
    void breed() {
        const auto n = population_.size();
        std::vector<Solution> children(n);
        parallel_for(n, plan_.threads, [&](std::size_t child, unsigned) {
            if (stop_)
                return;
            Rng rng(plan_.seed, stream_ + child);
            children[child] = cross(parent(rng), parent(rng), rng);
        });
        stream_ += n;
        for (auto& child : children)
            if (!child.labels.empty())
                population_.push_back(std::move(child));
        rank();
        drop_twins();
        if (population_.size() > n)
            population_.resize(n);
    }

    /// The better of two drawn at random.
    const Solution& parent(Rng& rng) {
        const auto one = rng.below(population_.size()), other = rng.below(population_.size());
        return population_[std::min(one, other)];
    }

    /// Merges down from the meet of two solutions: what both hold together stays together. A solution that
    /// meets itself is shaken: a quarter of its nodes go to random clusters.
    Solution cross(const Solution& one, const Solution& other, Rng& rng) {
        std::size_t clusters[2];
        auto labels = meet(model_.network, one.labels, other.labels, clusters);
        const bool same = one.labels == other.labels;
        if (same || std::max(clusters[0], clusters[1]) > most_meet_clusters) {
            labels = one.labels;
            for (auto& label : labels)
                if (rng.below(4) == 0)
                    label = labels[rng.below(model_.network.n_rows)]; // a label of the first side
            for (std::size_t i = model_.network.n_rows; i < labels.size(); ++i)
                labels[i] = one.labels[i];
        }
        return Climber<State>(model_, labels, plan_.most, rng, stop_).run(true);
    }

    void rank() {
        std::stable_sort(population_.begin(), population_.end(),
                         [](const Solution& a, const Solution& b) { return a.icl > b.icl; });
    }

    void drop_twins() {
        const auto twins = [](const Solution& a, const Solution& b) { return a.icl - b.icl < least_gain; };
        population_.erase(std::unique(population_.begin(), population_.end(), twins), population_.end());
    }

    bool agree() const {
        const auto icl = [](const Solution& a, const Solution& b) { return a.icl < b.icl; };
        const auto [worst, best] = std::minmax_element(population_.begin(), population_.end(), icl);
        return best->icl - worst->icl < least_gain;
    }

    const BlockModelView<State>& model_;
    const SearchPlan& plan_;
    const StopFlag& stop_;
    std::vector<Solution> population_;
    std::uint64_t stream_ = 0;
};

} // namespace partita
