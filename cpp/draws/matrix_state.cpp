#include "draws/matrix_state.hpp"

#include <algorithm>

#include "common/clones.hpp"
#include "common/work.hpp"
#include "partition/labels.hpp"

namespace partita::search {
namespace {

PARTITA_CLONES void add_scaled(const float* row, std::size_t n, double factor, double* sums) {
    for (std::size_t j = 0; j < n; ++j)
        sums[j] += factor * static_cast<double>(row[j]);
}

} // namespace

MatrixState::MatrixState(const MatrixProblem& problem, std::uint32_t max_clusters)
    : LabelledItems(problem.n, max_clusters), problem_(&problem), per_item_(cost(2, 0)),
      per_mass_(cost(0, 2)) {
    assign(labels_);
}

void MatrixState::assign(std::span<const std::uint32_t> labels) {
    take_labels(labels, [](std::size_t) { return 1u; });
    mass_.assign(problem_->n * sizes_.size(), 0);
    for (std::size_t i = 0; i < problem_->n; ++i)
        if (labels_[i] != no_cluster)
            add_scaled(problem_->row(i), problem_->n, 1, masses(labels_[i]));
    refresh();
}

double MatrixState::exact_value() const {
    double value = 0;
    for (std::size_t i = 0; i < problem_->n; ++i)
        if (labels_[i] != no_cluster)
            value += cost(sizes_[labels_[i]], mass(i, labels_[i]));
    return value;
}

std::span<const double> MatrixState::score(std::size_t i) {
    const auto own = labels_[i];
    const auto candidates = n_clusters() + (n_clusters() < max_clusters_ && !is_alone(i));
    common::count_steps(candidates);
    scores_.assign(candidates, 0.0);
    for (std::uint32_t k = 0; k < n_clusters(); ++k)
        scores_[k] = cost(2.0 * sizes_[k], 2 * mass(i, k));
    if (own != no_cluster)
        scores_[own] -= cost(2, 2); // without the item itself
    return scores_;
}

void MatrixState::ensure_cluster(std::uint32_t cluster) {
    if (cluster < n_clusters())
        return;
    sizes_.push_back(0);
    mass_.resize(problem_->n * sizes_.size()); // with zeros
}

void MatrixState::add_mass(std::size_t i, std::uint32_t cluster, double sign) {
    common::count_steps(problem_->n);
    add_scaled(problem_->row(i), problem_->n, sign, masses(cluster));
}

void MatrixState::insert(std::size_t i, std::uint32_t cluster) {
    ensure_cluster(cluster);
    value_ += cost(2.0 * sizes_[cluster] + 1, 2 * mass(i, cluster) + 1);
    add_mass(i, cluster, 1);
    ++sizes_[cluster];
    labels_[i] = cluster;
}

void MatrixState::remove(std::size_t i) {
    const auto cluster = labels_[i];
    add_mass(i, cluster, -1);
    --sizes_[cluster];
    labels_[i] = no_cluster;
    value_ -= cost(2.0 * sizes_[cluster] + 1, 2 * mass(i, cluster) + 1);
    if (sizes_[cluster] == 0)
        close_cluster(cluster);
}

void MatrixState::move(std::size_t i, std::uint32_t cluster) {
    const auto old = labels_[i];
    if (cluster == old)
        return;
    insert(i, cluster); // first, so that no cluster is renumbered in between
    --sizes_[old];
    add_mass(i, old, -1);
    value_ -= cost(2.0 * sizes_[old] + 1, 2 * mass(i, old) + 1);
    if (sizes_[old] == 0)
        close_cluster(old);
}

void MatrixState::close_cluster(std::uint32_t cluster) {
    if (const auto last = n_clusters() - 1; cluster != last)
        std::copy_n(masses(last), problem_->n, masses(cluster));
    drop(cluster);
    mass_.resize(problem_->n * sizes_.size());
}

std::vector<double> MatrixState::merge_changes() const {
    const std::size_t clusters = n_clusters();
    common::count_steps(problem_->n * clusters);
    std::vector<double> between(clusters * clusters), changes(clusters * clusters);
    for (std::size_t k = 0; k < clusters; ++k)
        for (std::size_t i = 0; i < problem_->n; ++i)
            if (labels_[i] != no_cluster)
                between[labels_[i] * clusters + k] += mass(i, k);
    for (std::size_t k = 0; k < clusters; ++k)
        for (std::size_t l = k + 1; l < clusters; ++l)
            changes[k * clusters + l] = cost(2.0 * sizes_[k] * sizes_[l], 2 * between[k * clusters + l]);
    return changes;
}

void MatrixState::merge(std::uint32_t k, std::uint32_t l) {
    for (std::size_t i = 0; i < problem_->n; ++i)
        masses(k)[i] += mass(i, l);
    join(k, l);
    close_cluster(l);
    refresh();
}

} // namespace partita::search
