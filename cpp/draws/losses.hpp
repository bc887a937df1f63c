// Losses between two partitions, as functions of three sums over their contingency table.
//
// With f1, f2, f3 summed over the joint counts, the estimate's and the draw's cluster sizes, a loss is
// g(joint, estimate, draw) - the family (7) of Rastelli & Friel. The built-in losses use one phi for all
// three sums. They are written as differences that vanish term by term at identical partitions, so that
// loss(x, x) == 0 exactly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace partita {

/// The three sums for one draw; n is the number of items that the draw labels and total is phi(n).
struct Sums {
    double joint = 0, estimate = 0, draw = 0;
    double n = 0, total = 0;
};

/// Sums of counts of two different partitions differ by at least one half for every phi here; anything
/// smaller is rounding. If a loss divides by an entropy, rounding must not be mistaken for a difference.
inline constexpr double no_difference = 1e-3;

enum class Phi { square, n_log_n, pairs };

double phi_value(Phi phi, std::size_t count);

/// The divisor of a loss: the number of items that the draw labels. A draw that labels none has loss 0.
inline double divisor(const Sums& s) { return std::max(s.n, 1.0); }

/// L = unit * (a (draw - joint) + b (estimate - joint)), over n^2 (Binder) or n (VI): linear in every sum.
/// A search works with a and b as stored here and multiplies the reported losses by the unit.
struct Binder {
    static constexpr Phi phi = Phi::square;
    double a, b, unit = 1;
    double operator()(const Sums& s) const {
        return unit * (a * (s.draw - s.joint) + b * (s.estimate - s.joint)) / (divisor(s) * divisor(s));
    }
};

struct VI {
    static constexpr Phi phi = Phi::n_log_n;
    double a, b, unit = 1;
    double operator()(const Sums& s) const {
        return unit * (a * (s.draw - s.joint) + b * (s.estimate - s.joint)) / divisor(s);
    }
};

/// The loss with these weights. Its unit is the power of two that leaves the larger weight between 1 and 2:
/// nothing is rounded, and sums in single precision neither overflow nor underflow for any weights.
template <class Weighted> Weighted with_weights(double a, double b) {
    const auto exponent = std::ilogb(std::max(a, b));
    return {std::ldexp(a, -exponent), std::ldexp(b, -exponent), std::ldexp(1.0, exponent)};
}

/// 1 - I / H(joint); 0 if both entropies are zero (one cluster each).
struct NVI {
    static constexpr std::string_view name = "nvi";
    static constexpr Phi phi = Phi::n_log_n;
    double operator()(const Sums& s) const {
        const double entropy = s.total - s.joint;
        const double distance = (s.draw - s.joint) + (s.estimate - s.joint);
        return distance > no_difference ? distance / entropy : 0.0;
    }
};

/// max(H, H') - I.
struct ID {
    static constexpr std::string_view name = "id";
    static constexpr Phi phi = Phi::n_log_n;
    double operator()(const Sums& s) const { return (std::max(s.draw, s.estimate) - s.joint) / divisor(s); }
};

/// 1 - I / max(H, H'); 0 if both entropies are zero.
struct NID {
    static constexpr std::string_view name = "nid";
    static constexpr Phi phi = Phi::n_log_n;
    double operator()(const Sums& s) const {
        const double distance = std::max(s.draw, s.estimate) - s.joint;
        return distance > no_difference ? distance / (s.total - std::min(s.draw, s.estimate)) : 0.0;
    }
};

/// 1 - adjusted Rand index; its 0/0 (both one cluster, or both all singletons) is 0.
struct OneMinusARI {
    static constexpr std::string_view name = "omari";
    static constexpr Phi phi = Phi::pairs;
    double operator()(const Sums& s) const {
        const double mean = 0.5 * (s.estimate + s.draw);
        const double distance = mean - s.joint;
        return distance > no_difference ? distance / (mean - s.estimate * s.draw / s.total) : 0.0;
    }
};

/// 0 for the same partition, otherwise 1. Squares are exact in double precision, and so is equality.
struct ZeroOne {
    static constexpr std::string_view name = "zero-one";
    static constexpr Phi phi = Phi::square;
    double operator()(const Sums& s) const { return s.joint == s.draw && s.joint == s.estimate ? 0.0 : 1.0; }
};

/// A custom loss: the user's f0 takes whole arrays of sums, so that a Python callable is called once for many
/// values.
struct CustomLoss {
    using Combine = std::function<void(std::span<const double> joint, std::span<const double> estimate,
                                       std::span<const double> draw, std::span<double> out)>;
    /// The largest value of f0 and of the tables, so that sums are finite.
    static constexpr double max_value = 1e150;
    Combine combine;
    std::vector<double> f1, f2, f3; // tables over 0..n
};

using Loss = std::variant<Binder, VI, NVI, ID, NID, OneMinusARI, ZeroOne, CustomLoss>;

/// A loss without weights: its name determines it.
template <class Kind>
concept PlainLoss = requires { Kind::name; } && std::is_empty_v<Kind>;

/// Every loss without weights, once.
std::vector<Loss> plain_losses();

/// The loss without weights of this name; throws std::invalid_argument where there is none.
Loss plain_loss(std::string_view name);

/// A loss with its tables for up to n items: everything that turns counts into losses.
class LossTables {
public:
    LossTables(Loss loss, std::size_t n_items);

    const Loss& loss() const { return loss_; }
    std::span<const double> joint() const { return joint_; }
    std::span<const double> estimate() const { return custom_ ? estimate_ : joint_; }
    std::span<const double> draw() const { return custom_ ? draw_ : joint_; }

    /// out[t] = loss of sums[t]; 0 for a draw that labels no item.
    void combine(std::span<const Sums> sums, std::span<double> out) const;

private:
    Loss loss_;
    bool custom_;
    std::vector<double> joint_, estimate_, draw_;
};

/// The sum of weights[t] times the loss at sums_of(t), over all t that count; of losses that are a formula,
/// which a user's own is not.
template <class SumsOf, class Counts>
double weighted_sum(const Loss& loss, std::span<const double> weights, SumsOf sums_of, Counts counts) {
    return std::visit(
        [&](const auto& kind) {
            double total = 0;
            if constexpr (!std::is_same_v<std::decay_t<decltype(kind)>, CustomLoss>)
                for (std::size_t t = 0; t < weights.size(); ++t)
                    if (counts(t))
                        total += weights[t] * kind(sums_of(t));
            return total;
        },
        loss);
}
template <class SumsOf>
double weighted_sum(const Loss& loss, std::span<const double> weights, SumsOf sums_of) {
    return weighted_sum(loss, weights, sums_of, [](std::size_t) { return true; });
}

} // namespace partita
