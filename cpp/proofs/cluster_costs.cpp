#include "proofs/cluster_costs.hpp"

#include <algorithm>
#include <cmath>

namespace partita::proofs {

template <class Label>
ClusterCosts::ClusterCosts(const Draws<Label>& draws, double a, double b) : a_(a), b_(b), n_(draws.n_items) {
    log2_.assign(n_ + 2, 0.0);
    for (std::size_t m = 1; m < log2_.size(); ++m)
        log2_[m] = std::log2(static_cast<double>(m));
    std::vector<std::size_t> kept;
    for (std::size_t h = 0; h < draws.n_draws(); ++h)
        if (draws.weights[h] > 0) {
            kept.push_back(h);
            weights_.push_back(draws.weights[h]);
            n_labels_ = std::max(n_labels_, count_clusters(draws.draw(h)));
        }
    labels_.resize(n_ * kept.size());
    for (std::size_t h = 0; h < kept.size(); ++h)
        for (std::size_t i = 0; i < n_; ++i)
            labels_[i * kept.size() + h] = static_cast<std::uint16_t>(draws.draw(kept[h])[i]);
}

template ClusterCosts::ClusterCosts(const Draws<std::uint8_t>&, double, double);
template ClusterCosts::ClusterCosts(const Draws<std::uint16_t>&, double, double);
template ClusterCosts::ClusterCosts(const Draws<std::uint32_t>&, double, double);

double ClusterCosts::cost(std::span<const std::uint32_t> items) const {
    return Overlaps(*this, items).cost();
}

double ClusterCosts::constant() const {
    Overlaps all(*this);
    for (std::uint32_t i = 0; i < n_; ++i)
        all.insert(i);
    return a_ * (b_ * phi(n_) - all.cost()) / both();
}

Overlaps::Overlaps(const ClusterCosts& costs, std::span<const std::uint32_t> items)
    : costs_(costs), counts_(costs.n_draws() * costs.n_labels(), 0), holds_(costs.n_items(), 0) {
    for (std::size_t m = 0; m <= costs.n_items(); ++m)
        phi_.push_back(costs.phi(m));
    for (const auto item : items)
        insert(item);
}

void Overlaps::insert(std::uint32_t item) {
    const auto labels = costs_.labels(item);
    for (std::size_t h = 0; h < labels.size(); ++h)
        ++counts_[h * costs_.n_labels() + labels[h]];
    holds_[item] = 1;
    ++size_;
}

void Overlaps::remove(std::uint32_t item) {
    const auto labels = costs_.labels(item);
    for (std::size_t h = 0; h < labels.size(); ++h)
        --counts_[h * costs_.n_labels() + labels[h]];
    holds_[item] = 0;
    --size_;
}

double Overlaps::gain(std::uint32_t item) const {
    const auto labels = costs_.labels(item);
    const std::size_t less = holds(item) ? 1 : 0;
    double change = 0; // of E sum of phi, from without the item to with it
    for (std::size_t h = 0; h < labels.size(); ++h) {
        const auto without = counts_[h * costs_.n_labels() + labels[h]] - less;
        change += costs_.weight(h) * (phi_[without + 1] - phi_[without]);
    }
    const double inserted =
        costs_.b() * (phi_[size_ - less + 1] - phi_[size_ - less]) - costs_.both() * change;
    return holds(item) ? -inserted : inserted;
}

double Overlaps::cost() const {
    double expected = 0;
    for (std::size_t h = 0; h < costs_.n_draws(); ++h) {
        double sum = 0;
        for (std::size_t label = 0; label < costs_.n_labels(); ++label)
            sum += phi_[counts_[h * costs_.n_labels() + label]];
        expected += costs_.weight(h) * sum;
    }
    return costs_.b() * phi_[size_] - costs_.both() * expected;
}

Items Overlaps::items() const {
    Items found;
    for (std::uint32_t i = 0; i < holds_.size(); ++i)
        if (holds_[i])
            found.push_back(i);
    return found;
}

} // namespace partita::proofs
