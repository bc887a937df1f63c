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
#include <variant>
#include <vector>

namespace partita {

/// The three sums for one draw; n is the number of items that the draw labels and total is phi(n).
struct Sums {
    double joint = 0, estimate = 0, draw = 0;
    double n = 0, total = 0;
};

/// Sums of counts of two different partitions differ by at least one half for every phi here; anything
/// smaller is rounding. Where a loss divides by an entropy, rounding must not be taken for a difference.
inline constexpr double no_difference = 1e-3;

enum class Phi { square, n_log_n, pairs };

double phi_value(Phi phi, std::size_t count);

/// L = a (draw - joint) + b (estimate - joint), over n^2 (Binder) or n (VI): linear in every sum.
struct Binder {
    static constexpr Phi phi = Phi::square;
    double a, b;
    double operator()(const Sums& s) const {
        return (a * (s.draw - s.joint) + b * (s.estimate - s.joint)) / (s.n * s.n);
    }
};

struct VI {
    static constexpr Phi phi = Phi::n_log_n;
    double a, b;
    double operator()(const Sums& s) const {
        return (a * (s.draw - s.joint) + b * (s.estimate - s.joint)) / s.n;
    }
};

/// 1 - I / H(joint); both entropies zero (one cluster each): 0.
struct NVI {
    static constexpr Phi phi = Phi::n_log_n;
    double operator()(const Sums& s) const {
        const double entropy = s.total - s.joint;
        const double distance = (s.draw - s.joint) + (s.estimate - s.joint);
        return distance > no_difference ? distance / entropy : 0.0;
    }
};

/// max(H, H') - I.
struct ID {
    static constexpr Phi phi = Phi::n_log_n;
    double operator()(const Sums& s) const { return (std::max(s.draw, s.estimate) - s.joint) / s.n; }
};

/// 1 - I / max(H, H'); both entropies zero: 0.
struct NID {
    static constexpr Phi phi = Phi::n_log_n;
    double operator()(const Sums& s) const {
        const double distance = std::max(s.draw, s.estimate) - s.joint;
        return distance > no_difference ? distance / (s.total - std::min(s.draw, s.estimate)) : 0.0;
    }
};

/// 1 - adjusted Rand index; its 0/0 (both one cluster, or both all singletons) is 0.
struct OneMinusARI {
    static constexpr Phi phi = Phi::pairs;
    double operator()(const Sums& s) const {
        const double mean = 0.5 * (s.estimate + s.draw);
        const double distance = mean - s.joint;
        return distance > no_difference ? distance / (mean - s.estimate * s.draw / s.total) : 0.0;
    }
};

/// 0 for the same partition, else 1. Squares are exact in double, so equality is.
struct ZeroOne {
    static constexpr Phi phi = Phi::square;
    double operator()(const Sums& s) const { return s.joint == s.draw && s.joint == s.estimate ? 0.0 : 1.0; }
};

/// The user's own f0 over whole arrays of sums, so that a Python callable is called once for many values.
struct CustomLoss {
    using Combine = std::function<void(std::span<const double> joint, std::span<const double> estimate,
                                       std::span<const double> draw, std::span<double> out)>;
    Combine combine;
    std::vector<double> f1, f2, f3; // tables over 0..n
};

using Loss = std::variant<Binder, VI, NVI, ID, NID, OneMinusARI, ZeroOne, CustomLoss>;

/// A loss with its tables for up to n items: everything that turns counts into losses.
class LossTables {
public:
    LossTables(Loss loss, std::size_t n_items);

    const Loss& loss() const { return loss_; }
    std::span<const double> joint() const { return joint_; }
    std::span<const double> estimate() const { return custom_ ? estimate_ : joint_; }
    std::span<const double> draw() const { return custom_ ? draw_ : joint_; }

    /// out[t] = loss of sums[t].
    void combine(std::span<const Sums> sums, std::span<double> out) const;

private:
    Loss loss_;
    bool custom_;
    std::vector<double> joint_, estimate_, draw_;
};

} // namespace partita
