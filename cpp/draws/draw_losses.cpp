#include "draws/draw_losses.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "common/clones.hpp"
#include "common/work.hpp"
#include "draws/cluster_table.hpp"
#include "draws/linear_loss.hpp"

namespace partita {
namespace {

using Word = std::uint64_t;

constexpr double steps_beside_words = 4;  // of one pair of clusters
constexpr std::size_t block_of_rows = 16; // that a thread takes at a time

/// The distinct clusters of all draws as bit sets over the items, with the weight of the draws that have
/// them.
struct Clusters {
    std::size_t n_words = 0;
    std::vector<Word> bits; // cluster after cluster
    std::vector<double> weights;
    std::vector<std::uint32_t> sizes;
    std::vector<std::vector<std::uint32_t>> of_draw; // the clusters of each draw

    std::size_t count() const { return weights.size(); }
    const Word* begin_of(std::size_t cluster) const { return bits.data() + cluster * n_words; }
};

/// None if to compare all of them takes more than `max_steps`; known before many bits are stored.
template <class Label>
std::optional<Clusters> distinct_clusters(const Draws<Label>& draws, double max_steps) {
    Clusters out;
    out.n_words = (draws.n_items + 63) / 64;
    const auto steps = [&](std::size_t count) {
        const auto n = static_cast<double>(count);
        return n * n * (static_cast<double>(out.n_words) + steps_beside_words);
    };
    const auto keys = search::random_keys(draws.n_items);
    search::ClusterTable table;
    for (std::uint32_t t = 0; t < draws.n_draws(); ++t) {
        const auto own = search::clusters_of(draws.draw(t), t, keys);
        if (steps(std::max(own.size(), table.clusters.size())) > max_steps)
            return {};
        common::count_steps(own.size() * out.n_words);
        auto& mine = out.of_draw.emplace_back();
        for (const auto& cluster : own)
            mine.push_back(table.add(cluster, draws.weights[t]));
    }
    if (steps(table.clusters.size()) > max_steps)
        return {};
    out.bits.resize(table.clusters.size() * out.n_words);
    for (std::size_t t = 0; t < draws.n_draws(); ++t)
        for (std::size_t i = 0; i < draws.n_items; ++i)
            if (const auto c = out.of_draw[t][draws.draw(t)[i]]; table.clusters[c].draw == t)
                out.bits[c * out.n_words + i / 64] |= Word{1} << (i % 64);
    for (const auto& cluster : table.clusters)
        out.sizes.push_back(cluster.size);
    out.weights = std::move(table.coefficients);
    return out;
}

/// sum_T weight(T) phi(|S n T|) over all clusters T; four sums, so that additions need not wait.
template <std::size_t fixed_words>
PARTITA_CLONES double overlap_sum(const Word* own, const Clusters& clusters, const double* phi) {
    const std::size_t n_words = fixed_words ? fixed_words : clusters.n_words;
    const Word* other = clusters.bits.data();
    double sums[4] = {};
    for (std::size_t t = 0; t < clusters.count(); ++t, other += n_words) {
        std::size_t both = 0;
        for (std::size_t w = 0; w < n_words; ++w)
            both += static_cast<std::size_t>(std::popcount(own[w] & other[w]));
        sums[t % 4] += clusters.weights[t] * phi[both];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void overlap_sums(std::size_t begin, std::size_t end, const Clusters& clusters, const double* phi,
                  double* out) {
    for (std::size_t s = begin; s < end; ++s) {
        const auto* own = clusters.begin_of(s);
        out[s] = clusters.n_words == 1   ? overlap_sum<1>(own, clusters, phi)
                 : clusters.n_words == 2 ? overlap_sum<2>(own, clusters, phi)
                                         : overlap_sum<0>(own, clusters, phi);
    }
}

} // namespace

template <class Label>
std::vector<double> expected_losses_of_draws(const Draws<Label>& draws, const LossTables& tables,
                                             double max_steps, unsigned threads,
                                             const common::StopFlag& stop) {
    const auto loss = search::as_linear(tables.loss());
    if (!loss)
        return {};
    const auto distinct = distinct_clusters(draws, max_steps);
    if (!distinct)
        return {};
    const auto& clusters = *distinct;
    const auto phi = tables.joint();
    std::vector<double> joint(clusters.count());
    const auto blocks = (clusters.count() + block_of_rows - 1) / block_of_rows;
    common::parallel_for(blocks, threads, [&](std::size_t block, unsigned) {
        if (!stop)
            overlap_sums(block * block_of_rows, std::min(clusters.count(), (block + 1) * block_of_rows),
                         clusters, phi.data(), joint.data());
    });
    if (stop)
        return {};
    double of_draws = 0;
    for (std::size_t c = 0; c < clusters.count(); ++c)
        of_draws += clusters.weights[c] * phi[clusters.sizes[c]];
    std::vector<double> losses;
    for (const auto& mine : clusters.of_draw) {
        double sum = loss->a * of_draws;
        for (const auto c : mine)
            sum += loss->b * phi[clusters.sizes[c]] - (loss->a + loss->b) * joint[c];
        losses.push_back(loss->unit * sum / loss->divisor(static_cast<double>(draws.n_items)));
    }
    return losses;
}

#define INSTANTIATE(Label)                                                                                   \
    template std::vector<double> expected_losses_of_draws(const Draws<Label>&, const LossTables&, double,    \
                                                          unsigned, const common::StopFlag&);
PARTITA_FOR_EACH_LABEL(INSTANTIATE)
#undef INSTANTIATE

} // namespace partita
