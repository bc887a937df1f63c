#include "draws/enumerate.hpp"

#include <algorithm>
#include <limits>

namespace partita {

namespace {

using Prefix = std::vector<std::uint32_t>;

constexpr std::size_t prefix_length = 6; // 203 tasks: enough for any number of threads

/// What the labels of earlier items allow for each item.
class Allowed {
public:
    Allowed(const Restrictions& restrictions, std::size_t n_items)
        : leader_(n_items), apart_(restrictions.apart), max_size_(restrictions.max_size) {
        for (std::uint32_t i = 0; i < n_items; ++i)
            leader_[i] = i;
        for (const auto& atom : restrictions.atoms)
            for (const auto i : atom)
                leader_[i] = *std::min_element(atom.begin(), atom.end());
        apart_.resize(n_items);
    }

    bool operator()(std::span<const std::uint32_t> labels, std::size_t i, std::uint32_t k) const {
        if (leader_[i] < i && labels[leader_[i]] != k)
            return false;
        if (i >= max_size_ &&
            static_cast<std::size_t>(std::count(labels.begin(), labels.begin() + i, k)) >= max_size_)
            return false;
        return std::none_of(apart_[i].begin(), apart_[i].end(),
                            [&](std::uint32_t other) { return other < i && labels[other] == k; });
    }

private:
    std::vector<std::uint32_t> leader_; // the first item of the atom
    std::vector<std::vector<std::uint32_t>> apart_;
    std::size_t max_size_;
};

void grow(Prefix& prefix, std::size_t length, std::size_t max_clusters, const Allowed& allowed,
          std::vector<Prefix>& out) {
    if (prefix.size() == length) {
        out.push_back(prefix);
        return;
    }
    const auto used = static_cast<std::size_t>(count_clusters(std::span<const std::uint32_t>(prefix)));
    for (std::uint32_t k = 0; k < std::min(used + 1, max_clusters); ++k) {
        if (!allowed(prefix, prefix.size(), k))
            continue;
        prefix.push_back(k);
        grow(prefix, length, max_clusters, allowed, out);
        prefix.pop_back();
    }
}

/// A walk below one prefix. Sums are kept for each depth, so that nothing is ever subtracted.
template <class Label> class Walk {
public:
    Walk(const Draws<Label>& draws, const LossTables& tables, std::size_t max_clusters,
         const Allowed& allowed, const common::StopFlag& stop)
        : draws_(draws), tables_(tables), max_clusters_(max_clusters), allowed_(allowed), stop_(stop),
          cells_(draws.n_draws() * draws.n_items * draws.n_items, 0),
          columns_(draws.n_draws() * draws.n_items, 0),
          sums_(draws.n_items + 1, std::vector<Sums>(draws.n_draws())), losses_(draws.n_draws()),
          labels_(draws.n_items) {
        for (std::size_t t = 0; t < draws.n_draws(); ++t) {
            std::size_t known = 0;
            auto& sums = sums_[0][t];
            for (const auto size : cluster_sizes(draws.draw(t))) {
                sums.draw += tables.draw()[size];
                known += size;
            }
            sums.n = static_cast<double>(known);
            sums.total = tables.joint()[known];
        }
    }

    Enumerated run(const Prefix& prefix) {
        best_ = {{}, std::numeric_limits<double>::infinity()};
        std::uint32_t used = 0;
        for (std::size_t i = 0; i < prefix.size(); ++i) {
            insert(i, prefix[i]);
            used = std::max(used, prefix[i] + 1);
        }
        visit(prefix.size(), used);
        for (std::size_t i = 0; i < prefix.size(); ++i)
            remove(i, prefix[i]);
        return best_;
    }

private:
    void visit(std::size_t i, std::uint32_t used) {
        if (i == draws_.n_items)
            return score();
        if (stop_)
            return;
        const auto choices = std::min<std::size_t>(used + 1, max_clusters_);
        for (std::uint32_t k = 0; k < choices; ++k) {
            if (!allowed_(labels_, i, k))
                continue;
            insert(i, k);
            visit(i + 1, std::max(used, k + 1));
            remove(i, k);
        }
    }

    void insert(std::size_t i, std::uint32_t k) {
        labels_[i] = k;
        for (std::size_t t = 0; t < draws_.n_draws(); ++t) {
            auto& next = sums_[i + 1][t] = sums_[i][t];
            const auto r = draws_.draw(t)[i];
            if (r == gap<Label>)
                continue;
            const auto cell = cell_of(t, r, k)++;
            const auto column = column_of(t, k)++;
            next.joint += tables_.joint()[cell + 1u] - tables_.joint()[cell];
            next.estimate += tables_.estimate()[column + 1u] - tables_.estimate()[column];
        }
    }

    void remove(std::size_t i, std::uint32_t k) {
        for (std::size_t t = 0; t < draws_.n_draws(); ++t)
            if (const auto r = draws_.draw(t)[i]; r != gap<Label>) {
                --cell_of(t, r, k);
                --column_of(t, k);
            }
    }

    void score() {
        tables_.combine(sums_[draws_.n_items], losses_);
        double loss = 0;
        for (std::size_t t = 0; t < losses_.size(); ++t)
            loss += draws_.weights[t] * losses_[t];
        if (loss < best_.loss)
            best_ = {labels_, loss};
    }

    std::uint8_t& cell_of(std::size_t t, std::size_t r, std::size_t k) {
        return cells_[(t * draws_.n_items + r) * draws_.n_items + k];
    }
    std::uint8_t& column_of(std::size_t t, std::size_t k) { return columns_[t * draws_.n_items + k]; }

    const Draws<Label>& draws_;
    const LossTables& tables_;
    std::size_t max_clusters_;
    const Allowed& allowed_;
    const common::StopFlag& stop_;
    std::vector<std::uint8_t> cells_, columns_; // counts to 255
    std::vector<std::vector<Sums>> sums_;
    std::vector<double> losses_;
    std::vector<std::uint32_t> labels_;
    Enumerated best_;
};

} // namespace

template <class Label>
Enumerated enumerate_best(const Draws<Label>& draws, const LossTables& tables, std::size_t max_clusters,
                          const Restrictions& restrictions, unsigned threads, const common::StopFlag& stop) {
    std::vector<Prefix> prefixes;
    Prefix empty;
    const Allowed allowed(restrictions, draws.n_items);
    grow(empty, std::min(draws.n_items, prefix_length), max_clusters, allowed, prefixes);
    std::vector<Enumerated> found(prefixes.size());
    common::parallel_for(prefixes.size(), threads, stop, [&](std::size_t task, unsigned) {
        found[task] = Walk<Label>(draws, tables, max_clusters, allowed, stop).run(prefixes[task]);
    });
    Enumerated best{{}, std::numeric_limits<double>::infinity()};
    for (auto& candidate : found)
        if (candidate.loss < best.loss)
            best = std::move(candidate);
    return best;
}

#define INSTANTIATE(Label)                                                                                   \
    template Enumerated enumerate_best(const Draws<Label>&, const LossTables&, std::size_t,                  \
                                       const Restrictions&, unsigned, const common::StopFlag&);
PARTITA_FOR_EACH_LABEL(INSTANTIATE)
#undef INSTANTIATE

} // namespace partita
