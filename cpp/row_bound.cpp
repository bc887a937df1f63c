#include "row_bound.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "bounds/grouping.hpp"
#include "bounds/row.hpp"
#include "clones.hpp"

namespace partita {

namespace {

using namespace bounds;
using Clock = std::chrono::steady_clock;

constexpr double log2_e = std::numbers::log2e;
constexpr double never = 1e300;

constexpr double size_ratio = 1.25;         // of the largest to the smallest size of a class
constexpr std::size_t groups_of_draws = 48; // that share one tangent of the logarithm, for each item
constexpr std::size_t first_passes = 20;    // without multipliers
constexpr double margin = 0.3;              // bits above an item's least within which a class is in play
constexpr double averaging = 0.1;           // weight of the newest minimiser in a reference
constexpr double first_rate = 0.03;         // of the multipliers' steps, in units of a coefficient; falls to
constexpr double last_rate = 3e-5;
constexpr float momentum = 0.9f, memory = 0.99f, damping = 0.1f;                // of the steps (Adam)
constexpr std::size_t all_every = 10, separate_every = 20, regroup_every = 100; // passes
constexpr std::size_t triangles_an_item = 40;                                   // new ones at most, each time
constexpr std::uint32_t patience = 50; // passes that an idle triangle may stay
constexpr double float_error = 1e-3;   // more than single precision can spoil in a row
constexpr double ascent_share = 0.9;   // of the time; the rest is for the final bound
constexpr double round_off = 1e-9;     // taken off the final bound

/// For one item: groups of draws, and for each the share of its weight in which the item is with item j.
struct Memberships {
    std::vector<float> weight; // (groups)
    std::vector<float> shares; // (items, groups): item after item
};

PARTITA_CLONES void dots(const float* shares, const float* tangents, std::size_t n, std::size_t groups,
                         float scale, const float* start, float slope, float* out) {
    for (std::size_t j = 0; j < n; ++j) {
        const float* row = shares + j * groups;
        float sum = 0;
        for (std::size_t g = 0; g < groups; g += 16) {
            float part[16];
            for (int s = 0; s < 16; ++s)
                part[s] = row[g + s] * tangents[g + s];
            for (int s = 0; s < 8; ++s)
                part[s] += part[s + 8];
            for (int s = 0; s < 4; ++s)
                part[s] += part[s + 4];
            sum += (part[0] + part[2]) + (part[1] + part[3]);
        }
        out[j] = slope + start[j] - scale * sum;
    }
}

PARTITA_CLONES void add_row(const float* row, std::size_t groups, float* out) {
    for (std::size_t g = 0; g < groups; ++g)
        out[g] += row[g];
}

template <class Label>
PARTITA_CLONES float masked_sum(const float* x, const Label* row, Label own, std::size_t n) {
    float sum = 0;
    for (std::size_t j = 0; j < n; ++j)
        sum += row[j] == own ? x[j] : 0.0f;
    return sum;
}

template <class Label>
PARTITA_CLONES void subtract_where(const Label* row, Label own, double amount, std::size_t n, double* out) {
    for (std::size_t j = 0; j < n; ++j)
        out[j] -= row[j] == own ? amount : 0.0;
}

/// x_ij + x_il - x_jl <= y_i in one size class, with its multiplier and the state of its steps.
struct Triangle {
    std::uint32_t k, i, j, l;
    float tau = 0, mean = 0, square = 0;
    std::uint32_t idle = 0;
};

template <class Label> class Ascent {
public:
    Ascent(const Draws<Label>& draws, const RowBoundOptions& options, const StopFlag& stop)
        : draws_(draws), options_(options), stop_(stop), n_(draws.n_items),
          classes_(size_classes(n_, size_ratio)),
          groups_((std::min(groups_of_draws, draws.n_draws()) + 15) / 16 * 16), members_(n_),
          draw_groups_(n_), own_(n_, 0.0), log2_table_(n_ + 2, 0.0), started_(Clock::now()) {
        for (std::size_t m = 1; m < log2_table_.size(); ++m)
            log2_table_[m] = std::log2(static_cast<double>(m));
        prepare();
    }

    RowBoundResult run() {
        RowBoundResult result;
        const auto cells = n_ * classes_.size();
        mean_x_.assign(cells * n_, 0.0f);
        mean_v_.assign(cells * groups_, 1.0f);
        value_.assign(cells, 0.0);
        share_.assign(cells, 0.0f);
        cost_.assign(cells * n_, 0.0f);
        constant_.assign(cells, 0.0);
        start_at_similarity();
        regroup(never);
        for (std::size_t t = 0; t < first_passes && !late(); ++t, ++result.passes) {
            pass(2.0 / (static_cast<double>(t) + 3.0), true);
            if (t == first_passes / 2)
                regroup(margin);
        }
        result.rows_only = result.value = certify();
        if (late())
            return result;
        ascend(result);
        return result;
    }

private:
    std::size_t cell(std::size_t i, std::size_t k) const { return i * classes_.size() + k; }
    bool late() const { return stop_ || elapsed() > options_.seconds; }
    double elapsed() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }

    void prepare() {
        parallel_for(n_, options_.threads, [&](std::size_t i, unsigned) {
            for (std::size_t h = 0; h < draws_.n_draws(); ++h) {
                const auto row = draws_.draw(h);
                const auto size = static_cast<std::size_t>(std::count(row.begin(), row.end(), row[i]));
                own_[i] += draws_.weights[h] * log2_table_[size];
            }
        });
    }

    /// Groups the draws of every item anew, by the classes whose value is near the item's least.
    void regroup(double within) {
        parallel_for(n_, options_.threads, [&](std::size_t i, unsigned) {
            const auto near = classes_near(i, within);
            std::vector<float> features(draws_.n_draws() * near.size());
            for (std::size_t h = 0; h < draws_.n_draws(); ++h)
                for (std::size_t f = 0; f < near.size(); ++f)
                    features[h * near.size() + f] = std::log2(std::max(1.0f, overlap(i, near[f], h)));
            draw_groups_[i] = Grouping(features, near.size(), draws_.weights).run(groups_);
            members_[i].weight.assign(groups_, 0.0f);
            members_[i].shares.assign(n_ * groups_, 0.0f);
            std::vector<double> mass;
            for (std::size_t g = 0; g < draw_groups_[i].size(); ++g) {
                const double weight = mass_of(i, g, mass);
                members_[i].weight[g] = static_cast<float>(weight);
                for (std::size_t j = 0; j < n_ && weight > 0; ++j)
                    members_[i].shares[j * groups_ + g] = static_cast<float>(mass[j] / weight);
            }
            for (std::size_t k = 0; k < classes_.size(); ++k)
                refresh_overlaps(i, k);
        });
    }

    std::vector<std::size_t> classes_near(std::size_t i, double within) const {
        const double in_play = least_of(i) + within;
        std::vector<std::size_t> near;
        for (std::size_t k = 0; k < classes_.size(); ++k)
            if (value_[cell(i, k)] <= in_play)
                near.push_back(k);
        if (near.size() > 6) { // many classes hold nearly nested sets: some of them speak for all
            const auto all = std::exchange(near, {});
            for (std::size_t s = 0; s < 6; ++s)
                near.push_back(all[s * (all.size() - 1) / 5]);
        }
        return near;
    }

    /// |S n T| of draw h at the reference of the class.
    float overlap(std::size_t i, std::size_t k, std::size_t h) const {
        const auto row = draws_.draw(h);
        return masked_sum(&mean_x_[cell(i, k) * n_], row.data(), row[i], n_);
    }

    void refresh_overlaps(std::size_t i, std::size_t k) {
        const auto* x = &mean_x_[cell(i, k) * n_];
        auto* v = &mean_v_[cell(i, k) * groups_];
        std::fill_n(v, groups_, 0.0f);
        for (std::size_t j = 0; j < n_; ++j)
            if (x[j] > 0)
                for (std::size_t g = 0; g < groups_; ++g)
                    v[g] += x[j] * members_[i].shares[j * groups_ + g];
    }

    double mass_of(std::size_t i, std::size_t g, std::vector<double>& mass) const {
        mass.assign(n_, 0.0);
        double weight = 0;
        for (const auto h : draw_groups_[i][g]) {
            const auto row = draws_.draw(h);
            const auto w = draws_.weights[h];
            weight += w;
            for (std::size_t j = 0; j < n_; ++j)
                mass[j] += row[j] == row[i] ? w : 0.0;
        }
        return weight;
    }

    /// The reference x of a class: the items most often with this one.
    void start_at_similarity() {
        parallel_for(n_, options_.threads, [&](std::size_t i, unsigned) {
            std::vector<double> with(n_, 0.0);
            for (std::size_t h = 0; h < draws_.n_draws(); ++h) {
                const auto row = draws_.draw(h);
                for (std::size_t j = 0; j < n_; ++j)
                    with[j] += row[j] == row[i] ? draws_.weights[h] : 0.0;
            }
            with[i] = 2;
            std::vector<std::uint32_t> order(n_);
            std::iota(order.begin(), order.end(), 0u);
            std::stable_sort(order.begin(), order.end(), [&](auto x, auto y) { return with[x] > with[y]; });
            for (std::size_t k = 0; k < classes_.size(); ++k) {
                const auto size = static_cast<std::size_t>((classes_[k].lower + classes_[k].upper) / 2);
                for (std::size_t s = 0; s < size; ++s)
                    mean_x_[cell(i, k) * n_ + order[s]] = 1.0f;
            }
        });
    }

    /// One evaluation of the rows; their references move a step towards the minimisers.
    void pass(double step, bool all) {
        parallel_for(n_, options_.threads, [&](std::size_t i, unsigned) {
            std::vector<float> q(n_), tangents(groups_), v(groups_);
            std::vector<std::uint32_t> order;
            double best = never;
            std::size_t best_k = 0;
            const double in_play = all ? never : least_of(i) + margin;
            for (std::size_t k = 0; k < classes_.size(); ++k) {
                const auto c = cell(i, k);
                if (value_[c] > in_play)
                    continue;
                value_[c] = row_value(i, k, q, tangents, order);
                move_reference(i, k, step, order, v);
                if (value_[c] < best) {
                    best = value_[c];
                    best_k = k;
                }
            }
            for (std::size_t k = 0; k < classes_.size(); ++k) {
                auto& y = share_[cell(i, k)];
                y += static_cast<float>(step) * ((k == best_k ? 1.0f : 0.0f) - y);
            }
        });
    }

    double row_value(std::size_t i, std::size_t k, std::vector<float>& q, std::vector<float>& tangents,
                     std::vector<std::uint32_t>& order) {
        const auto c = cell(i, k);
        const auto& m = members_[i];
        const double both = options_.a + options_.b;
        double constant = options_.b * classes_[k].intercept + options_.a * own_[i] + constant_[c];
        for (std::size_t g = 0; g < groups_; ++g) {
            const double v = std::max(1.0, static_cast<double>(mean_v_[c * groups_ + g])), p = log2_e / v;
            tangents[g] = m.weight[g] * static_cast<float>(p);
            if (m.weight[g] > 0)
                constant -= both * static_cast<double>(m.weight[g]) * conjugate(v, p, log2_table_);
        }
        dots(m.shares.data(), tangents.data(), n_, groups_, static_cast<float>(both), &cost_[c * n_],
             static_cast<float>(options_.b * classes_[k].slope), q.data());
        const Row<float> row{q, constant, i, static_cast<std::size_t>(classes_[k].lower),
                             static_cast<std::size_t>(classes_[k].upper)};
        std::size_t taken = 0;
        const double value = least(row, order, taken);
        order.resize(taken);
        order.push_back(static_cast<std::uint32_t>(i));
        return value;
    }

    void move_reference(std::size_t i, std::size_t k, double step, const std::vector<std::uint32_t>& chosen,
                        std::vector<float>& v) {
        const auto c = cell(i, k);
        const auto keep = static_cast<float>(1 - step), add = static_cast<float>(step);
        auto* x = &mean_x_[c * n_];
        for (std::size_t j = 0; j < n_; ++j)
            x[j] *= keep;
        std::fill(v.begin(), v.end(), 0.0f);
        for (const auto j : chosen) {
            x[j] += add;
            add_row(&members_[i].shares[j * groups_], groups_, v.data());
        }
        auto* mean = &mean_v_[c * groups_];
        for (std::size_t g = 0; g < groups_; ++g)
            mean[g] = keep * mean[g] + add * v[g];
    }

    double least_of(std::size_t i) const {
        const auto first = value_.begin() + static_cast<std::ptrdiff_t>(cell(i, 0));
        return *std::min_element(first, first + static_cast<std::ptrdiff_t>(classes_.size()));
    }

    double sum_of_rows() const {
        double sum = 0;
        for (std::size_t i = 0; i < n_; ++i)
            sum += least_of(i);
        return sum / static_cast<double>(n_);
    }

    /// Symmetry and transitivity multipliers, by Adam steps along the averaged violations.
    void ascend(RowBoundResult& result) {
        const auto pairs = classes_.size() * n_ * (n_ - 1) / 2;
        mu_.assign(pairs, 0.0f);
        mean_g_.assign(pairs, 0.0f);
        square_g_.assign(pairs, 0.0f);
        const double begin = elapsed();
        auto best_mu = mu_;
        auto best_triangles = triangles_;
        double best = result.value;
        for (std::size_t t = 1; !late(); ++t, ++result.passes) {
            const double part = (elapsed() - begin) / std::max(1e-9, options_.seconds * ascent_share - begin);
            if (part >= 1)
                break;
            const double rate = first_rate * std::pow(last_rate / first_rate, part);
            step_multipliers(rate, t);
            if (t % separate_every == 0)
                separate();
            if (t % regroup_every == 0)
                regroup(margin);
            const bool all = t % all_every == 0;
            spread_multipliers();
            pass(averaging, all);
            if (all) {
                const double value = sum_of_rows();
                if (value > best) {
                    best = value;
                    best_mu = mu_;
                    best_triangles = triangles_;
                }
            }
        }
        mu_ = std::move(best_mu);
        triangles_ = std::move(best_triangles);
        spread_multipliers();
        for (int s = 0; s < 20; ++s)
            pass(averaging, true);
        result.value = std::max(result.value, certify());
        result.triangles = triangles_.size();
    }

    /// All pairs i < j, in square tiles: what belongs to (i, j) and to (j, i) lies far apart in memory.
    template <class Use> void each_pair(std::size_t k, Use use) const {
        const auto first = k * (n_ * (n_ - 1) / 2);
        constexpr std::size_t side = 32;
        for (std::size_t tile_i = 0; tile_i < n_; tile_i += side)
            for (std::size_t tile_j = tile_i; tile_j < n_; tile_j += side)
                for (std::size_t i = tile_i; i < std::min(n_, tile_i + side); ++i) {
                    const auto row = first + i * (2 * n_ - i - 1) / 2; // of the pair (i, i + 1)
                    for (std::size_t j = std::max(i + 1, tile_j); j < std::min(n_, tile_j + side); ++j)
                        use(i, j, row + j - i - 1);
                }
    }

    /// Whether some item has its least value in the class now and then; the multipliers of other classes
    /// rest.
    bool in_use(std::size_t k) const {
        for (std::size_t i = 0; i < n_; ++i)
            if (share_[cell(i, k)] > 1e-4f)
                return true;
        return false;
    }

    float joint(std::size_t k, std::size_t i, std::size_t j) const {
        return share_[cell(i, k)] * mean_x_[cell(i, k) * n_ + j];
    }

    void step_multipliers(double rate, std::size_t t) {
        const auto warm = static_cast<float>(t);
        const float of_mean = 1 / (1 - std::pow(momentum, warm)),
                    of_square = 1 / (1 - std::pow(memory, warm));
        parallel_for(classes_.size(), options_.threads, [&](std::size_t k, unsigned) {
            if (!in_use(k))
                return;
            const auto scale = rate_of(k, rate);
            each_pair(k, [&](std::size_t i, std::size_t j, std::size_t p) {
                const float g = joint(k, i, j) - joint(k, j, i);
                mean_g_[p] = momentum * mean_g_[p] + (1 - momentum) * g;
                square_g_[p] = memory * square_g_[p] + (1 - memory) * g * g;
                mu_[p] += scale * mean_g_[p] * of_mean / (std::sqrt(square_g_[p] * of_square) + damping);
            });
        });
        for (auto& triangle : triangles_) {
            const float g = violation(triangle);
            triangle.mean = momentum * triangle.mean + (1 - momentum) * g;
            triangle.square = memory * triangle.square + (1 - memory) * g * g;
            const float move = triangle.mean / (std::sqrt(triangle.square) + damping);
            triangle.tau = std::max(0.0f, triangle.tau + rate_of(triangle.k, rate) * move);
            triangle.idle = triangle.tau > 0 ? 0 : triangle.idle + 1;
        }
        std::erase_if(triangles_, [](const Triangle& triangle) { return triangle.idle > patience; });
    }

    float rate_of(std::size_t k, double rate) const {
        return static_cast<float>(rate * (options_.a + options_.b) * log2_e / classes_[k].upper);
    }

    float pair(std::size_t k, std::size_t i, std::size_t j) const {
        return 0.5f * (joint(k, i, j) + joint(k, j, i));
    }

    float violation(const Triangle& t) const {
        return joint(t.k, t.i, t.j) + joint(t.k, t.i, t.l) - pair(t.k, t.j, t.l) - share_[cell(t.i, t.k)];
    }

    void separate() {
        std::unordered_set<std::uint64_t> known;
        auto key = [&](const Triangle& t) {
            return ((static_cast<std::uint64_t>(t.k) * n_ + t.i) * n_ + t.j) * n_ + t.l;
        };
        for (const auto& triangle : triangles_)
            known.insert(key(triangle));
        std::vector<std::vector<std::pair<float, Triangle>>> found(n_);
        parallel_for(n_, options_.threads, [&](std::size_t i, unsigned) {
            auto& list = found[i];
            std::vector<std::uint32_t> near;
            for (std::uint32_t k = 0; k < classes_.size(); ++k) {
                const float y = share_[cell(i, k)];
                if (y < 0.02f || classes_[k].upper < 3)
                    continue;
                near.clear();
                for (std::uint32_t j = 0; j < n_; ++j)
                    if (j != i && joint(k, i, j) > 0.05f * y)
                        near.push_back(j);
                for (std::size_t s = 0; s < near.size(); ++s)
                    for (std::size_t r = s + 1; r < near.size(); ++r) {
                        const Triangle t{k, static_cast<std::uint32_t>(i), near[s], near[r]};
                        const float v = violation(t);
                        if (v > 0.02f)
                            list.emplace_back(v, t);
                    }
            }
            std::erase_if(list, [&](const auto& entry) { return known.contains(key(entry.second)); });
            const auto keep = std::min(triangles_an_item, list.size());
            std::partial_sort(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(keep), list.end(),
                              [](const auto& x, const auto& y) { return x.first > y.first; });
            list.resize(keep);
        });
        for (const auto& list : found)
            for (const auto& entry : list)
                triangles_.push_back(entry.second);
    }

    /// The multipliers as costs of the rows.
    void spread_multipliers() {
        parallel_for(classes_.size(), options_.threads, [&](std::size_t k, unsigned) {
            each_pair(k, [&](std::size_t i, std::size_t j, std::size_t p) {
                cost_[cell(i, k) * n_ + j] = mu_[p];
                cost_[cell(j, k) * n_ + i] = -mu_[p];
            });
            for (std::size_t i = 0; i < n_; ++i)
                constant_[cell(i, k)] = 0;
        });
        for (const auto& t : triangles_)
            add_triangle(t, cost_, constant_);
    }

    template <class Real>
    void add_triangle(const Triangle& t, std::vector<Real>& cost, std::vector<double>& constant) const {
        const auto tau = static_cast<Real>(t.tau), half = tau / 2;
        cost[cell(t.i, t.k) * n_ + t.j] += tau;
        cost[cell(t.i, t.k) * n_ + t.l] += tau;
        cost[cell(t.j, t.k) * n_ + t.l] -= half;
        cost[cell(t.l, t.k) * n_ + t.j] -= half;
        constant[cell(t.i, t.k)] -= static_cast<double>(t.tau);
    }

    /// The bound at the current multipliers and references, in double precision over all draws.
    double certify() {
        std::vector<double> cost(cost_.size(), 0.0), constant(constant_.size(), 0.0);
        if (!mu_.empty())
            for (std::size_t k = 0; k < classes_.size(); ++k)
                each_pair(k, [&](std::size_t i, std::size_t j, std::size_t p) {
                    cost[cell(i, k) * n_ + j] = static_cast<double>(mu_[p]);
                    cost[cell(j, k) * n_ + i] = -static_cast<double>(mu_[p]);
                });
        for (const auto& t : triangles_)
            add_triangle(t, cost, constant);
        std::vector<double> rows(n_, 0.0);
        parallel_for(n_, options_.threads,
                     [&](std::size_t i, unsigned) { rows[i] = certified_row(i, cost, constant); });
        return std::accumulate(rows.begin(), rows.end(), 0.0) / static_cast<double>(n_) - round_off;
    }

    double certified_row(std::size_t i, const std::vector<double>& cost,
                         const std::vector<double>& constant) const {
        const double both = options_.a + options_.b;
        std::vector<double> q(n_);
        std::vector<std::uint32_t> order;
        double best = never;
        std::vector<std::size_t> by_value(classes_.size());
        std::iota(by_value.begin(), by_value.end(), std::size_t{0});
        std::sort(by_value.begin(), by_value.end(),
                  [&](auto x, auto y) { return value_[cell(i, x)] < value_[cell(i, y)]; });
        for (const auto k : by_value) {
            const auto c = cell(i, k);
            if (value_[c] > best + float_error)
                break; // the value of the last pass is a bound too, up to single precision
            double fixed = options_.b * classes_[k].intercept + options_.a * own_[i] + constant[c];
            for (std::size_t j = 0; j < n_; ++j)
                q[j] = options_.b * classes_[k].slope + (j == i ? 0.0 : cost[c * n_ + j]);
            for (std::size_t h = 0; h < draws_.n_draws(); ++h) {
                const auto row = draws_.draw(h);
                const double v = std::max(1.0, static_cast<double>(overlap(i, k, h))), p = log2_e / v;
                fixed -= both * draws_.weights[h] * conjugate(v, p, log2_table_);
                subtract_where(row.data(), row[i], both * p * draws_.weights[h], n_, q.data());
            }
            std::size_t taken = 0;
            const Row<double> row{q, fixed, i, static_cast<std::size_t>(classes_[k].lower),
                                  static_cast<std::size_t>(classes_[k].upper)};
            best = std::min(best, least(row, order, taken));
        }
        return best;
    }

    const Draws<Label>& draws_;
    const RowBoundOptions& options_;
    const StopFlag& stop_;
    std::size_t n_;
    std::vector<SizeClass> classes_;
    std::size_t groups_;
    std::vector<Memberships> members_;
    std::vector<std::vector<std::vector<std::uint32_t>>> draw_groups_;
    std::vector<double> own_; // E log2 |T_i|
    std::vector<double> log2_table_;
    Clock::time_point started_;

    std::vector<float> mean_x_, mean_v_, share_, cost_;
    std::vector<double> value_, constant_;
    std::vector<float> mu_, mean_g_, square_g_;
    std::vector<Triangle> triangles_;
};

} // namespace

template <class Label>
RowBoundResult row_bound(const Draws<Label>& draws, const RowBoundOptions& options, const StopFlag& stop) {
    return Ascent<Label>(draws, options, stop).run();
}

template RowBoundResult row_bound(const Draws<std::uint8_t>&, const RowBoundOptions&, const StopFlag&);
template RowBoundResult row_bound(const Draws<std::uint16_t>&, const RowBoundOptions&, const StopFlag&);
template RowBoundResult row_bound(const Draws<std::uint32_t>&, const RowBoundOptions&, const StopFlag&);

} // namespace partita
