// Draws in, distinct draws out: canonical labels in the smallest type, each with its multiplicity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "draws/canonical.hpp"

namespace partita {

/// Labels of many draws, stored draw by draw in the smallest type that can hold them.
using LabelStore =
    std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<std::uint32_t>>;

struct UniqueDraws {
    LabelStore labels;                 // in order of first appearance
    std::vector<std::uint64_t> counts; // number of occurrences of each
    std::vector<std::int64_t> index;   // for every draw, the row of `labels` that equals it
    bool has_gaps = false;             // labels then also fit the signed type of the same width
};

/// Collects draws block by block, so that they need never be in memory all at once.
class SampleBuilder {
public:
    /// `hash_mask` keeps only some bits of the row hashes; tests use it to force collisions.
    explicit SampleBuilder(std::size_t n_items, std::uint64_t hash_mask = ~std::uint64_t{0})
        : n_items_(n_items), hash_mask_(hash_mask) {}

    /// Adds the draws of a row-major block; a negative label is missing. Needs 4 bytes per label of the
    /// block.
    template <class Input> void add(std::span<const Input> block, unsigned threads);

    /// Returns the collected draws and leaves the builder empty.
    UniqueDraws finish();

    std::size_t n_items() const { return n_items_; }

private:
    struct Row {
        std::span<const std::uint32_t> labels;
        std::uint64_t hash;
        std::uint32_t clusters;
    };

    std::int64_t find_or_store(const Row& row);

    std::size_t n_items_;
    std::uint64_t hash_mask_;
    UniqueDraws draws_;
    std::uint32_t max_clusters_ = 0;
    std::unordered_multimap<std::uint64_t, std::int64_t> rows_by_hash_;
    std::vector<std::uint32_t> canonical_; // the current block
    std::vector<common::Canonicaliser> canonicalisers_;
};

} // namespace partita
