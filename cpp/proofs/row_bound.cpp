#include "proofs/row_bound.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "proofs/multipliers.hpp"
#include "proofs/rows.hpp"

namespace partita::proofs {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double size_ratio = 1.25;         // of the largest to the smallest size of a class
constexpr std::size_t groups_of_draws = 48; // per item, each with one tangent of the logarithm
constexpr std::size_t first_passes = 20;    // without multipliers
constexpr double averaging = 0.1;           // weight of the newest minimiser in a reference
constexpr double first_rate = 0.006;        // of the multipliers' steps, in units of a coefficient; falls to
constexpr double last_rate = 3e-5;
constexpr std::size_t all_every = 10, separate_every = 20, regroup_every = 100; // passes
constexpr double ascent_share = 0.9;  // of the time; the rest is for the last passes and the final bound
constexpr double regroup_share = 0.7; // of the ascent; groups are then split and fixed: multipliers fit them
constexpr std::size_t groups_at_last = 192;
constexpr double max_shares = 1e8; // numbers that the groups may store
constexpr std::size_t last_passes = 60;
constexpr double cost_ratio = 20; // time between two bounds on the way, in units of the time for one

constexpr double float_error = 1e-3; // more than the single-precision error of a row
constexpr double round_off = 1e-9;   // subtracted from each row

/// The least value of one row, with one tangent per group of draws: any tangent is valid, and the references
/// are optimal for these tangents.
template <class Label>
double certified_row(const Draws<Label>& draws, const Rows& rows, const Kind& kind, std::size_t item,
                     const double* cost, double constant) {
    const auto& weights = rows.weights;
    const auto& groups = rows.members[item].draws;
    const auto* overlap = &rows.overlap[kind.cell(item) * rows.n_groups];
    double fixed = kind.size.intercept + weights.a * rows.own[item] + constant;
    std::vector<double> together(rows.n, 0.0), q(kind.count());
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const double v = std::max(1.0, static_cast<double>(overlap[g])), p = std::numbers::log2e / v;
        const double top = conjugate(v, p, rows.log2_table);
        for (const auto h : groups[g]) {
            const auto row = draws.draw(h);
            fixed -= weights.both() * draws.weights[h] * top;
            add_where(row.data(), row[item], p * draws.weights[h], rows.n, together.data());
        }
    }
    for (std::size_t s = 0; s < kind.count(); ++s)
        q[s] = kind.size.slope + cost[s] - weights.both() * together[kind.items[s]];
    const auto places = fixed_places(kind, item);
    const Row<double> row{q, fixed, places, static_cast<std::size_t>(kind.size.lower),
                          static_cast<std::size_t>(kind.size.upper)};
    std::vector<std::uint32_t> order;
    std::size_t taken = 0;
    return least(row, order, taken);
}

/// The sum over the items of their least values. Every kind's last value is a bound too, up to single
/// precision, if it was found at the current multipliers. So kinds may be skipped, but only those whose last
/// value is above the least certified value: the references have moved since, which may have raised the kinds
/// that looked least. If it is stopped, the sum is of no use.
template <class Label>
double certificate(const Draws<Label>& draws, const Rows& rows, const Multipliers& multipliers,
                   unsigned threads, const common::StopFlag& stop) {
    std::vector<double> min_value(rows.n, never);
    const auto certify = [&](auto&& needs) {
        std::vector<double> cost, constant;
        for (std::size_t k = 0; k < rows.kinds.list.size(); ++k) {
            const auto& kind = rows.kinds.list[k];
            const auto needed = [&](std::uint32_t item) {
                return kind.admits(item) && needs(item, rows.value[kind.cell(item)]);
            };
            if (std::none_of(kind.items.begin(), kind.items.end(), needed))
                continue;
            multipliers.costs(kind, k, cost, constant);
            common::parallel_for(kind.count(), threads, [&](std::size_t s, unsigned) {
                const auto item = kind.items[s];
                if (stop || !needed(item))
                    return;
                const double value =
                    certified_row(draws, rows, kind, item, cost.data() + s * kind.count(), constant[s]);
                min_value[item] = std::min(min_value[item], value - round_off);
            });
        }
    };
    std::vector<double> near(rows.n);
    for (std::size_t i = 0; i < rows.n; ++i)
        near[i] = rows.min_of(i) + 2 * float_error;
    certify([&](std::uint32_t item, double value) { return value <= near[item]; });
    certify([&](std::uint32_t item, double value) {
        return value > near[item] && value - float_error < min_value[item];
    });
    return std::accumulate(min_value.begin(), min_value.end(), 0.0);
}

template <class Label> class Ascent {
public:
    Ascent(const Draws<Label>& draws, const RowBoundOptions& options, const common::StopFlag& stop)
        : draws_(draws), options_(options), stop_(stop), started_(Clock::now()),
          rows_(draws.n_items, kinds(draws.n_items, options), {options.a, options.b},
                whole_groups(std::min(groups_of_draws, draws.n_draws()))),
          multipliers_(rows_.kinds) {}

    RowBoundResult run() {
        RowBoundResult result;
        start_at_similarity();
        regroup(never, false);
        for (std::size_t t = 0; t < first_passes && !late(1); ++t) {
            pass(2.0 / (static_cast<double>(t) + 3.0), true);
            if (t == first_passes / 2)
                regroup(margin, false);
        }
        certify(stop_);
        if (stop_) // there is no bound yet, and to find one would take seconds
            return result;
        result.rows_only = best_;
        if (!late(1)) {
            ascend();
            if (best_ < options_.enough) {
                settle();
                certify(to_the_end_);
            }
        }
        result.value = best_;
        result.passes = passes_;
        result.triangles = multipliers_.n_triangles();
        return result;
    }

private:
    static std::size_t whole_groups(std::size_t groups) { return (groups + 15) / 16 * 16; }

    static Kinds kinds(std::size_t n, const RowBoundOptions& options) {
        return {n, size_classes(n, size_ratio, {options.b, options.per_cluster}), options.anchors};
    }

    /// The share of the time or of the passes that is used up.
    double progress() const {
        return std::max(elapsed() / options_.seconds,
                        static_cast<double>(passes_) / static_cast<double>(options_.max_passes));
    }
    bool late(double share) const { return stop_ || best_ >= options_.enough || progress() >= share; }
    void pass(double step, bool all) {
        rows_.pass(step, all, options_.threads);
        ++passes_;
    }
    double elapsed() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }

    /// The bound at the current multipliers, unless it is stopped, and the time when the next one is worth
    /// its cost.
    void certify(const common::StopFlag& stop) {
        const double before = elapsed();
        const double sum = certificate(draws_, rows_, multipliers_, options_.threads, stop);
        if (stop)
            return;
        const double of_clusters = options_.per_cluster * static_cast<double>(options_.max_clusters);
        best_ = std::max(best_, (sum - of_clusters) / static_cast<double>(rows_.n));
        const double now = elapsed();
        while (next_mark_ <= now)
            next_mark_ = next_mark_ < 60 ? std::min(next_mark_ * 10, 60.0) : next_mark_ + 60;
        not_before_ = now + cost_ratio * (now - before);
        if (options_.report)
            options_.report(best_);
    }

    /// A bound on the way: for whoever waits for it, and because it may be enough.
    void certify_on_the_way() {
        const double now = elapsed();
        const bool wanted = options_.report || std::isfinite(options_.enough);
        if (!wanted || now < next_mark_ || now < not_before_)
            return;
        multipliers_.spread(rows_, options_.threads);
        pass(averaging / 10, true);
        certify(stop_);
    }

    /// Every item's references contain the items that are most often with it.
    void start_at_similarity() {
        const auto n = draws_.n_items;
        common::parallel_for(n, options_.threads, [&](std::size_t i, unsigned) {
            std::vector<double> with(n, 0.0);
            double own = 0;
            for (std::size_t h = 0; h < draws_.n_draws(); ++h) {
                const auto row = draws_.draw(h);
                const auto size = static_cast<std::size_t>(std::count(row.begin(), row.end(), row[i]));
                own += draws_.weights[h] * rows_.log2_table[size];
                add_where(row.data(), row[i], draws_.weights[h], n, with.data());
            }
            std::vector<std::uint32_t> order(n);
            std::iota(order.begin(), order.end(), 0u);
            std::stable_sort(order.begin(), order.end(), [&](auto x, auto y) { return with[x] > with[y]; });
            rows_.start(i, own, order);
        });
    }

    /// Regroups the draws of every item, by |S n T| in the kinds whose value is near the item's least value.
    void regroup(double within, bool refine) {
        common::parallel_for(draws_.n_items, options_.threads, [&](std::size_t i, unsigned) {
            if (stop_ && best_ <= 0)
                return; // nothing will be certified
            const auto near = rows_.near(i, within);
            std::vector<float> features(draws_.n_draws() * near.size()), x;
            for (std::size_t f = 0; f < near.size(); ++f) {
                rows_.spread_reference(i, rows_.kinds.list[near[f]], x);
                for (std::size_t h = 0; h < draws_.n_draws(); ++h) {
                    const auto row = draws_.draw(h);
                    const float both = masked_sum(x.data(), row.data(), row[i], x.size());
                    features[h * near.size() + f] = std::log2(std::max(1.0f, both));
                }
            }
            rows_.members[i].regroup(draws_, i, features, near.size(), rows_.n_groups, refine);
            rows_.refresh_overlaps(i);
        });
    }

    /// More groups, as memory allows. Splitting groups raises the rows at any multipliers.
    void refine_groups() {
        const auto numbers = static_cast<double>(draws_.n_items * draws_.n_items);
        const auto fit = static_cast<std::size_t>(max_shares / numbers) / 16 * 16;
        const auto wanted = whole_groups(std::min(groups_at_last, draws_.n_draws()));
        rows_.set_groups(std::max(rows_.n_groups, std::min(fit, wanted)));
        regroup(margin, true);
    }

    /// Steps of the multipliers, with a rate that falls with the remaining time.
    void ascend() {
        const double begin = progress(), whole = std::max(1e-9, ascent_share - begin);
        bool refined = false;
        for (std::size_t t = 1; !late(ascent_share); ++t) {
            const double part = (progress() - begin) / whole;
            multipliers_.step(rows_, first_rate * std::pow(last_rate / first_rate, part), options_.threads);
            if (t % separate_every == 0)
                multipliers_.separate(rows_, options_.threads);
            if (part >= regroup_share && !std::exchange(refined, true))
                refine_groups();
            if (t % regroup_every == 0 && !refined) {
                regroup(margin, false);
                multipliers_.spread(rows_, options_.threads);
            }
            pass(averaging, t % all_every == 0);
            certify_on_the_way();
        }
    }

    /// Moves only the references, to where the values are largest.
    void settle() {
        multipliers_.spread(rows_, options_.threads);
        const double share = (1 + ascent_share) / 2;
        for (std::size_t t = 0; t < last_passes && !late(share); ++t)
            pass(2.0 / (static_cast<double>(t) + 2.0 / averaging), t % all_every == 0);
        pass(averaging / 10, true);
    }

    const Draws<Label>& draws_;
    const RowBoundOptions& options_;
    const common::StopFlag& stop_;
    const common::StopFlag to_the_end_{};
    Clock::time_point started_;
    std::size_t passes_ = 0;
    double best_ = -never, next_mark_ = 1, not_before_ = 0; // seconds
    Rows rows_;
    Multipliers multipliers_;
};

} // namespace

template <class Label>
RowBoundResult row_bound(const Draws<Label>& draws, const RowBoundOptions& options,
                         const common::StopFlag& stop) {
    return Ascent<Label>(draws, options, stop).run();
}

#define INSTANTIATE(Label)                                                                                   \
    template RowBoundResult row_bound(const Draws<Label>&, const RowBoundOptions&, const common::StopFlag&);
PARTITA_FOR_EACH_LABEL(INSTANTIATE)
#undef INSTANTIATE

} // namespace partita::proofs
