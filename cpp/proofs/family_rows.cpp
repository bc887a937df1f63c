#include "proofs/family_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "common/clones.hpp"
#include "proofs/memberships.hpp"
#include "proofs/row.hpp"
#include "proofs/selection.hpp"

namespace partita::proofs {
namespace {

constexpr auto nobody_yet = ~std::uint32_t{0};
constexpr double row_round_off = 1e-10;               // subtracted from each row
constexpr double start_rate = 0.15, min_rate = 0.002; // of the steps, in units of (a + b) / size
constexpr double rate_of_part = 0.03, slowing = 0.97; // a part starts from its parent's multipliers
constexpr double max_mass = 5e6;                      // numbers in all rows
constexpr std::size_t min_groups = 16;
constexpr double regroup_below = 0.6; // of the open items that there were when the draws were grouped

PARTITA_CLONES void subtract_tangents(const double* mass, const double* tangents, std::size_t groups,
                                      std::size_t count, double* out) {
    for (std::size_t g = 0; g < groups; ++g)
        for (std::size_t j = 0; j < count; ++j)
            out[j] -= tangents[g] * mass[g * count + j];
}

PARTITA_CLONES void weigh(const double* mass, const double* y, std::size_t groups, std::size_t count,
                          double* out) {
    for (std::size_t g = 0; g < groups; ++g) {
        double part[4] = {};
        std::size_t j = 0;
        for (; j + 4 <= count; j += 4)
            for (std::size_t lane = 0; lane < 4; ++lane)
                part[lane] += mass[g * count + j + lane] * y[j + lane];
        for (; j < count; ++j)
            part[0] += mass[g * count + j] * y[j];
        out[g] += (part[0] + part[2]) + (part[1] + part[3]);
    }
}

/// How finely draws are told apart by |S n T| at the reference S and by the other items of the family in T.
struct Resolution {
    double of_reference; // per doubling; 0: every size by itself
    double of_others;
};
constexpr Resolution resolutions[] = {{0, 2}, {0, 1}, {8, 1}, {5, 1}, {3, 0.5}, {2, 0}, {1, 0}};

/// Numbers the groups of draws, coarser if there are too many of them.
std::vector<std::uint32_t> number_groups(std::span<const std::uint16_t> at_reference,
                                         std::span<const std::uint16_t> with_others, std::size_t most,
                                         std::span<const double> log2_table, std::size_t& count) {
    constexpr std::size_t others = 32;
    std::vector<std::uint32_t> group(at_reference.size());
    std::vector<std::uint32_t> number;
    for (const auto& resolution : resolutions) {
        number.assign((log2_table.size() * 8 + 8) * others, nobody_yet);
        count = 0;
        for (std::size_t h = 0; h < group.size(); ++h) {
            const auto reference =
                resolution.of_reference > 0
                    ? static_cast<std::size_t>(resolution.of_reference * log2_table[at_reference[h]])
                    : at_reference[h];
            const auto rest =
                static_cast<std::size_t>(resolution.of_others * log2_table[with_others[h] + 1u]);
            auto& known = number[reference * others + rest];
            if (known == nobody_yet)
                known = static_cast<std::uint32_t>(count++);
            group[h] = known;
        }
        if (count <= most)
            break;
    }
    return group;
}

} // namespace

double ReducedCosts::of(const Items& items) const {
    double reduced = per_cluster + costs.cost(items);
    for (const auto item : items)
        reduced -= duals[item];
    return reduced;
}

FamilyRows::FamilyRows(const ReducedCosts& problem, Family family, std::size_t n_groups)
    : problem_(&problem), costs_(&problem.costs), family_(std::move(family)), rows_(n_in() + n_open()),
      x_(n_open(), 0.0), rate_(start_rate) {
    for (auto& row : rows_) {
        row.y = x_;
        row.mu = x_;
    }
    prepare();
    group_draws(n_groups);
}

FamilyRows::FamilyRows(const FamilyRows& parent, Family family, std::size_t n_groups)
    : problem_(parent.problem_), costs_(parent.costs_), family_(std::move(family)),
      grouped_at_(parent.grouped_at_), rate_(rate_of_part) {
    constexpr auto absent = ~std::size_t{0};
    std::vector<std::size_t> row_of(costs_->n_items(), absent), place_of(costs_->n_items(), absent);
    for (std::size_t i = 0; i < parent.n_in(); ++i)
        row_of[parent.family_.in[i]] = i;
    for (std::size_t j = 0; j < parent.n_open(); ++j) {
        row_of[parent.family_.open[j]] = parent.n_in() + j;
        place_of[parent.family_.open[j]] = j;
    }
    std::vector<std::size_t> kept, joined; // places among the parent's open items
    for (const auto item : family_.open)
        kept.push_back(place_of[item]);
    for (const auto item : family_.in)
        if (place_of[item] != absent)
            joined.push_back(place_of[item]);
    for (const auto j : kept)
        x_.push_back(parent.x_[j]);
    if (static_cast<double>(n_open()) < regroup_below * static_cast<double>(grouped_at_))
        n_groups = max_groups;
    const bool regroups = n_groups > 0;
    for (const auto item : family_.in)
        rows_.push_back(reduced(parent.rows_[row_of[item]], kept, joined, !regroups));
    for (const auto item : family_.open)
        rows_.push_back(reduced(parent.rows_[row_of[item]], kept, joined, !regroups));
    prepare();
    if (regroups)
        group_draws(n_groups);
    else
        for (auto& row : rows_)
            set_overlap(row);
}

FamilyRows::Row FamilyRows::reduced(const Row& row, const std::vector<std::size_t>& kept,
                                    const std::vector<std::size_t>& joined, bool with_groups) {
    Row part;
    for (const auto j : kept) {
        part.y.push_back(row.y[j]);
        part.mu.push_back(row.mu[j]);
    }
    if (!with_groups)
        return part;
    part.weight = row.weight;
    part.base = row.base;
    part.mass.reserve(row.weight.size() * kept.size());
    for (std::size_t g = 0; g < row.weight.size(); ++g) {
        const auto* mass = &row.mass[g * row.y.size()];
        for (const auto j : joined)
            part.base[g] += mass[j];
        for (const auto j : kept)
            part.mass.push_back(mass[j]);
    }
    return part;
}

void FamilyRows::prepare() {
    const auto log2 = costs_->log2_table();
    if (family_.upper > family_.lower)
        slope_ =
            (log2[family_.upper] - log2[family_.lower]) / static_cast<double>(family_.upper - family_.lower);
    intercept_ = log2[family_.lower] - slope_ * static_cast<double>(family_.lower);
    bound_ = -never;
    selection_ = selection();
    never_in_.assign(n_open(), 0);
    never_out_ = never_in_;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        auto& row = rows_[i];
        row.own = i < n_in() ? ~std::size_t{0} : i - n_in();
        row.mean.assign(n_open(), 0.0);
        row.square.assign(n_open(), 0.0);
    }
}

/// The homes that have limits, of which the items that are in take their share.
Selection FamilyRows::selection() const {
    std::vector<std::uint16_t> group(n_open(), 0);
    std::vector<Limits> limits(1);
    for (const auto& [home, count] : family_.homes) {
        const auto is_of_home = [&](std::uint32_t item) { return problem_->homes[item] == home; };
        const auto held =
            static_cast<std::size_t>(std::count_if(family_.in.begin(), family_.in.end(), is_of_home));
        for (std::size_t j = 0; j < n_open(); ++j)
            if (is_of_home(family_.open[j]))
                group[j] = static_cast<std::uint16_t>(limits.size());
        // if too many are in, no number is allowed
        limits.push_back(held <= count.upper
                             ? Limits{count.lower - std::min(count.lower, held), count.upper - held}
                             : Limits{n_open() + 1, n_open() + 1});
    }
    return {std::move(group), std::move(limits)};
}

Limits FamilyRows::limits() const {
    return {family_.lower - std::min(family_.lower, n_in()), family_.upper - n_in()};
}

struct FamilyRows::Parts {
    Overlaps in, all;
    std::vector<std::uint16_t> open_labels; // draw after draw

    Parts(const ClusterCosts& costs, const Family& family)
        : in(costs, family.in), all(in), open_labels(costs.n_draws() * family.open.size()) {
        for (std::size_t j = 0; j < family.open.size(); ++j) {
            const auto item = family.open[j];
            all.insert(item);
            const auto labels = costs.labels(item);
            for (std::size_t h = 0; h < labels.size(); ++h)
                open_labels[h * family.open.size() + j] = labels[h];
        }
    }
};

void FamilyRows::group_draws(std::size_t n_groups) {
    grouped_at_ = n_open();
    const double room = max_mass / static_cast<double>(rows_.size() * std::max<std::size_t>(n_open(), 1));
    const auto most = std::clamp(static_cast<std::size_t>(room), std::min(min_groups, n_groups), n_groups);
    const Parts parts(*costs_, family_);
    for (std::size_t i = 0; i < rows_.size(); ++i)
        group_draws(rows_[i], i < n_in() ? family_.in[i] : family_.open[i - n_in()], parts, most);
}

void FamilyRows::group_draws(Row& row, std::uint32_t item, const Parts& parts, std::size_t n_groups) const {
    const auto n_draws = costs_->n_draws();
    std::vector<std::uint16_t> at_reference(n_draws), with_others(n_draws);
    const auto labels = costs_->labels(item);
    const int apart = parts.in.holds(item) ? 0 : 1;
    for (std::size_t h = 0; h < n_draws; ++h) {
        const double open = sum_where(&parts.open_labels[h * n_open()], labels[h], row.y.data(), n_open());
        at_reference[h] = static_cast<std::uint16_t>(std::lround(parts.in.with(item, h) + apart + open));
        const int others = parts.all.with(item, h) - at_reference[h];
        with_others[h] = static_cast<std::uint16_t>(std::max(others, 0));
    }
    std::size_t count = 0;
    const auto group = number_groups(at_reference, with_others, n_groups, costs_->log2_table(), count);
    row.weight.assign(count, 0.0);
    row.base.assign(count, 0.0);
    row.mass.assign(count * n_open(), 0.0);
    for (std::size_t h = 0; h < n_draws; ++h) {
        const double weight = costs_->weight(h);
        row.weight[group[h]] += weight;
        row.base[group[h]] += weight * (parts.in.with(item, h) + apart);
        add_where(&parts.open_labels[h * n_open()], labels[h], weight, n_open(),
                  &row.mass[group[h] * n_open()]);
    }
    if (row.own < n_open())
        for (std::size_t g = 0; g < count; ++g)
            row.mass[g * n_open() + row.own] = 0.0;
    set_overlap(row);
}

void FamilyRows::set_overlap(Row& row) const {
    row.overlap = row.base;
    weigh(row.mass.data(), row.y.data(), row.weight.size(), n_open(), row.overlap.data());
}

void FamilyRows::step(bool probes) {
    for (auto& row : rows_)
        evaluate(row);
    reduce(probes);
    if (bound_ >= 0)
        return;
    ++steps_;
    rate_ = std::max(min_rate, rate_ * slowing);
    move_references();
    move_multipliers();
}

/// The least value of the row over the sets of the family, with the current tangents.
void FamilyRows::evaluate(Row& row) {
    const bool is_open = row.own < n_open();
    const auto fixed = n_in() + (is_open ? 1 : 0);
    const double b = costs_->b(), both = costs_->both();
    double value = b * (intercept_ + slope_ * static_cast<double>(fixed));
    std::vector<double> tangents(row.weight.size());
    for (std::size_t g = 0; g < tangents.size(); ++g) {
        const double v = std::max(1.0, row.overlap[g] / row.weight[g]), p = std::numbers::log2e / v;
        value -= both * (row.weight[g] * conjugate(v, p, costs_->log2_table()) + p * row.base[g]);
        tangents[g] = both * p;
    }
    row.coefficients.resize(n_open());
    for (std::size_t j = 0; j < n_open(); ++j)
        row.coefficients[j] = b * slope_ + row.mu[j];
    subtract_tangents(row.mass.data(), tangents.data(), tangents.size(), n_open(), row.coefficients.data());
    selection_.run(row.coefficients, limits(), row.choice, is_open ? row.own : Selection::no_item);
    row.value = row.choice.is_possible() ? value + row.choice.sum : never;
}

/// The set x that the rows' values favour, and with it the bound.
void FamilyRows::reduce(bool probes) {
    double of_in = problem_->per_cluster - round_off();
    std::vector<double> reduced(n_open());
    for (std::size_t j = 0; j < n_open(); ++j)
        reduced[j] = rows_[n_in() + j].value - problem_->duals[family_.open[j]];
    for (std::size_t i = 0; i < n_in(); ++i) {
        of_in += rows_[i].value - problem_->duals[family_.in[i]];
        for (std::size_t j = 0; j < n_open(); ++j)
            reduced[j] -= rows_[i].mu[j];
    }
    note_decided(reduced, of_in);
    if (probes && bound_ < 0)
        probe(reduced, of_in);
}

void FamilyRows::move_references() {
    constexpr double averaging = 0.2; // weight of the newest minimiser
    for (std::size_t j = 0; j < n_open(); ++j)
        x_[j] += averaging * (choice_.chosen[j] - x_[j]);
    for (auto& row : rows_) {
        for (std::size_t j = 0; j < n_open(); ++j)
            row.y[j] += averaging * (row.choice.chosen[j] - row.y[j]);
        set_overlap(row);
    }
}

void FamilyRows::move_multipliers() {
    constexpr double momentum = 0.9, memory = 0.99, damping = 0.1; // of the steps (Adam)
    const auto age = static_cast<double>(steps_);
    // tangents, and with them good multipliers, are inverse to the sizes
    const double rate = rate_ * costs_->both() / static_cast<double>(family_.upper + 2);
    const double first = 1 - std::pow(momentum, age), second = 1 - std::pow(memory, age);
    const auto move = [&](Row& row, std::size_t j, double violation) {
        row.mean[j] += (1 - momentum) * (violation - row.mean[j]);
        row.square[j] += (1 - memory) * (violation * violation - row.square[j]);
        return rate * (row.mean[j] / first) / (std::sqrt(row.square[j] / second) + damping);
    };
    for (std::size_t i = 0; i < n_in(); ++i)
        for (std::size_t j = 0; j < n_open(); ++j)
            rows_[i].mu[j] += move(rows_[i], j, rows_[i].y[j] - x_[j]);
    for (std::size_t i = 0; i < n_open(); ++i) {
        auto& row = rows_[n_in() + i];
        for (std::size_t j = i + 1; j < n_open(); ++j) {
            auto& other = rows_[n_in() + j];
            const double change = move(row, j, x_[i] * row.y[j] - x_[j] * other.y[i]);
            row.mu[j] += change;
            other.mu[i] -= change;
        }
    }
}

double FamilyRows::round_off() const { return row_round_off * static_cast<double>(rows_.size()); }

double FamilyRows::likely_size() const {
    return std::accumulate(x_.begin(), x_.end(), static_cast<double>(n_in()));
}

Items FamilyRows::likely() const {
    Items items;
    for (std::size_t j = 0; j < n_open(); ++j)
        if (x_[j] > 0.5)
            items.push_back(family_.open[j]);
    return items;
}

double FamilyRows::chord_loss() const {
    double most = 0;
    for (auto size = family_.lower; size <= family_.upper; ++size) {
        const auto s = static_cast<double>(size);
        most = std::max(most, s * (costs_->log2_table()[size] - intercept_ - slope_ * s));
    }
    return costs_->b() * most;
}

} // namespace partita::proofs
