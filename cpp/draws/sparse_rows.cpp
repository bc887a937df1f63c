#include "draws/sparse_rows.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "common/parallel.hpp"
#include "draws/cluster_table.hpp"

namespace partita::search {
namespace {

constexpr std::size_t draws_at_a_time = 8;
constexpr std::size_t n_shards = 16; // fixed, so that rows and sums do not depend on threads

/// Goes through the draws, some at a time, and calls take(draw after draw of clusters) for each batch.
template <class Label, class Take>
void for_each_batch(const Draws<Label>& draws, std::span<const std::uint32_t> chosen,
                    std::span<const std::uint32_t> ranks, unsigned threads, Take take) {
    const auto keys = random_keys(draws.n_items);
    for (std::size_t begin = 0; begin < chosen.size(); begin += draws_at_a_time) {
        std::vector<std::vector<DistinctCluster>> batch(std::min(draws_at_a_time, chosen.size() - begin));
        common::parallel_for(batch.size(), threads, [&](std::size_t place, unsigned) {
            const auto t = static_cast<std::uint32_t>(begin + place);
            batch[place] = clusters_of(draws.draw(chosen[t]), t, keys, [&](auto i) { return ranks[i]; });
            std::erase_if(batch[place], [](const DistinctCluster& cluster) { return cluster.size < 2; });
        });
        take(batch);
    }
}

/// The distinct clusters of all draws and, in the same order, their coefficients.
template <class Label>
std::vector<DistinctCluster> distinct(const Draws<Label>& draws, std::span<const std::uint32_t> chosen,
                                      std::span<const double> coefficients,
                                      std::span<const std::uint32_t> ranks, unsigned threads,
                                      std::vector<double>& summed, std::size_t& n_seen) {
    std::array<ClusterTable, n_shards> shards;
    for_each_batch(draws, chosen, ranks, threads, [&](const auto& batch) {
        for (const auto& clusters : batch)
            n_seen += clusters.size();
        common::parallel_for(n_shards, threads, [&](std::size_t shard, unsigned) {
            for (const auto& clusters : batch)
                for (const auto& cluster : clusters)
                    if (cluster.sum.low % n_shards == shard)
                        shards[shard].add(cluster, coefficients[cluster.draw]);
        });
    });
    std::vector<DistinctCluster> found;
    for (auto& shard : shards) {
        found.insert(found.end(), shard.clusters.begin(), shard.clusters.end());
        summed.insert(summed.end(), shard.coefficients.begin(), shard.coefficients.end());
        shard = {};
    }
    return found;
}

/// Numbers in the order of each cluster's smallest item.
std::vector<std::uint32_t> order_by_first_item(std::span<const DistinctCluster> found, std::size_t n_items) {
    std::vector<std::uint32_t> next(n_items + 1), order(found.size());
    for (const auto& cluster : found)
        ++next[cluster.first_item + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (std::uint32_t number = 0; number < found.size(); ++number)
        order[next[found[number].first_item]++] = number;
    return order;
}

/// Lists the items of every row: each row was first seen in one draw, so that draws write to rows of their
/// own.
template <class Label>
void list_items(const Draws<Label>& draws, std::span<const std::uint32_t> chosen,
                std::span<const DistinctCluster> found, std::span<const std::uint32_t> order,
                std::span<const std::uint32_t> ranks, unsigned threads, SparseRows& rows) {
    rows.row_begin.assign(order.size() + 1, 0);
    for (std::size_t row = 0; row < order.size(); ++row)
        rows.row_begin[row + 1] = rows.row_begin[row] + found[order[row]].size;
    rows.items.resize(rows.row_begin.back());
    std::vector<std::vector<std::uint32_t>> first_seen(chosen.size());
    for (std::uint32_t row = 0; row < order.size(); ++row)
        first_seen[found[order[row]].draw].push_back(row);
    common::parallel_for(chosen.size(), threads, [&](std::size_t t, unsigned) {
        const auto labels = draws.draw(chosen[t]);
        std::vector<std::size_t> next(count_clusters(labels), rows.items.size());
        for (const auto row : first_seen[t])
            next[found[order[row]].label] = rows.row_begin[row];
        for (std::uint32_t i = 0; i < labels.size(); ++i)
            if (labels[i] != gap<Label> && next[labels[i]] < rows.items.size())
                rows.items[next[labels[i]]++] = ranks[i];
        for (const auto row : first_seen[t])
            std::sort(rows.items.begin() + static_cast<std::ptrdiff_t>(rows.row_begin[row]),
                      rows.items.begin() + static_cast<std::ptrdiff_t>(rows.row_begin[row + 1]));
        first_seen[t] = {};
    });
}

/// Places in one list after another, from how many each holds.
std::vector<std::size_t> begins(std::span<const std::uint32_t> counts) {
    std::vector<std::size_t> begin(counts.size() + 1, 0);
    std::partial_sum(counts.begin(), counts.end(), begin.begin() + 1, std::plus<std::size_t>());
    return begin;
}

/// Moves the rows of two items to these items, and lists the others item by item.
void list_by_item(std::size_t n_items, SparseRows& rows) {
    std::vector<std::uint32_t> n_pairs(n_items, 0), n_rows(n_items, 0), n_others(n_items, 0);
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
        const auto size = rows.items_of(row).size();
        for (const auto i : rows.items_of(row)) {
            ++(size == 2 ? n_pairs : n_rows)[i];
            if (size > 2 && size <= SparseRows::max_short)
                n_others[i] += static_cast<std::uint32_t>(size - 1);
        }
    }
    rows.pair_begin = begins(n_pairs);
    rows.item_begin = begins(n_rows);
    rows.other_begin = begins(n_others);
    rows.pairs.resize(rows.pair_begin.back());
    rows.rows.resize(rows.item_begin.back());
    rows.others.resize(rows.other_begin.back());
    auto next_pair = rows.pair_begin, next_row = rows.item_begin, next_other = rows.other_begin;
    const auto n_all = rows.size();
    std::size_t kept = 0, end = 0, first_item = 0;
    for (std::size_t row = 0; row < n_all; ++row, first_item = end) {
        end = rows.row_begin[row + 1];
        const auto draw = rows.draws.empty() ? 0u : rows.draws[row];
        const auto coefficient = rows.coefficients.empty() ? 0.0 : rows.coefficients[row];
        if (end - first_item == 2) {
            const auto i = rows.items[first_item], j = rows.items[first_item + 1];
            rows.pairs[next_pair[i]++] = {j, draw, coefficient};
            rows.pairs[next_pair[j]++] = {i, draw, coefficient};
            continue;
        }
        const auto begin = rows.row_begin[kept];
        std::copy(rows.items.begin() + static_cast<std::ptrdiff_t>(first_item),
                  rows.items.begin() + static_cast<std::ptrdiff_t>(end),
                  rows.items.begin() + static_cast<std::ptrdiff_t>(begin));
        if (rows.draws.empty())
            rows.coefficients[kept] = coefficient;
        else
            rows.draws[kept] = draw;
        rows.row_begin[++kept] = begin + end - first_item;
        const auto own = rows.items_of(kept - 1);
        const bool is_short = own.size() <= SparseRows::max_short;
        for (const auto i : own) {
            rows.rows[next_row[i]++] = {static_cast<std::uint32_t>(kept - 1),
                                        is_short ? static_cast<std::uint32_t>(own.size() - 1) : 0,
                                        coefficient};
            if (is_short)
                for (const auto j : own)
                    if (j != i)
                        rows.others[next_other[i]++] = j;
        }
    }
    rows.row_begin.resize(kept + 1);
    rows.items.resize(rows.row_begin.back());
    rows.coefficients.resize(std::min(kept, rows.coefficients.size()));
    rows.draws.resize(std::min(kept, rows.draws.size()));
    rows.items.shrink_to_fit();
}

} // namespace

SparseRows restricted(const SparseRows& all, std::span<const std::uint32_t> items) {
    std::vector<std::uint32_t> numbers(all.item_begin.size() - 1, no_cluster);
    for (std::uint32_t place = 0; place < items.size(); ++place)
        numbers[items[place]] = place;
    SparseRows rows;
    rows.n_seen = all.n_seen;
    auto keep_row = [&](double coefficient) { // of the items that were added last, if there are two
        if (rows.items.size() < rows.row_begin.back() + 2)
            return rows.items.resize(rows.row_begin.back());
        rows.row_begin.push_back(rows.items.size());
        rows.coefficients.push_back(coefficient);
    };
    for (std::size_t row = 0; row < all.size(); ++row) {
        for (const auto i : all.items_of(row))
            if (numbers[i] != no_cluster)
                rows.items.push_back(numbers[i]);
        keep_row(all.coefficients[row]);
    }
    for (const auto i : items)
        for (const auto& pair : all.pairs_of(i))
            if (numbers[pair.other] != no_cluster && numbers[i] < numbers[pair.other]) {
                rows.items.insert(rows.items.end(), {numbers[i], numbers[pair.other]});
                keep_row(pair.coefficient);
            }
    list_by_item(items.size(), rows);
    return rows;
}

template <class Label>
SparseRows find_sparse_rows(const Draws<Label>& draws, std::span<const std::uint32_t> chosen,
                            std::span<const double> coefficients, std::span<const std::uint32_t> ranks,
                            unsigned threads) {
    SparseRows rows;
    std::vector<DistinctCluster> found;
    std::vector<double> summed;
    if (!coefficients.empty())
        found = distinct(draws, chosen, coefficients, ranks, threads, summed, rows.n_seen);
    else
        for_each_batch(draws, chosen, ranks, threads, [&](const auto& batch) {
            for (const auto& clusters : batch)
                found.insert(found.end(), clusters.begin(), clusters.end());
        });
    if (coefficients.empty())
        rows.n_seen = found.size();
    const auto order = order_by_first_item(found, draws.n_items);
    for (const auto number : order) {
        if (coefficients.empty())
            rows.draws.push_back(found[number].draw);
        else
            rows.coefficients.push_back(summed[number]);
    }
    list_items(draws, chosen, found, order, ranks, threads, rows);
    list_by_item(draws.n_items, rows);
    return rows;
}

#define INSTANTIATE(Label)                                                                                   \
    template SparseRows find_sparse_rows(const Draws<Label>&, std::span<const std::uint32_t>,                \
                                         std::span<const double>, std::span<const std::uint32_t>, unsigned);
PARTITA_FOR_EACH_LABEL(INSTANTIATE)
#undef INSTANTIATE

} // namespace partita::search
