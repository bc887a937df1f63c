#include "draws/merge_path.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "partition/labels.hpp"

namespace partita {
namespace {

/// A cluster of a draw that several clusters of the estimate share, with the number of items of each.
struct SharedCluster {
    struct Part {
        std::uint32_t cluster, items;
    };
    double weight;
    std::vector<Part> parts;

    std::uint32_t items_of(std::uint32_t cluster) const {
        return std::find_if(parts.begin(), parts.end(), [&](const Part& p) { return p.cluster == cluster; })
            ->items;
    }
};

template <class Label>
std::vector<SharedCluster> shared_clusters(std::span<const std::uint32_t> estimate,
                                           const Draws<Label>& draws) {
    std::vector<SharedCluster> shared;
    std::vector<std::vector<std::uint32_t>> by_label;
    for (std::size_t t = 0; t < draws.n_draws(); ++t) {
        if (draws.weights[t] == 0)
            continue;
        const auto row = draws.draw(t);
        by_label.assign(count_clusters(row), {});
        for (std::size_t i = 0; i < draws.n_items; ++i)
            by_label[row[i]].push_back(estimate[i]);
        for (auto& clusters : by_label) {
            std::sort(clusters.begin(), clusters.end());
            SharedCluster own{draws.weights[t], {}};
            for (const auto cluster : clusters)
                if (own.parts.empty() || own.parts.back().cluster != cluster)
                    own.parts.push_back({cluster, 1});
                else
                    ++own.parts.back().items;
            if (own.parts.size() > 1)
                shared.push_back(std::move(own));
        }
    }
    return shared;
}

class MergePath {
public:
    MergePath(std::span<const std::uint32_t> estimate, std::vector<SharedCluster> shared,
              const MergeWeights& weights)
        : weights_(weights), shared_(std::move(shared)) {
        n_clusters_ = count_clusters(estimate);
        const std::size_t made = 2 * n_clusters_ - 1;
        size_.assign(made, 0);
        alive_.assign(made, 0);
        overlap_.assign(made, 0.0);
        of_cluster_.resize(made);
        for (const auto cluster : estimate)
            ++size_[cluster];
        for (std::uint32_t r = 0; r < shared_.size(); ++r)
            for (const auto& part : shared_[r].parts)
                of_cluster_[part.cluster].push_back(r);
        for (std::uint32_t c = 0; c < n_clusters_; ++c)
            add(c);
    }

    std::vector<Merge> run(const common::StopFlag& stop) {
        std::vector<Merge> path;
        for (std::uint32_t c = 0; c < n_clusters_ && !stop; ++c)
            look_for_partner(c);
        for (auto made = n_clusters_; by_size_.size() > 1 && !stop; ++made) {
            path.push_back(next());
            merge(path.back(), made);
        }
        return path;
    }

private:
    struct Candidate { // the best partner of a cluster among those that were alive when it was looked for
        double change;
        std::uint32_t cluster, partner;
        bool operator<(const Candidate& other) const { // the least is on top; ties by number
            return std::tie(change, cluster, partner) > std::tie(other.change, other.cluster, other.partner);
        }
    };

    double psi(std::uint32_t x, std::uint32_t y) const {
        return weights_.phi[x + y] - weights_.phi[x] - weights_.phi[y];
    }

    void add(std::uint32_t cluster) {
        alive_[cluster] = 1;
        by_size_.emplace(size_[cluster], cluster);
    }

    /// Every pair of clusters that share one is covered: by the one of the two that looked later. A candidate
    /// whose partner is gone is at most as large as the best that is left, so it is renewed when it is met.
    void look_for_partner(std::uint32_t cluster) {
        touched_.clear();
        for (const auto r : of_cluster_[cluster]) {
            const auto own = shared_[r].items_of(cluster);
            for (const auto& part : shared_[r].parts) {
                if (part.cluster == cluster)
                    continue;
                if (overlap_[part.cluster] == 0)
                    touched_.push_back(part.cluster);
                overlap_[part.cluster] += shared_[r].weight * psi(own, part.items);
            }
        }
        Candidate best{std::numeric_limits<double>::infinity(), cluster, no_cluster};
        for (const auto other : touched_) {
            const double change = weights_.b * psi(size_[cluster], size_[other]) -
                                  (weights_.a + weights_.b) * std::exchange(overlap_[other], 0.0);
            if (std::tie(change, other) < std::tie(best.change, best.partner))
                best = {change, cluster, other};
        }
        if (best.partner != no_cluster)
            candidates_.push(best);
    }

    Merge next() {
        while (!candidates_.empty()) {
            const auto top = candidates_.top();
            if (alive_[top.cluster] && alive_[top.partner])
                break;
            candidates_.pop();
            if (alive_[top.cluster])
                look_for_partner(top.cluster);
        }
        const auto [smallest, second] = two_smallest();
        const double unshared = weights_.b * psi(size_[smallest], size_[second]);
        if (candidates_.empty() || unshared < candidates_.top().change)
            return merge_of(smallest, second, unshared);
        const auto best = candidates_.top();
        return merge_of(best.cluster, best.partner, best.change);
    }

    std::pair<std::uint32_t, std::uint32_t> two_smallest() const {
        const auto first = by_size_.begin();
        return {first->second, std::next(first)->second};
    }

    Merge merge_of(std::uint32_t x, std::uint32_t y, double change) const {
        return {std::min(x, y), std::max(x, y), size_[x] + size_[y], change};
    }

    void merge(const Merge& merge, std::uint32_t made) {
        for (const auto part : {merge.left, merge.right}) {
            alive_[part] = 0;
            by_size_.erase({size_[part], part});
        }
        size_[made] = merge.size;
        for (const auto part : {merge.left, merge.right})
            for (const auto r : std::exchange(of_cluster_[part], {}))
                if (shared_[r].parts.size() > 1) // else no_cluster shares it any more
                    rename(r, part, made);
        add(made);
        look_for_partner(made);
    }

    /// A part of a shared cluster becomes one of the new cluster.
    void rename(std::uint32_t r, std::uint32_t part, std::uint32_t made) {
        auto& parts = shared_[r].parts;
        const auto find = [&](std::uint32_t cluster) {
            return std::find_if(parts.begin(), parts.end(),
                                [&](const auto& p) { return p.cluster == cluster; });
        };
        const auto own = find(part), other = find(made);
        if (other == parts.end()) {
            own->cluster = made;
            of_cluster_[made].push_back(r);
            return;
        }
        other->items += own->items;
        *own = parts.back();
        parts.pop_back();
    }

    MergeWeights weights_;
    std::uint32_t n_clusters_ = 0; // of the estimate
    std::vector<SharedCluster> shared_;
    std::vector<std::vector<std::uint32_t>> of_cluster_; // the shared clusters of each cluster
    std::vector<std::uint32_t> size_, touched_;
    std::vector<char> alive_;
    std::vector<double> overlap_; // E sum_T psi with each cluster, while a partner is looked for
    std::set<std::pair<std::uint32_t, std::uint32_t>> by_size_;
    std::priority_queue<Candidate> candidates_;
};

} // namespace

template <class Label>
std::vector<Merge> merge_path(std::span<const std::uint32_t> estimate, const Draws<Label>& draws,
                              const MergeWeights& weights, const common::StopFlag& stop) {
    return MergePath(estimate, shared_clusters(estimate, draws), weights).run(stop);
}

#define INSTANTIATE(Label)                                                                                   \
    template std::vector<Merge> merge_path(std::span<const std::uint32_t>, const Draws<Label>&,              \
                                           const MergeWeights&, const common::StopFlag&);
PARTITA_FOR_EACH_LABEL(INSTANTIATE)
#undef INSTANTIATE

} // namespace partita
