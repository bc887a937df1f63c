// What both layouts of the draws of a search have in common: weights, a loss, and how a linear one is made of
// sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "draws/linear_loss.hpp"
#include "draws/losses.hpp"

namespace partita::search {

/// A linear loss is, up to a constant, estimate_scale * (sum over clusters) plus, for each draw, a
/// coefficient times the sum over its cells. With gaps each draw has estimate sums of its own, with
/// margin_coefficient.
class ExpectedLoss {
public:
    std::size_t n_items() const { return n_items_; }
    std::size_t n_draws() const { return weights_.size(); }
    std::span<const double> weights() const { return weights_; }
    const LossTables& tables() const { return *tables_; }
    bool is_linear() const { return is_linear_; }
    bool has_gaps() const { return has_gaps_; }

    double estimate_scale() const { return estimate_scale_; }
    std::span<const double> margin_coefficients() const { return margin_coefficients_; }
    /// The part of the expected loss that no estimate changes, and that states leave out.
    double constant() const { return constant_; }
    /// What the values of states are multiples of, and what a state's value means as an expected loss.
    double unit() const { return unit_; }
    double loss_of(double value) const { return unit_ * (value + constant_); }
    /// What rounding may do to a value in double precision; of a user's own loss nothing is known.
    double rounding() const { return rounding_; }

protected:
    ExpectedLoss() = default;
    /// Tables are borrowed: they must outlive it.
    ExpectedLoss(std::size_t n_items, const LossTables& tables)
        : n_items_(n_items), tables_(&tables), is_linear_(as_linear(tables.loss()).has_value()) {}

    /// The weights of these draws, rescaled to sum to 1.
    void take_weights(std::span<const double> weights, std::span<const std::uint32_t> chosen) {
        double total = 0;
        for (const auto t : chosen)
            total += weights[t];
        if (!(total > 0))
            throw std::invalid_argument("the draws to be searched have no weight");
        for (const auto t : chosen)
            weights_.push_back(weights[t] / total);
    }

    /// Adds a draw of a linear loss that labels this many items, its own clusters summing to `sum`; gives the
    /// coefficient of its cells.
    double add_draw(const LinearLoss& loss, double weight, double labelled, double sum) {
        const double scale = weight / loss.divisor(labelled);
        unit_ = loss.unit;
        margin_coefficients_.push_back(loss.b * scale);
        estimate_scale_ += loss.b * scale;
        constant_ += loss.a * scale * sum;
        return -(loss.a + loss.b) * scale;
    }

    std::size_t n_items_ = 0;
    const LossTables* tables_ = nullptr;
    bool is_linear_ = false, has_gaps_ = false;
    std::vector<double> weights_, margin_coefficients_;
    double estimate_scale_ = 0, constant_ = 0, unit_ = 1, rounding_ = 0;
};

} // namespace partita::search
