#include "draws/components.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <utility>

#include "common/keyed_sums.hpp"
#include "common/union_find.hpp"
#include "draws/linear_loss.hpp"
#include "draws/policy.hpp"
#include "partition/labels.hpp"
#include "partition/small_exact.hpp"

namespace partita::search {
namespace {

constexpr std::size_t parts_at_a_time = 256;

/// Restrictions, with the atom of each item; nothing if there are no atoms.
struct Rules {
    const Restrictions& restrictions;
    std::vector<std::uint32_t> atom_of;

    Rules(const Restrictions& all, std::size_t n_items) : restrictions(all) {
        atom_of.resize(all.atoms.empty() ? 0 : n_items);
        for (std::uint32_t v = 0; v < all.atoms.size(); ++v)
            for (const auto i : all.atoms[v])
                atom_of[i] = v;
    }
};

/// A component of up to max_enumerated items: sets of them are the bits of a number.
class SmallPart {
public:
    SmallPart(const SparseProblem& problem, std::span<const std::uint32_t> items, const Rules& rules)
        : problem_(problem), items_(items), n_sets_(std::size_t{1} << items.size()) {
        find_masks();
        find_costs();
        forbid_sets(rules);
    }

    double cost(std::size_t set) const { return costs_[set]; }
    SmallExact solved() const { return {costs_, false}; }

private:
    /// The rows of the items, each as the set of those that are here; equal ones as one.
    void find_masks() {
        std::map<std::uint32_t, std::pair<std::uint32_t, double>> rows; // mask and coefficient, in order
        for (std::size_t bit = 0; bit < items_.size(); ++bit)
            for (const auto& of_item : problem_.rows().rows_of(items_[bit]))
                rows.try_emplace(of_item.row, 0u, of_item.coefficient).first->second.first |= 1u << bit;
        coefficients_.assign(n_sets_, 0);
        for (std::size_t bit = 0; bit < items_.size(); ++bit)
            for (const auto& pair : problem_.rows().pairs_of(items_[bit]))
                if (const auto other = std::lower_bound(items_.begin(), items_.end(), pair.other);
                    pair.other > items_[bit] && other != items_.end() && *other == pair.other)
                    coefficients_[std::size_t{1} << bit | std::size_t{1} << (other - items_.begin())] +=
                        pair.coefficient;
        for (const auto& [row, own] : rows)
            coefficients_[own.first] += own.second;
        margins_.assign(n_sets_, 0);
        if (!problem_.has_gaps())
            margins_.back() = problem_.estimate_scale();
        else
            for (std::size_t t = 0; t < problem_.n_draws(); ++t) {
                std::size_t mask = 0;
                for (std::size_t bit = 0; bit < items_.size(); ++bit)
                    mask |= std::size_t{problem_.is_labelled(items_[bit], t)} << bit;
                margins_[mask] += problem_.margin_coefficients()[t];
            }
    }

    /// What each set adds to the value as a cluster.
    void find_costs() {
        const auto table = problem_.tables().joint();
        std::vector<std::uint32_t> counts(n_sets_, 0); // items of each set, copies counted
        std::vector<double> alone(n_sets_, 0), singles(n_sets_, 0);
        for (std::size_t set = 1; set < n_sets_; ++set) {
            const auto item = items_[static_cast<std::size_t>(std::countr_zero(set))];
            const auto rest = set & (set - 1);
            counts[set] = counts[rest] + problem_.copies(item);
            alone[set] = alone[rest] + problem_.alone(item);
            singles[set] = singles[rest] + table[problem_.copies(item)];
        }
        costs_ = std::move(alone);
        for (std::size_t mask = 1; mask < n_sets_; ++mask)
            if (coefficients_[mask] != 0 || margins_[mask] != 0)
                for (std::size_t set = 1; set < n_sets_; ++set) {
                    const auto both = set & mask;
                    costs_[set] += coefficients_[mask] * (table[counts[both]] - singles[both]) +
                                   margins_[mask] * table[counts[both]];
                }
    }

    /// The bits of those items that are here.
    std::size_t set_of(const std::vector<std::uint32_t>& others) const {
        std::size_t set = 0;
        for (std::size_t bit = 0; bit < items_.size(); ++bit)
            set |= std::size_t{std::find(others.begin(), others.end(), items_[bit]) != others.end()} << bit;
        return set;
    }

    /// Makes clusters that break a restriction cost infinity.
    void forbid_sets(const Rules& rules) {
        const auto forbid_if = [&](auto breaks) {
            for (std::size_t set = 1; set < n_sets_; ++set)
                if (breaks(set))
                    costs_[set] = std::numeric_limits<double>::infinity();
        };
        if (items_.size() > rules.restrictions.max_size)
            forbid_if([&](std::size_t set) {
                return static_cast<std::size_t>(std::popcount(set)) > rules.restrictions.max_size;
            });
        for (std::size_t bit = 0; bit < items_.size(); ++bit) {
            const auto item = items_[bit];
            const auto all = rules.atom_of.empty() ? std::size_t{1} << bit
                                                   : set_of(rules.restrictions.atoms[rules.atom_of[item]]);
            const auto others = rules.restrictions.apart.empty() ? 0 : set_of(rules.restrictions.apart[item]);
            if (std::popcount(all) > 1 || others)
                forbid_if([&](std::size_t set) {
                    return (set >> bit & 1) && ((set & all) != all || (set & others));
                });
        }
    }

    const SparseProblem& problem_;
    std::span<const std::uint32_t> items_;
    std::size_t n_sets_;
    std::vector<double> coefficients_, margins_; // of each set that is a row, or that a draw labels
    std::vector<double> costs_;
};

/// Whether the finer graph of Binder's loss, on pairs of items, is at hand and cheap.
bool is_by_pairs(const SparseProblem& problem) {
    const auto loss = as_linear(problem.tables().loss());
    if (!loss->is_binder || problem.has_gaps())
        return false;
    double pairs = 0;
    for (std::size_t row = 0; row < problem.rows().size(); ++row) {
        const auto size = static_cast<double>(problem.rows().items_of(row).size());
        pairs += size * size;
    }
    const auto entries = problem.rows().items.size() + problem.rows().pairs.size();
    return pairs <= draws::policy::max_pairs_per_entry * static_cast<double>(entries);
}

/// Joins the items whose pair lowers Binder's loss: estimate_scale plus the coefficients of the rows that
/// have both, times 2 m_i m_j, is what joining them alone changes.
void join_pairs(const SparseProblem& problem, UnionFind& sets) {
    common::KeyedSums sums(problem.n_items());
    for (std::uint32_t i = 0; i < problem.n_items(); ++i) {
        for (const auto& pair : problem.rows().pairs_of(i))
            if (pair.other > i)
                sums.add(pair.other, pair.coefficient);
        for (const auto& of_item : problem.rows().rows_of(i))
            for (const auto j : problem.rows().items_of(of_item.row))
                if (j > i)
                    sums.add(j, of_item.coefficient);
        for (const auto j : sums.keys())
            if (sums[j] + problem.estimate_scale() < 0)
                sets.join(i, j);
        sums.clear();
    }
}

std::vector<std::uint32_t> parts_of(const SparseProblem& problem, const Restrictions& restrictions) {
    UnionFind sets(problem.n_items());
    for (const auto& atom : restrictions.atoms)
        for (const auto i : atom)
            sets.join(atom.front(), i);
    if (is_by_pairs(problem)) {
        join_pairs(problem, sets);
        return sets.numbers();
    }
    for (std::uint32_t i = 0; i < problem.n_items(); ++i)
        for (const auto& pair : problem.rows().pairs_of(i))
            sets.join(i, pair.other);
    for (std::size_t row = 0; row < problem.rows().size(); ++row)
        for (const auto i : problem.rows().items_of(row))
            sets.join(problem.rows().items_of(row).front(), i);
    return sets.numbers();
}

/// The value of the labels within a part; infinity where a cluster reaches beyond it.
double value_of(const SmallPart& part, std::span<const std::uint32_t> items,
                std::span<const std::uint32_t> labels, std::span<const std::uint32_t> sizes) {
    double value = 0;
    for (std::size_t left = (std::size_t{1} << items.size()) - 1; left;) {
        const auto label = labels[items[static_cast<std::size_t>(std::countr_zero(left))]];
        std::size_t cluster = 0;
        for (std::size_t bit = 0; bit < items.size(); ++bit)
            cluster |= std::size_t{labels[items[bit]] == label} << bit;
        if (static_cast<std::uint32_t>(std::popcount(cluster)) != sizes[label])
            return std::numeric_limits<double>::infinity();
        value += part.cost(cluster);
        left &= ~cluster;
    }
    return value;
}

void solve(const SparseProblem& problem, std::size_t c, std::span<const std::uint32_t> labels,
           std::span<const std::uint32_t> sizes, const Rules& rules, Parts& parts) {
    const auto& items = parts.items[c];
    const SmallPart part(problem, items, rules);
    const auto solved = part.solved();
    parts.least[c] = solved.least();
    std::uint32_t next = 0;
    for (const auto cluster : solved.clusters()) {
        for (std::size_t bit = 0; bit < items.size(); ++bit)
            if (cluster >> bit & 1)
                parts.labels[items[bit]] = next;
        ++next;
    }
    if (!labels.empty())
        parts.given[c] = value_of(part, items, labels, sizes);
}

} // namespace

template <class Label> std::vector<std::uint32_t> find_components(const Draws<Label>& draws) {
    UnionFind sets(draws.n_items);
    for (std::size_t t = 0; t < draws.n_draws() && sets.n_sets() > 1; ++t)
        if (draws.weights[t] > 0)
            sets.join_alike(draws.draw(t), count_clusters(draws.draw(t)));
    return sets.numbers();
}

Parts solve_parts(const SparseProblem& problem, std::span<const std::uint32_t> labels,
                  const Restrictions& restrictions, unsigned threads, const common::StopFlag& stop) {
    Parts parts;
    parts.component = parts_of(problem, restrictions);
    parts.labels.assign(problem.n_items(), no_cluster);
    for (std::uint32_t i = 0; i < problem.n_items(); ++i) {
        if (parts.component[i] == parts.items.size())
            parts.items.emplace_back();
        parts.items[parts.component[i]].push_back(i);
    }
    parts.least.assign(parts.items.size(), std::numeric_limits<double>::quiet_NaN());
    parts.given = parts.least;
    std::vector<std::uint32_t> sizes(problem.n_items());
    for (const auto label : labels)
        ++sizes[label];
    const Rules rules(restrictions, problem.n_items());
    const auto blocks = (parts.items.size() + parts_at_a_time - 1) / parts_at_a_time;
    common::parallel_for(blocks, threads, stop, [&](std::size_t block, unsigned) {
        const auto end = std::min(parts.items.size(), (block + 1) * parts_at_a_time);
        for (auto c = block * parts_at_a_time; c < end && !stop; ++c)
            if (parts.items[c].size() <= max_enumerated)
                solve(problem, c, labels, sizes, rules, parts);
    });
    return parts;
}

template std::vector<std::uint32_t> find_components(const Draws<std::uint8_t>&);
template std::vector<std::uint32_t> find_components(const Draws<std::uint16_t>&);
template std::vector<std::uint32_t> find_components(const Draws<std::uint32_t>&);

} // namespace partita::search
