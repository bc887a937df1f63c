#include "draws/differing_items.hpp"

#include <algorithm>
#include <utility>

#include "draws/sparse_state.hpp"
#include "partition/blockwise_best.hpp"
#include "partition/first_appearance.hpp"
#include "partition/labels.hpp"

namespace partita::search {

std::vector<std::uint32_t> differing_items(const std::vector<Run>& runs) {
    std::vector<const Labels*> partitions;
    for (const auto& run : runs)
        partitions.push_back(&run.labels);
    std::vector<std::uint32_t> items;
    for (const auto& block : differing_blocks(partitions))
        items.insert(items.end(), block.begin(), block.end());
    std::sort(items.begin(), items.end());
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
