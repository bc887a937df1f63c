// The posterior similarity matrix: the weight of the draws in which two items share a cluster.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/parallel.hpp"
#include "draws/draws.hpp"

namespace partita {

/// Labels stored item by item, with draws ordered by weight, so that runs of equal weight are counted in
/// integers.
template <class Label> class ItemLabels {
public:
    explicit ItemLabels(const Draws<Label>& draws, const common::StopFlag& stop = common::StopFlag{});

    std::size_t n_draws() const { return n_draws_; }
    bool has_gaps() const { return has_gaps_; }
    std::span<const Label> item(std::size_t i) const { return {labels_.data() + i * n_draws_, n_draws_}; }

    struct Run {
        std::size_t begin, end;
        double weight;
    };
    std::span<const Run> runs() const { return runs_; }

private:
    std::size_t n_draws_;
    bool has_gaps_ = false;
    std::vector<Label> labels_;
    std::vector<Run> runs_;
};

/// out[r, c] = P(rows[r] and columns[c] share a cluster), among the draws that label both; NaN if none
/// does. After a request to `stop`, which is also made when `is_over` says so, the values are meaningless.
template <class Label, class Real>
void similarity(const Draws<Label>& draws, std::span<const std::int64_t> rows,
                std::span<const std::int64_t> columns, std::span<Real> out, unsigned threads,
                const common::StopFlag& stop = common::StopFlag{}, const std::function<bool()>& is_over = {});

} // namespace partita
