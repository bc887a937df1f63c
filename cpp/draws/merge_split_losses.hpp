// Expected losses of the neighbours of an estimate in the Hasse diagram: merges of two clusters and splits of
// one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "draws/draws.hpp"
#include "draws/losses.hpp"

namespace partita {

/// out[left * k + right] = expected loss after merging two clusters; infinite unless left < right. Empty if
/// `stop` is set.
template <class Label>
std::vector<double> merge_losses(std::span<const std::uint32_t> estimate, const Draws<Label>& draws,
                                 const LossTables& tables, unsigned threads, const common::StopFlag& stop);

/// Split s removes the items part[starts[s]] .. part[starts[s + 1] - 1], a proper subset, from their cluster.
struct Splits {
    std::span<const std::int64_t> starts, part;

    std::size_t size() const { return starts.size() - 1; }
    std::span<const std::int64_t> operator[](std::size_t s) const {
        return part.subspan(static_cast<std::size_t>(starts[s]),
                            static_cast<std::size_t>(starts[s + 1] - starts[s]));
    }
};

/// out[s] = expected loss after split s. Empty if `stop` is set.
template <class Label>
std::vector<double> split_losses(std::span<const std::uint32_t> estimate, const Draws<Label>& draws,
                                 const LossTables& tables, const Splits& splits, unsigned threads,
                                 const common::StopFlag& stop);

} // namespace partita
