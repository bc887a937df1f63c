#include "losses.hpp"

#include <stdexcept>

namespace partita {

double phi_value(Phi phi, std::size_t count) {
    const auto n = static_cast<double>(count);
    switch (phi) {
    case Phi::square:
        return n * n;
    case Phi::n_log_n:
        return count < 2 ? 0.0 : n * std::log2(n);
    case Phi::pairs:
        return n * (n - 1) / 2;
    }
    throw std::logic_error("unknown phi");
}

LossTables::LossTables(Loss loss, std::size_t n_items)
    : loss_(std::move(loss)), custom_(std::holds_alternative<CustomLoss>(loss_)) {
    std::visit(
        [&](auto& kind) {
            using Kind = std::decay_t<decltype(kind)>;
            if constexpr (std::is_same_v<Kind, CustomLoss>) {
                joint_ = std::move(kind.f1);
                estimate_ = std::move(kind.f2);
                draw_ = std::move(kind.f3);
                if (joint_.size() <= n_items || estimate_.size() <= n_items || draw_.size() <= n_items)
                    throw std::invalid_argument("a loss table is shorter than 0..n");
            } else {
                joint_.resize(n_items + 1);
                for (std::size_t count = 0; count <= n_items; ++count)
                    joint_[count] = phi_value(Kind::phi, count);
            }
        },
        loss_);
}

void LossTables::combine(std::span<const Sums> sums, std::span<double> out) const {
    std::visit(
        [&](const auto& kind) {
            if constexpr (std::is_same_v<std::decay_t<decltype(kind)>, CustomLoss>) {
                std::vector<double> joint(sums.size()), estimate(sums.size()), draw(sums.size());
                for (std::size_t t = 0; t < sums.size(); ++t) {
                    joint[t] = sums[t].joint;
                    estimate[t] = sums[t].estimate;
                    draw[t] = sums[t].draw;
                }
                kind.combine(joint, estimate, draw, out);
            } else {
                // rounding may leave a tiny negative number where the loss is zero
                for (std::size_t t = 0; t < sums.size(); ++t)
                    out[t] = std::max(0.0, kind(sums[t]));
            }
        },
        loss_);
}

} // namespace partita
