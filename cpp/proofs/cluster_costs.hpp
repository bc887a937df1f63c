// Expected VI(a, b) as a sum over the clusters of the estimate, which do not interact.
//
// n E[VI] = a constant + sum over clusters S of f(S), with phi(m) = m log2 m and
// f(S) = b phi(|S|) - (a + b) E sum over clusters T of the draw of phi(|S n T|).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "draws/draws.hpp"

namespace partita::proofs {

using Items = std::vector<std::uint32_t>;

class ClusterCosts {
public:
    /// Draws of weight zero are left out.
    template <class Label> ClusterCosts(const Draws<Label>& draws, double a, double b);

    std::size_t n_items() const { return n_; }
    std::size_t n_draws() const { return weights_.size(); }
    std::uint32_t n_labels() const { return n_labels_; }
    double weight(std::size_t draw) const { return weights_[draw]; }
    std::span<const std::uint16_t> labels(std::size_t item) const {
        return std::span(labels_).subspan(item * n_draws(), n_draws());
    }

    double both() const { return a_ + b_; }
    double b() const { return b_; }
    double phi(std::size_t m) const { return static_cast<double>(m) * log2_[m]; }
    std::span<const double> log2_table() const { return log2_; }

    double cost(std::span<const std::uint32_t> items) const; // f
    double constant() const;                                 // a E sum of phi(|T|)

private:
    double a_, b_;
    std::size_t n_;
    std::uint32_t n_labels_ = 1;         // more than any label
    std::vector<double> weights_, log2_; // log2 of 0 counts as 0
    std::vector<std::uint16_t> labels_;  // item after item
};

/// The sizes |S n T| of a set S that changes by one item at a time.
class Overlaps {
public:
    explicit Overlaps(const ClusterCosts& costs, std::span<const std::uint32_t> items = {});

    void insert(std::uint32_t item);
    void remove(std::uint32_t item);
    bool holds(std::uint32_t item) const { return holds_[item] != 0; }
    std::size_t size() const { return size_; }
    std::uint16_t with(std::uint32_t item, std::size_t draw) const {
        return counts_[draw * costs_.n_labels() + costs_.labels(item)[draw]];
    }

    double gain(std::uint32_t item) const; // change of f(S) if the item is inserted, or else removed
    double cost() const;                   // f(S)
    Items items() const;

private:
    const ClusterCosts& costs_;
    std::size_t size_ = 0;
    std::vector<std::uint16_t> counts_; // (draws, labels)
    std::vector<char> holds_;
    std::vector<double> phi_;
};

} // namespace partita::proofs
