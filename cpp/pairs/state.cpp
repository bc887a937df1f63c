#include "pairs/state.hpp"

namespace partita::pairs {

namespace {

std::vector<double> sizes_of(std::span<const std::uint32_t> labels) {
    std::vector<double> sizes(labels.size());
    for (const auto label : labels)
        ++sizes[label];
    return sizes;
}

/// The sum over the neighbours of an item in its own cluster.
template <class Amount>
double within(const Local& local, std::span<const std::uint32_t> labels, std::uint32_t i, Amount amount) {
    double sum = 0;
    local.each_neighbour(i,
                         [&](std::uint32_t j, double p) { sum += labels[j] == labels[i] ? amount(p) : 0; });
    return sum;
}

} // namespace

double value_of(const Local& local, const Threshold& objective, std::span<const std::uint32_t> labels) {
    double value = 0;
    for (const auto size : sizes_of(labels))
        value += objective.repulsion() * size * (size - 1) / 2;
    for (std::uint32_t i = 0; i < local.n_items(); ++i)
        value -= within(local, labels, i, [&](double p) { return objective.attraction(p); }) / 2;
    return value;
}

double value_of(const Local& local, const LogMass& objective, std::span<const std::uint32_t> labels) {
    double value = 0;
    for (const auto size : sizes_of(labels))
        value += objective.of_size(size);
    for (std::uint32_t i = 0; i < local.n_items(); ++i)
        value -= objective.of_mass(within(local, labels, i, [](double p) { return p; }));
    return value;
}

} // namespace partita::pairs
