// Expected losses of the partitions beside an estimate in the Hasse diagram: merges of two clusters, splits
// of one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "draws.hpp"
#include "losses.hpp"

namespace partita {

/// out[left * k + right] = expected loss after merging two clusters; infinite unless left < right.
template <class Label>
std::vector<double> merge_losses(std::span<const std::uint32_t> estimate, const Draws<Label>& draws,
                                 const LossTables& tables, unsigned threads);

/// Split s takes the items part[starts[s]] .. part[starts[s + 1] - 1], a true part of one cluster, out of it.
struct Splits {
    std::span<const std::int64_t> starts, part;

    std::size_t size() const { return starts.size() - 1; }
    std::span<const std::int64_t> operator[](std::size_t s) const {
        return part.subspan(static_cast<std::size_t>(starts[s]),
                            static_cast<std::size_t>(starts[s + 1] - starts[s]));
    }
};

/// out[s] = expected loss after split s.
template <class Label>
std::vector<double> split_losses(std::span<const std::uint32_t> estimate, const Draws<Label>& draws,
                                 const LossTables& tables, const Splits& splits, unsigned threads);

} // namespace partita
