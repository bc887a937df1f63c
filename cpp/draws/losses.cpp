#include "draws/losses.hpp"

#include <stdexcept>
#include <string>
#include <utility>

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

namespace {

template <class Kind> void add_if_plain(std::vector<Loss>& losses) {
    if constexpr (PlainLoss<Kind>)
        losses.emplace_back(Kind{});
}

bool has_name(const Loss& loss, std::string_view name) {
    return std::visit(
        [&]<class Kind>(const Kind&) {
            if constexpr (PlainLoss<Kind>)
                return Kind::name == name;
            else
                return false;
        },
        loss);
}

/// f0 of the sums of the draws that label some item; it need not know what a table of nothing is worth.
void combine_custom(const CustomLoss& loss, std::span<const Sums> sums, std::span<double> out) {
    std::vector<std::size_t> known;
    std::vector<double> joint, estimate, draw;
    for (auto* list : {&joint, &estimate, &draw})
        list->reserve(sums.size());
    known.reserve(sums.size());
    for (std::size_t t = 0; t < sums.size(); ++t) {
        out[t] = 0;
        if (sums[t].n > 0) {
            known.push_back(t);
            joint.push_back(sums[t].joint);
            estimate.push_back(sums[t].estimate);
            draw.push_back(sums[t].draw);
        }
    }
    std::vector<double> losses(known.size());
    if (!known.empty())
        loss.combine(joint, estimate, draw, losses);
    for (std::size_t k = 0; k < known.size(); ++k)
        out[known[k]] = losses[k];
}

} // namespace

std::vector<Loss> plain_losses() {
    std::vector<Loss> losses;
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        (add_if_plain<std::variant_alternative_t<Index, Loss>>(losses), ...);
    }(std::make_index_sequence<std::variant_size_v<Loss>>{});
    return losses;
}

Loss plain_loss(std::string_view name) {
    for (auto& loss : plain_losses())
        if (has_name(loss, name))
            return loss;
    throw std::invalid_argument("the core has no loss without weights named '" + std::string(name) + "'");
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
                combine_custom(kind, sums, out);
            } else {
                // rounding may leave a tiny negative number where the loss is zero
                for (std::size_t t = 0; t < sums.size(); ++t)
                    out[t] = std::max(0.0, kind(sums[t]));
            }
        },
        loss_);
}

} // namespace partita
