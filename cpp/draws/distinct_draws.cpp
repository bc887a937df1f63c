#include "draws/distinct_draws.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "common/parallel.hpp"

namespace partita {
namespace {

std::uint64_t hash_labels(std::span<const std::uint32_t> labels) {
    constexpr std::uint64_t odd = 0xd6e8feb86659fd93u;
    std::uint64_t hash = 0x9e3779b97f4a7c15u;
    auto mix = [&hash](std::uint64_t word) { hash = std::rotl((hash ^ word) * odd, 29); };
    std::size_t i = 0;
    for (; i + 1 < labels.size(); i += 2) // two at a time: each step waits for the one before
        mix(labels[i] | std::uint64_t{labels[i + 1]} << 32);
    if (i < labels.size())
        mix(labels[i]);
    return (hash ^ hash >> 32) * odd;
}

/// The largest number of clusters a type can label; all bits set stays free for the gap, and with gaps the
/// sign bit stays free too.
template <class Label> constexpr std::uint64_t capacity(bool has_gaps) {
    return has_gaps ? (std::uint64_t{gap<Label>} + 1) / 2 : std::uint64_t{gap<Label>};
}

template <class Wide> LabelStore widen(const LabelStore& store) {
    return std::visit(
        [](const auto& narrow) -> LabelStore {
            using Narrow = typename std::decay_t<decltype(narrow)>::value_type;
            std::vector<Wide> wide(narrow.size());
            std::ranges::transform(narrow, wide.begin(), [](Narrow label) {
                return label == gap<Narrow> ? gap<Wide> : static_cast<Wide>(label);
            });
            return wide;
        },
        store);
}

void make_room(LabelStore& store, std::uint64_t clusters, bool has_gaps) {
    if (store.index() < 1 && clusters > capacity<std::uint8_t>(has_gaps))
        store = widen<std::uint16_t>(store);
    if (store.index() < 2 && clusters > capacity<std::uint16_t>(has_gaps))
        store = widen<std::uint32_t>(store);
}

/// A narrow gap is all bits set, just what is left of a wide one.
void append(LabelStore& store, std::span<const std::uint32_t> row) {
    std::visit(
        [row](auto& labels) {
            using Label = typename std::decay_t<decltype(labels)>::value_type;
            const auto old_size = labels.size();
            labels.resize(old_size + row.size());
            std::ranges::transform(row, labels.begin() + static_cast<std::ptrdiff_t>(old_size),
                                   [](std::uint32_t label) { return static_cast<Label>(label); });
        },
        store);
}

/// The row must fit the type of the store, or different rows could look the same.
bool equals(const LabelStore& store, std::size_t at, std::span<const std::uint32_t> row) {
    return std::visit(
        [at, row](const auto& labels) {
            using Label = typename std::decay_t<decltype(labels)>::value_type;
            const auto stored = std::span(labels).subspan(at * row.size(), row.size());
            return std::ranges::equal(stored, row, [](Label left, std::uint32_t right) {
                return left == static_cast<Label>(right);
            });
        },
        store);
}

} // namespace

template <class Input> void SampleBuilder::add(std::span<const Input> block, unsigned threads) {
    constexpr std::size_t labels_per_task = 1 << 15;
    const std::size_t n_rows = block.size() / n_items_;
    const std::size_t rows_per_task = std::max<std::size_t>(1, labels_per_task / n_items_);
    const std::size_t n_tasks = (n_rows + rows_per_task - 1) / rows_per_task;
    canonical_.resize(block.size());
    canonicalisers_.resize(std::max<std::size_t>({canonicalisers_.size(), threads, 1}));
    std::vector<Row> rows(n_rows);

    common::parallel_for(n_tasks, threads, [&](std::size_t task, unsigned worker) {
        const auto end = std::min(n_rows, (task + 1) * rows_per_task);
        for (std::size_t r = task * rows_per_task; r < end; ++r) {
            const auto out = std::span(canonical_).subspan(r * n_items_, n_items_);
            const auto clusters = canonicalisers_[worker](block.subspan(r * n_items_, n_items_), out);
            rows[r] = {out, hash_labels(out) & hash_mask_, clusters};
        }
    });
    if constexpr (std::is_signed_v<Input>)
        draws_.has_gaps = draws_.has_gaps || std::ranges::any_of(canonical_, [](auto label) {
                              return label == gap<std::uint32_t>;
                          });
    draws_.index.reserve(draws_.index.size() + n_rows);
    for (const auto& row : rows)
        draws_.index.push_back(find_or_store(row));
}

std::int64_t SampleBuilder::find_or_store(const Row& row) {
    max_clusters_ = std::max(max_clusters_, row.clusters);
    make_room(draws_.labels, max_clusters_, draws_.has_gaps);
    const auto [first, last] = rows_by_hash_.equal_range(row.hash);
    for (auto candidate = first; candidate != last; ++candidate) {
        const auto at = candidate->second;
        if (equals(draws_.labels, static_cast<std::size_t>(at), row.labels)) {
            ++draws_.counts[static_cast<std::size_t>(at)];
            return at;
        }
    }
    const auto at = static_cast<std::int64_t>(draws_.counts.size());
    append(draws_.labels, row.labels);
    draws_.counts.push_back(1);
    rows_by_hash_.emplace(row.hash, at);
    return at;
}

UniqueDraws SampleBuilder::finish() {
    make_room(draws_.labels, max_clusters_, draws_.has_gaps); // gaps may have come after the widest draw
    auto result = std::move(draws_);
    *this = SampleBuilder(n_items_, hash_mask_);
    return result;
}

template void SampleBuilder::add(std::span<const std::int8_t>, unsigned);
template void SampleBuilder::add(std::span<const std::int16_t>, unsigned);
template void SampleBuilder::add(std::span<const std::int32_t>, unsigned);
template void SampleBuilder::add(std::span<const std::int64_t>, unsigned);
template void SampleBuilder::add(std::span<const std::uint8_t>, unsigned);
template void SampleBuilder::add(std::span<const std::uint16_t>, unsigned);
template void SampleBuilder::add(std::span<const std::uint32_t>, unsigned);
template void SampleBuilder::add(std::span<const std::uint64_t>, unsigned);

} // namespace partita
