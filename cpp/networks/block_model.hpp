// A block model of one network: owns the arrays, hides the edge model, answers what Python asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "mcmc/block_chain.hpp"
#include "networks/affiliation_state.hpp"
#include "networks/block_search.hpp"
#include "networks/block_state.hpp"
#include "networks/dirichlet.hpp"
#include "networks/emission.hpp"
#include "networks/layered_state.hpp"
#include "networks/network.hpp"

namespace partita::models {

/// Compressed rows with their own memory.
struct NeighbourArrays {
    std::vector<std::int64_t> start;
    std::vector<std::uint32_t> to, count;
    Neighbours view() const { return {start, to, count}; }
};

struct NetworkArrays {
    std::size_t n_nodes = 0, n_rows = 0;
    bool directed = false;
    NeighbourArrays edges[2], missing[2];
    std::vector<std::uint32_t> loop;
    std::vector<std::uint8_t> loop_observed;
    std::vector<double> mark[2], loop_mark;
    std::int64_t pair_exposure = 1, loop_exposure = 1;
};

struct EdgePrior {
    bool counts = false; // Poisson–Gamma(first, second) instead of Bernoulli–Beta(first, second)
    double first = 1.0, second = 1.0;
    bool degree_corrected = false;
    bool affiliation = false; // one parameter inside clusters and one between them, instead of one per block
};

enum class MarkKind : std::uint8_t { none, normal, categories };

/// The prior of the marks on edges: mu0, kappa0, shape and rate of weights; alpha of n_categories.
struct MarkPrior {
    MarkKind kind = MarkKind::none;
    std::vector<double> parameters;
    std::size_t n_categories = 0;
};

/// One network of several, with marks or without.
struct LayerArrays {
    NetworkArrays arrays;
    EdgePrior prior;
    MarkPrior marks;
};

class BlockModel {
public:
    BlockModel(NetworkArrays arrays, EdgePrior prior, double n0_rows, double n0_columns);
    /// Several layers on the nodes of `cover`, whose edges are the union of theirs, and tables of these
    /// nodes.
    BlockModel(NetworkArrays cover, std::vector<LayerArrays> layers, double n0_rows, double n0_columns,
               std::vector<NodeTable> tables = {});
    BlockModel(const BlockModel&) = delete;
    BlockModel& operator=(const BlockModel&) = delete;

    const Network& network() const { return network_; }

    /// Calls work(view) with the model of the right kind of blocks and edges.
    template <class Work> decltype(auto) with_view(Work work) const {
        return std::visit(
            [&](const auto& emission) {
                using Emission = std::decay_t<decltype(emission)>;
                if constexpr (std::is_same_v<Emission, LayeredState::Emission>) {
                    return work(view_of<LayeredState>(emission));
                } else {
                    if (affiliation_)
                        return work(view_of<AffiliationState<Emission>>(emission));
                    return work(view_of<BlockState<Emission>>(emission));
                }
            },
            emission_);
    }

    /// log p(X, z | K), K the number of filled clusters, up to constants of the data.
    double icl(std::span<const std::uint32_t> labels) const;
    /// The change of ICL when a node goes to each cluster of its side, the last entry is a new cluster; or to
    /// some of them, its own among them, computed as searches among many clusters do.
    std::vector<double> swap_changes(std::span<const std::uint32_t> labels, std::size_t node,
                                     std::span<const std::uint32_t> slots = {}) const;
    /// The change of ICL when two clusters merge, a square matrix over the clusters of all sides.
    std::vector<double> merge_changes(std::span<const std::uint32_t> labels) const;
    /// Greedy merges from the labels down to one cluster per side; clusters of columns are numbered after
    /// those of rows.
    std::vector<Merge> merge_path(std::span<const std::uint32_t> labels,
                                  const common::StopFlag& stop = common::StopFlag()) const;
    SearchResult maximize(std::span<const std::vector<std::uint32_t>> starts, const SearchPlan& plan,
                          const common::StopFlag& stop) const;

private:
    template <class State> BlockModelView<State> view_of(const typename State::Emission& emission) const {
        return {network_, emission, priors_, degree_corrected_};
    }

    NetworkArrays arrays_;
    std::vector<LayerArrays> layer_arrays_;
    Network network_;
    std::variant<BernoulliBlocks, PoissonBlocks, LayeredState::Emission> emission_;
    Priors priors_;
    bool degree_corrected_ = false, affiliation_ = false;
};

// compiled only in the core
extern template class BlockChain<BlockState<BernoulliBlocks>>;
extern template class BlockChain<BlockState<PoissonBlocks>>;
extern template class BlockChain<AffiliationState<BernoulliBlocks>>;
extern template class BlockChain<AffiliationState<PoissonBlocks>>;
extern template class BlockChain<LayeredState>;

using AnyBlockChain =
    std::variant<BlockChain<BlockState<BernoulliBlocks>>, BlockChain<BlockState<PoissonBlocks>>,
                 BlockChain<AffiliationState<BernoulliBlocks>>, BlockChain<AffiliationState<PoissonBlocks>>,
                 BlockChain<LayeredState>>;

/// A chain of whatever blocks and edges; the model must outlive it.
class BlockSampler {
public:
    BlockSampler(const BlockModel& model, ChainPlan plan);

    template <class Work> decltype(auto) visit(Work work) { return std::visit(work, chain_); }

private:
    AnyBlockChain chain_;
};

} // namespace partita::models
