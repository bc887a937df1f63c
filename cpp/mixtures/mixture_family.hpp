// What the sampler of mixtures asks of a family: clusters of items whose parameters are integrated out. The
// sweep is remove -> score -> insert; an item that stays is only scored.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace partita::models {

/// The items, in whatever form a family reads fastest.
template <class T>
concept ItemTable = requires(const T& table, std::size_t i) {
    { table.n_items() } -> std::same_as<std::size_t>;
    table.item(i);                                    // a view of one item, cheap to copy
    { table.distance(i, i) } -> std::same_as<double>; // of two items: where a split and a start begin
};

/// Sizes and sufficient statistics of several clusters, straight from the data.
template <class S, class F>
concept ClusterSummaries =
    requires(S& summaries, const S& seen, F& family, const typename F::Table& table,
             std::span<const std::uint32_t> items, std::span<const std::uint32_t> labels, std::size_t slot) {
        // item p of the list has labels[p], below `slots`
        summaries.compute(family, table, items, labels, /*slots=*/slot);
        { seen.size(slot) } -> std::same_as<std::uint32_t>;
        // one of them becomes a slot of the family; one without items clears the slot
        seen.assign_to(family, slot, /*source=*/slot);
        // two of them together become another one, or one of the two
        summaries.join(slot, slot, /*target=*/slot);
    };

/// Clusters live in slots 0, 1, ...; a slot of size 0 stands for a new cluster and scores by the prior.
template <class F>
concept MixtureFamily =
    ItemTable<typename F::Table> && ClusterSummaries<typename F::Summaries, F> && std::copyable<F> &&
    requires(F& family, const F& seen, const typename F::Table& table, std::size_t slot, double* out) {
        family.widen(/*stride=*/slot); // room for more slots, a multiple of the lanes
        { seen.size(slot) } -> std::same_as<std::uint32_t>;
        family.clear(slot);
        family.insert(slot, table.item(0));
        family.remove(slot, table.item(0));
        family.copy_slot(seen, /*source=*/slot, /*target=*/slot);
        // adds to out[slot] the log predictive density of an item; slot `own` holds it, and is scored without
        family.score(table.item(0), /*own=*/slot, /*slots=*/slot, out);
        // of the last score: near 0 if taking the item out of `own` would lose all digits
        { seen.own_ratio(/*own=*/slot) } -> std::same_as<double>;
        { seen.log_marginal(slot) } -> std::same_as<double>; // ln p(items of the slot)
        // whether a state that was read has this many slots and only values that a chain can come to
        { seen.fits(/*stride=*/slot) } -> std::same_as<bool>;
    };

} // namespace partita::models
