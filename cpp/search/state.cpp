#include "search/state.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace partita {
namespace {

std::size_t padded(std::size_t columns) { return (columns + lane - 1) / lane * lane; }

} // namespace

State::State(const Problem& problem, std::uint32_t max_clusters)
    : problem_(&problem), max_clusters_(max_clusters), labels_(problem.n_items(), nowhere),
      by_draw_(problem.n_draws()) {
    assign(labels_);
}

std::size_t State::all_rows() const {
    return problem_->n_rows() + (problem_->has_gaps() ? problem_->n_draws() : 0);
}

void State::allocate(std::size_t columns) {
    table_.stride = padded(columns);
    storage_ = std::make_unique_for_overwrite<float[]>(all_rows() * 2 * table_.stride);
    table_.cells = storage_.get();
}

void State::ensure_column(std::size_t column) {
    if (column < table_.stride)
        return;
    allocate(column + 1);
    count_cells();
    fill_gains();
}

/// Room for the clusters in use and a few more; a narrow table is a table in the cache.
void State::fit_columns() {
    if (padded(n_clusters() + 1) != table_.stride)
        allocate(n_clusters() + 1);
}

void State::compact() {
    if (padded(n_clusters() + 1) < table_.stride)
        assign(labels_);
}

void State::assign(std::span<const std::uint32_t> labels) {
    if (labels.data() != labels_.data())
        labels_.assign(labels.begin(), labels.end());
    sizes_.clear();
    for (std::size_t i = 0; i < labels_.size(); ++i)
        if (const auto label = labels_[i]; label != nowhere) {
            if (label >= sizes_.size())
                sizes_.resize(label + 1);
            sizes_[label] += problem_->copies(i);
        }
    fit_columns();
    count_cells();
    fill_gains();
    refresh();
}

void State::count_cells() {
    for (std::size_t row = 0; row < all_rows(); ++row)
        std::fill_n(table_.counts(row), table_.stride, 0u);
    row_sizes_.assign(problem_->n_rows(), 0);
    allocated_.assign(problem_->n_draws(), 0);
    for (std::size_t t = 0; t < problem_->n_draws(); ++t) {
        std::uint32_t allocated = 0;
        problem_->for_each_item(t, [&](std::size_t i, std::uint32_t row) {
            if (labels_[i] == nowhere)
                return;
            const auto copies = problem_->copies(i);
            table_.counts(row)[labels_[i]] += copies;
            row_sizes_[row] += copies;
            allocated += copies;
        });
        allocated_[t] = allocated;
        if (problem_->has_gaps())
            for (auto row = problem_->row_begin(t); row < problem_->row_begin(t + 1); ++row)
                for (std::size_t k = 0; k < n_clusters(); ++k)
                    table_.counts(margin_row(t))[k] += table_.counts(row)[k];
    }
}

template <class Use> void State::for_each_row(Use use) const {
    const bool linear = problem_->is_linear();
    for (std::size_t t = 0; t < problem_->n_draws(); ++t) {
        const double coefficient = linear ? problem_->cell_coefficients()[t] : 1.0;
        for (auto row = problem_->row_begin(t); row < problem_->row_begin(t + 1); ++row)
            use(row, t, coefficient, problem_->joint_gain());
        if (problem_->has_gaps())
            use(margin_row(t), t, linear ? problem_->margin_coefficients()[t] : 1.0,
                problem_->estimate_gain());
    }
}

void State::fill_gains() {
    for_each_row([&](std::size_t row, std::size_t, double coefficient, std::span<const float> gain) {
        auto* gains = table_.gains(row);
        const auto* counts = table_.counts(row);
        for (std::size_t k = 0; k < table_.stride; ++k)
            gains[k] = static_cast<float>(coefficient) * gain[counts[k]];
    });
}

void State::refresh() {
    if (problem_->is_linear()) {
        value_ = linear_value();
    } else {
        find_sums();
        stale_ = true;
    }
}

double State::linear_value() const {
    const auto table = problem_->tables().joint();
    double value = 0;
    for_each_row([&](std::size_t row, std::size_t, double coefficient, std::span<const float>) {
        double sum = 0;
        for (std::size_t k = 0; k < n_clusters(); ++k)
            sum += table[table_.counts(row)[k]];
        value += coefficient * sum;
    });
    if (!problem_->has_gaps())
        for (const auto size : sizes_)
            value += problem_->estimate_scale() * table[size];
    return value;
}

void State::find_sums() {
    const auto& tables = problem_->tables();
    joint_.assign(problem_->n_draws(), 0);
    draw_.assign(problem_->n_draws(), 0);
    estimate_.assign(draws_or_one(), 0);
    for (std::size_t t = 0; t < problem_->n_draws(); ++t) {
        for (auto row = problem_->row_begin(t); row < problem_->row_begin(t + 1); ++row) {
            draw_[t] += tables.draw()[row_sizes_[row]];
            for (std::size_t k = 0; k < n_clusters(); ++k)
                joint_[t] += tables.joint()[table_.counts(row)[k]];
        }
        if (problem_->has_gaps())
            for (std::size_t k = 0; k < n_clusters(); ++k)
                estimate_[t] += tables.estimate()[table_.counts(margin_row(t))[k]];
    }
    if (!problem_->has_gaps())
        for (const auto size : sizes_)
            estimate_[0] += tables.estimate()[size];
}

Sums State::sums_of(std::size_t t) const {
    const auto n = allocated_[t];
    return {joint_[t], estimate_[problem_->has_gaps() ? t : 0], draw_[t], static_cast<double>(n),
            problem_->tables().joint()[n]};
}

double State::combined_value() const {
    const auto n = problem_->n_draws();
    return std::visit(
        [&](const auto& loss) {
            double value = 0;
            if constexpr (std::is_same_v<std::decay_t<decltype(loss)>, CustomLoss>) {
                std::vector<Sums> sums(n);
                std::vector<double> losses(n);
                for (std::size_t t = 0; t < n; ++t)
                    sums[t] = sums_of(t);
                problem_->tables().combine(sums, losses);
                value = std::inner_product(losses.begin(), losses.end(), problem_->weights().begin(), 0.0);
            } else {
                for (std::size_t t = 0; t < n; ++t)
                    value += problem_->weight(t) * loss(sums_of(t));
            }
            return value;
        },
        problem_->tables().loss());
}

double State::value() const {
    if (stale_) {
        value_ = combined_value();
        stale_ = false;
    }
    return value_;
}

std::vector<std::uint32_t> State::members(std::uint32_t cluster) const {
    std::vector<std::uint32_t> items;
    items.reserve(sizes_[cluster]);
    for (std::size_t i = 0; i < labels_.size(); ++i)
        if (labels_[i] == cluster)
            items.push_back(static_cast<std::uint32_t>(i));
    return items;
}

/// The rows of item i. A linear loss sums gains over all its rows, margins included; others pair each row
/// with its draw and margin.
void State::find_rows(std::size_t i) {
    problem_->rows_of(i, by_draw_);
    if (!problem_->has_gaps()) {
        rows_.assign(by_draw_.begin(), by_draw_.end());
        if (draws_.size() != rows_.size()) {
            draws_.resize(rows_.size());
            std::iota(draws_.begin(), draws_.end(), 0u);
            coefficients_.assign(problem_->cell_coefficients().begin(), problem_->cell_coefficients().end());
        }
        return;
    }
    rows_.clear();
    draws_.clear();
    margin_rows_.clear();
    coefficients_.clear();
    for (std::uint32_t t = 0; t < by_draw_.size(); ++t) {
        if (by_draw_[t] == Problem::no_row)
            continue;
        rows_.push_back(by_draw_[t]);
        draws_.push_back(t);
        margin_rows_.push_back(static_cast<std::uint32_t>(margin_row(t)));
        if (problem_->is_linear())
            coefficients_.push_back(static_cast<float>(problem_->cell_coefficients()[t]));
    }
    if (problem_->is_linear()) {
        for (const auto t : draws_)
            coefficients_.push_back(static_cast<float>(problem_->margin_coefficients()[t]));
        rows_.insert(rows_.end(), margin_rows_.begin(), margin_rows_.end());
    }
}

/// How many candidates item i has: every cluster, and a new one unless there are enough or it is alone
/// already.
std::size_t State::candidates(std::size_t i) const {
    return n_clusters() + (n_clusters() < max_clusters_ && !is_alone(i));
}

std::span<const double> State::score(std::size_t i) {
    if (problem_->copies(i) > 1) // the gains in the table are those of a single item
        return score_precisely(i);
    const auto own = labels_[i];
    const auto columns = candidates(i);
    ensure_column(columns - 1);
    find_rows(i);
    scores_.resize(padded(columns));
    if (problem_->is_linear())
        score_linear(own, columns);
    else
        score_combined(own, columns);
    return {scores_.data(), columns};
}

std::span<const double> State::score_precisely(std::size_t i) {
    if (!problem_->is_linear())
        return score(i);
    const auto own = labels_[i];
    const auto columns = candidates(i);
    ensure_column(columns - 1);
    find_rows(i);
    scores_.resize(padded(columns));
    sum_gains_precisely(own, columns, problem_->copies(i));
    add_own_sizes(own, columns, problem_->copies(i));
    return {scores_.data(), columns};
}

void State::score_linear(std::uint32_t own, std::size_t columns) {
    sum_gains(table_, rows_, padded(columns), scores_.data());
    if (own != nowhere)
        scores_[own] = sum_own(table_, rows_, coefficients_.data(), own, problem_->joint_gain().data());
    add_own_sizes(own, columns);
}

/// The part of a linear loss that the estimate's own cluster sizes make up; with gaps it is in the margin
/// rows.
void State::add_own_sizes(std::uint32_t own, std::size_t columns, std::uint32_t copies) {
    if (problem_->has_gaps())
        return;
    const auto table = problem_->tables().estimate();
    for (std::size_t k = 0; k < columns; ++k) {
        const auto size = k < sizes_.size() ? sizes_[k] - (k == own ? copies : 0) : 0;
        scores_[k] += problem_->estimate_scale() * (table[size + copies] - table[size]);
    }
}

void State::sum_gains_precisely(std::uint32_t own, std::size_t columns, std::uint32_t copies) {
    const auto table = problem_->tables().joint();
    std::fill_n(scores_.begin(), columns, 0.0);
    for (std::size_t e = 0; e < rows_.size(); ++e) {
        const bool margin = e >= draws_.size(); // margin rows follow the others
        const auto coefficient = margin ? problem_->margin_coefficients()[draws_[e - draws_.size()]]
                                        : problem_->cell_coefficients()[draws_[e]];
        const auto* counts = table_.counts(rows_[e]);
        for (std::size_t k = 0; k < columns; ++k) {
            const auto count = counts[k] - (k == own ? copies : 0);
            scores_[k] += coefficient * (table[count + copies] - table[count]);
        }
    }
}

void State::score_combined(std::uint32_t own, std::size_t columns) {
    const auto wide = padded(columns);
    find_terms(own);
    std::fill_n(scores_.begin(), wide, 0.0);
    if (!problem_->has_gaps())
        find_candidate_sums(own, wide);
    const auto& loss = problem_->tables().loss();
    if (std::holds_alternative<CustomLoss>(loss))
        score_custom(own, columns);
    else if (problem_->has_gaps())
        score_rows_with_margins(loss, table_, rows_, margin_rows_, terms_, entry_estimate_, wide,
                                scores_.data());
    else
        score_rows(loss, table_, rows_, terms_, candidate_estimate_.data(), wide, scores_.data());
    if (own != nowhere)
        scores_[own] = stay_score();
}

/// Staying leaves every draw as it is. Draws that do not label the item are the same for all candidates: left
/// out.
double State::stay_score() const {
    if (!problem_->has_gaps())
        return value();
    std::vector<Sums> sums(rows_.size());
    std::vector<double> losses(rows_.size());
    for (std::size_t e = 0; e < rows_.size(); ++e)
        sums[e] = sums_of(draws_[e]);
    problem_->tables().combine(sums, losses);
    double stay = 0;
    for (std::size_t e = 0; e < rows_.size(); ++e)
        stay += terms_[e].weight * losses[e];
    return stay;
}

/// The sums of each draw with the item taken out (if it is in), and with it counted in the draw's own sum and
/// n.
void State::find_terms(std::uint32_t own) {
    const auto& tables = problem_->tables();
    terms_.resize(rows_.size());
    entry_estimate_.resize(problem_->has_gaps() ? rows_.size() : 0);
    for (std::size_t e = 0; e < rows_.size(); ++e) {
        const auto t = draws_[e];
        auto joint = joint_[t], draw = draw_[t];
        auto n = allocated_[t];
        if (own != nowhere) {
            const auto count = table_.counts(rows_[e])[own];
            joint -= tables.joint()[count] - tables.joint()[count - 1];
        } else {
            const auto size = row_sizes_[rows_[e]];
            draw += tables.draw()[size + 1] - tables.draw()[size];
            ++n;
        }
        terms_[e] = {problem_->weight(t), joint, draw, static_cast<double>(n), tables.joint()[n]};
        if (problem_->has_gaps()) {
            const auto margin = own == nowhere ? 0 : table_.counts(margin_rows_[e])[own];
            entry_estimate_[e] =
                estimate_[t] - (margin ? tables.estimate()[margin] - tables.estimate()[margin - 1] : 0.0);
        }
    }
}

/// The estimate's sum for each candidate, where it is the same for all draws.
void State::find_candidate_sums(std::uint32_t own, std::size_t columns) {
    const auto table = problem_->tables().estimate();
    auto without = estimate_[0];
    if (own != nowhere)
        without -= table[sizes_[own]] - table[sizes_[own] - 1];
    candidate_estimate_.resize(columns);
    for (std::size_t k = 0; k < columns; ++k) {
        const auto size = k < sizes_.size() ? sizes_[k] - (k == own) : 0;
        candidate_estimate_[k] = without + table[size + 1] - table[size];
    }
}

/// A user's own loss may divide by what vanishes: its sums are differences of the tables in double precision.
void State::score_custom(std::uint32_t own, std::size_t columns) {
    const auto& tables = problem_->tables();
    auto gain = [own](std::span<const double> table, const std::uint32_t* counts, std::size_t k) {
        const auto count = counts[k] - (k == own);
        return table[count + 1] - table[count];
    };
    std::vector<Sums> sums(rows_.size() * columns);
    std::vector<double> losses(sums.size());
    for (std::size_t e = 0; e < rows_.size(); ++e)
        for (std::size_t k = 0; k < columns; ++k) {
            const auto& t = terms_[e];
            const auto joint = t.joint + gain(tables.joint(), table_.counts(rows_[e]), k);
            const auto estimate =
                problem_->has_gaps()
                    ? entry_estimate_[e] + gain(tables.estimate(), table_.counts(margin_rows_[e]), k)
                    : candidate_estimate_[k];
            sums[e * columns + k] = {joint, estimate, t.draw, t.n, t.total};
        }
    tables.combine(sums, losses);
    for (std::size_t e = 0; e < rows_.size(); ++e)
        for (std::size_t k = 0; k < columns; ++k)
            scores_[k] += terms_[e].weight * losses[e * columns + k];
}

/// Puts the item whose rows are at hand into `cluster` (Step = 1) or takes it out (Step = -1).
template <int Step> void State::change(std::size_t i, std::uint32_t cluster) {
    if (problem_->has_copies())
        change_copies<Step>(i, cluster);
    else
        change_one<Step>(i, cluster);
}

/// The same for an item that stands for several; the loss is linear.
template <int Step> void State::change_copies(std::size_t i, std::uint32_t cluster) {
    const auto step = static_cast<std::uint32_t>(Step) * problem_->copies(i); // wraps, and back
    const auto gain = problem_->joint_gain();
    const auto table = problem_->tables().joint();
    for (std::size_t e = 0; e < rows_.size(); ++e) {
        auto& count = table_.counts(rows_[e])[cluster];
        value_ += static_cast<double>(coefficients_[e]) * (table[count + step] - table[count]);
        count += step;
        table_.gains(rows_[e])[cluster] = coefficients_[e] * gain[count];
    }
    auto& size = sizes_[cluster];
    if (!problem_->has_gaps())
        value_ += problem_->estimate_scale() * (table[size + step] - table[size]);
    size += step;
    labels_[i] = Step > 0 ? cluster : nowhere;
}

template <int Step> void State::change_one(std::size_t i, std::uint32_t cluster) {
    const auto gain = problem_->joint_gain(), margin_gain = problem_->estimate_gain();
    const bool linear = problem_->is_linear();
    double sum = 0;
    if (!linear)
        change_sums(cluster, Step);
    for (std::size_t e = 0; e < rows_.size(); ++e) {
        auto& count = table_.counts(rows_[e])[cluster];
        auto& cell_gain = table_.gains(rows_[e])[cluster];
        if constexpr (Step > 0)
            sum += cell_gain;
        count += static_cast<std::uint32_t>(Step);
        cell_gain = (linear ? coefficients_[e] : 1.0f) * gain[count];
        if constexpr (Step < 0)
            sum -= cell_gain;
    }
    if (!linear)
        for (const auto row : margin_rows_) {
            auto& count = table_.counts(row)[cluster];
            count += static_cast<std::uint32_t>(Step);
            table_.gains(row)[cluster] = margin_gain[count];
        }
    const auto smaller = Step > 0 ? sizes_[cluster] : sizes_[cluster] - 1;
    sizes_[cluster] += static_cast<std::uint32_t>(Step);
    labels_[i] = Step > 0 ? cluster : nowhere;
    if (linear)
        value_ +=
            sum + (problem_->has_gaps() ? 0.0 : Step * problem_->estimate_scale() * margin_gain[smaller]);
}

/// Sums of a non-linear loss, before the counts change.
void State::change_sums(std::uint32_t cluster, int step) {
    const auto& tables = problem_->tables();
    auto difference = [step](std::span<const double> table, std::uint32_t count) {
        return table[count + static_cast<std::uint32_t>(step)] - table[count];
    };
    for (std::size_t e = 0; e < rows_.size(); ++e) {
        const auto t = draws_[e];
        joint_[t] += difference(tables.joint(), table_.counts(rows_[e])[cluster]);
        draw_[t] += difference(tables.draw(), row_sizes_[rows_[e]]);
        row_sizes_[rows_[e]] += static_cast<std::uint32_t>(step);
        allocated_[t] += static_cast<std::uint32_t>(step);
        if (problem_->has_gaps())
            estimate_[t] += difference(tables.estimate(), table_.counts(margin_rows_[e])[cluster]);
    }
    if (!problem_->has_gaps())
        estimate_[0] += difference(tables.estimate(), sizes_[cluster]);
}

void State::insert(std::size_t i, std::uint32_t cluster) {
    ensure_column(cluster);
    if (cluster == n_clusters())
        sizes_.push_back(0);
    find_rows(i);
    change<1>(i, cluster);
    stale_ = !problem_->is_linear();
}

void State::remove(std::size_t i) {
    const auto cluster = labels_[i];
    find_rows(i);
    change<-1>(i, cluster);
    stale_ = !problem_->is_linear();
    if (sizes_[cluster] == 0)
        close_cluster(cluster);
}

void State::move(std::size_t i, std::uint32_t cluster) {
    const auto old = labels_[i];
    if (cluster == old)
        return;
    ensure_column(cluster);
    if (cluster == n_clusters())
        sizes_.push_back(0);
    find_rows(i);
    change<-1>(i, old);
    change<1>(i, cluster);
    stale_ = !problem_->is_linear();
    if (sizes_[old] == 0)
        close_cluster(old);
}

/// Exchanges the empty column with the last one, so that clusters in use stay side by side.
void State::close_cluster(std::uint32_t cluster) {
    const auto last = n_clusters() - 1;
    if (cluster != last) {
        for (std::size_t row = 0; row < all_rows(); ++row) {
            std::swap(table_.counts(row)[cluster], table_.counts(row)[last]);
            std::swap(table_.gains(row)[cluster], table_.gains(row)[last]);
        }
        std::replace(labels_.begin(), labels_.end(), last, cluster);
        sizes_[cluster] = sizes_[last];
    }
    sizes_.pop_back();
}

/// changes[k, l] += coefficient * (f(n_k + n_l) - f(n_k) - f(n_l)); f(0) = 0, so that only occupied cells
/// matter.
void State::add_pair_gains(std::size_t row, std::span<const double> table, double coefficient,
                           std::span<double> changes) const {
    const auto* counts = table_.counts(row);
    const auto clusters = n_clusters();
    static thread_local std::vector<std::uint32_t> occupied;
    occupied.clear();
    for (std::uint32_t k = 0; k < clusters; ++k)
        if (counts[k])
            occupied.push_back(k);
    for (std::size_t x = 0; x < occupied.size(); ++x)
        for (std::size_t y = x + 1; y < occupied.size(); ++y) {
            const auto k = occupied[x], l = occupied[y];
            changes[k * clusters + l] +=
                coefficient * (table[counts[k] + counts[l]] - table[counts[k]] - table[counts[l]]);
        }
}

std::vector<double> State::merge_changes() const {
    return problem_->is_linear() ? linear_merge_changes() : combined_merge_changes();
}

std::vector<double> State::linear_merge_changes() const {
    const auto clusters = n_clusters();
    const auto table = problem_->tables().joint();
    std::vector<double> changes(std::size_t{clusters} * clusters);
    for_each_row([&](std::size_t row, std::size_t, double coefficient, std::span<const float>) {
        add_pair_gains(row, table, coefficient, changes);
    });
    if (!problem_->has_gaps())
        for (std::uint32_t k = 0; k < clusters; ++k)
            for (std::uint32_t l = k + 1; l < clusters; ++l)
                changes[k * clusters + l] +=
                    problem_->estimate_scale() *
                    (table[sizes_[k] + sizes_[l]] - table[sizes_[k]] - table[sizes_[l]]);
    return changes;
}

std::vector<double> State::combined_merge_changes() const {
    const auto& tables = problem_->tables();
    const auto clusters = n_clusters();
    const auto pairs = std::size_t{clusters} * clusters;
    std::vector<double> changes(pairs, -value()), joint(pairs), estimate(pairs), losses(pairs);
    std::vector<Sums> sums(pairs);
    for (std::size_t t = 0; t < problem_->n_draws(); ++t) {
        std::fill(joint.begin(), joint.end(), joint_[t]);
        for (auto row = problem_->row_begin(t); row < problem_->row_begin(t + 1); ++row)
            add_pair_gains(row, tables.joint(), 1.0, joint);
        if (problem_->has_gaps()) {
            std::fill(estimate.begin(), estimate.end(), estimate_[t]);
            add_pair_gains(margin_row(t), tables.estimate(), 1.0, estimate);
        } else if (t == 0) {
            const auto table = tables.estimate();
            for (std::uint32_t k = 0; k < clusters; ++k)
                for (std::uint32_t l = k + 1; l < clusters; ++l)
                    estimate[k * clusters + l] =
                        estimate_[0] + table[sizes_[k] + sizes_[l]] - table[sizes_[k]] - table[sizes_[l]];
        }
        for (std::size_t pair = 0; pair < pairs; ++pair)
            sums[pair] = {joint[pair], estimate[pair], draw_[t], static_cast<double>(allocated_[t]),
                          tables.joint()[allocated_[t]]};
        tables.combine(sums, losses);
        for (std::size_t pair = 0; pair < pairs; ++pair)
            changes[pair] += problem_->weight(t) * losses[pair];
    }
    return changes;
}

void State::merge(std::uint32_t k, std::uint32_t l) {
    for_each_row([&](std::size_t row, std::size_t, double coefficient, std::span<const float> gain) {
        auto* counts = table_.counts(row);
        auto* gains = table_.gains(row);
        counts[k] += counts[l];
        counts[l] = 0;
        gains[k] = static_cast<float>(coefficient) * gain[counts[k]];
        gains[l] = static_cast<float>(coefficient) * gain[0];
    });
    std::replace(labels_.begin(), labels_.end(), l, k);
    sizes_[k] += sizes_[l];
    sizes_[l] = 0;
    close_cluster(l);
    refresh();
}

} // namespace partita
