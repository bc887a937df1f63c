// Random pair probabilities with constraints, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "common/random.hpp"
#include "pairs/graph.hpp"
#include "pairs/local.hpp"

/// Owns what a graph and constraints borrow: random pairs, pairs that are apart, atoms of two, sources.
struct RandomPairs {
    std::vector<std::int64_t> offsets{0}, apart_offsets{0};
    std::vector<std::uint32_t> neighbours, apart, atom, source;
    std::vector<double> probabilities;

    RandomPairs(std::uint32_t n, double density, bool constrained, std::uint64_t seed) {
        partita::common::Rng rng(seed);
        std::vector<double> matrix(std::size_t{n} * n);
        std::vector<bool> forbidden(std::size_t{n} * n);
        for (std::uint32_t i = 0; i < n; ++i) {
            atom.push_back(constrained ? (i < 4 ? i / 2 : i - 2) : i);
            source.push_back(constrained && i >= 4 && i % 2 == 0 ? i % 3 : partita::pairs::nothing);
            for (std::uint32_t j = 0; j < i; ++j) {
                if (rng.uniform() < density)
                    matrix[i * n + j] = matrix[j * n + i] = rng.uniform();
                if (constrained && atom[i] != atom[j] && rng.uniform() < 0.15)
                    forbidden[i * n + j] = forbidden[j * n + i] = true;
            }
        }
        for (std::uint32_t i = 0; i < n; ++i) {
            for (std::uint32_t j = 0; j < n; ++j) {
                if (matrix[i * n + j] > 0) {
                    neighbours.push_back(j);
                    probabilities.push_back(matrix[i * n + j]);
                }
                if (forbidden[i * n + j])
                    apart.push_back(j);
            }
            offsets.push_back(static_cast<std::int64_t>(neighbours.size()));
            apart_offsets.push_back(static_cast<std::int64_t>(apart.size()));
        }
    }

    std::uint32_t n_items() const { return static_cast<std::uint32_t>(atom.size()); }
    partita::pairs::Graph graph() const { return {offsets, neighbours, probabilities}; }
    partita::pairs::Constraints constraints() const { return {atom, apart_offsets, apart, source}; }
    partita::pairs::Local local() const {
        std::vector<std::uint32_t> items(n_items()), place(n_items(), partita::pairs::nothing);
        std::iota(items.begin(), items.end(), 0u);
        return partita::pairs::localise(graph(), constraints(), items, place);
    }

    bool obeys(const std::vector<std::uint32_t>& labels) const {
        for (std::uint32_t i = 0; i < n_items(); ++i) {
            for (auto e = apart_offsets[i]; e < apart_offsets[i + 1]; ++e)
                if (labels[i] == labels[apart[static_cast<std::size_t>(e)]])
                    return false;
            for (std::uint32_t j = 0; j < i; ++j) {
                if (atom[i] == atom[j] && labels[i] != labels[j])
                    return false;
                if (source[i] != partita::pairs::nothing && source[i] == source[j] && labels[i] == labels[j])
                    return false;
            }
        }
        return true;
    }
};
