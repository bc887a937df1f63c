#include "pairs/from_draws.hpp"

#include <algorithm>

#include "pairs/gains.hpp"

namespace partita::pairs {

namespace {

constexpr std::size_t items_per_task = 1024;

/// The weight of the draws that label both items.
template <class Label> double weight_of_both(const Draws<Label>& draws, std::uint32_t i, std::uint32_t j) {
    double weight = 0;
    for (std::size_t t = 0; t < draws.n_draws(); ++t)
        if (draws.draw(t)[i] != gap<Label> && draws.draw(t)[j] != gap<Label>)
            weight += draws.weights[t];
    return weight;
}

template <class Label> class Collector {
public:
    Collector(const Draws<Label>& draws, double above) : draws_(&draws), above_(above) {
        for (std::size_t t = 0; t < draws.n_draws(); ++t) {
            clusters_.push_back(listed(draws.draw(t), count_clusters(draws.draw(t))));
            has_gaps_ |= clusters_.back().values.size() < draws.n_items;
        }
    }

    /// The pairs of an item with later ones.
    void collect(std::uint32_t i, KeyedSums& together, PairList& out) const {
        together.clear();
        for (std::size_t t = 0; t < clusters_.size(); ++t)
            if (const auto label = draws_->draw(t)[i]; label != gap<Label>) {
                const auto items = clusters_[t][label];
                for (auto j = std::upper_bound(items.begin(), items.end(), i); j < items.end(); ++j)
                    together.add(*j, draws_->weights[t]);
            }
        std::vector<std::uint32_t> others(together.keys().begin(), together.keys().end());
        std::sort(others.begin(), others.end());
        for (const auto j : others) {
            const auto both = has_gaps_ ? weight_of_both(*draws_, i, j) : 1.0;
            if (const auto probability = std::min(together[j] / both, 1.0); probability > above_) {
                out.left.push_back(i);
                out.right.push_back(j);
                out.probability.push_back(probability);
            }
        }
    }

private:
    const Draws<Label>* draws_;
    double above_;
    bool has_gaps_ = false;
    std::vector<Lists> clusters_; // of each draw
};

template <class T> void append(std::vector<T>& all, const std::vector<T>& more) {
    all.insert(all.end(), more.begin(), more.end());
}

} // namespace

template <class Label>
PairList pairs_of(const Draws<Label>& draws, double above, unsigned threads, const common::StopFlag& stop) {
    const Collector<Label> collector(draws, above);
    const auto n_tasks = (draws.n_items + items_per_task - 1) / items_per_task;
    std::vector<PairList> parts(n_tasks);
    std::vector<KeyedSums> together(std::max(threads, 1u), KeyedSums(draws.n_items));
    common::parallel_for(n_tasks, threads, stop, [&](std::size_t task, unsigned worker) {
        const auto end = std::min(draws.n_items, (task + 1) * items_per_task);
        for (auto i = task * items_per_task; i < end && !stop; ++i)
            collector.collect(static_cast<std::uint32_t>(i), together[worker], parts[task]);
    });
    PairList all;
    for (auto& part : parts) {
        append(all.left, part.left);
        append(all.right, part.right);
        append(all.probability, part.probability);
        part = {};
    }
    return all;
}

#define INSTANTIATE(Label)                                                                                   \
    template PairList pairs_of(const Draws<Label>&, double, unsigned, const common::StopFlag&);
PARTITA_FOR_EACH_LABEL(INSTANTIATE)
#undef INSTANTIATE

} // namespace partita::pairs
