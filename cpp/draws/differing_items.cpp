#include "draws/differing_items.hpp"

#include <algorithm>
#include <utility>

#include "common/union_find.hpp"
#include "draws/sparse_state.hpp"
#include "partition/first_appearance.hpp"
#include "partition/labels.hpp"

namespace partita::search {

std::vector<std::uint32_t> differing_items(const std::vector<Run>& runs) {
    const auto n = static_cast<std::uint32_t>(runs.front().labels.size());
    UnionFind blocks(n);
    for (const auto& run : runs) {
        std::vector<std::uint32_t> first(run.clusters, no_cluster);
        for (std::uint32_t i = 0; i < n; ++i)
            if (auto& other = first[run.labels[i]]; other == no_cluster)
                other = i;
            else
                blocks.join(other, i);
    }
    // Runs that agree on a block have all of it in one cluster.
    std::vector<bool> differs(n);
    for (const auto& run : runs)
        for (std::uint32_t i = 0; i < n; ++i)
            if (const auto root = blocks.find(i); run.labels[i] != run.labels[root])
                differs[root] = true;
    std::vector<std::uint32_t> items;
    for (std::uint32_t i = 0; i < n; ++i)
        if (differs[blocks.find(i)])
            items.push_back(i);
    return items;
}

std::vector<std::uint32_t> restricted_labels(std::span<const std::uint32_t> labels,
                                             std::span<const std::uint32_t> items) {
    std::vector<std::uint32_t> own;
    own.reserve(items.size());
    common::FirstAppearance name(labels.size());
    for (const auto i : items)
        own.push_back(labels[i] == no_cluster ? no_cluster : name(labels[i]));
    return own;
}

void PartialProblem::complete(Run& run) const {
    auto labels = labels_;
    for (std::size_t place = 0; place < items_.size(); ++place) // above every label of the other items
        labels[items_[place]] = static_cast<std::uint32_t>(labels.size()) + run.labels[place];
    run.clusters = renumber(labels);
    run.labels = std::move(labels);
}

DifferingItems::DifferingItems(const SparseProblem& whole, std::vector<std::uint32_t> items,
                               const Run& agreed)
    : PartialProblem(whole, std::move(items), agreed.labels, 0) {
    SparseState state(problem_, static_cast<std::uint32_t>(items_.size()));
    state.assign(restrict(labels_));
    problem_.add_constant(agreed.loss / whole.unit() - whole.loss_of(state.value()) / whole.unit());
}

} // namespace partita::search
