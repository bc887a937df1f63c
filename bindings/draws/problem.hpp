// What the core is asked about: draws, and draws under a loss, made once for an estimate.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <variant>

#include "bindings/common/arrays.hpp"
#include "draws/draws.hpp"
#include "draws/losses.hpp"
#include "draws/search.hpp"

/// A loss as Python holds it.
struct LossHandle {
    partita::Loss loss;
};

/// The labels and weights of a PartitionSample, borrowed from NumPy in whichever type they are stored. Labels
/// of a signed type may be missing: -1 is the largest label of the unsigned type.
class SampleView {
public:
    template <class Label>
    SampleView(const Array2<Label>& labels, Array1<double> weights)
        : labels_(unsigned_labels(labels)), weights_(std::move(weights)),
          complete_(std::is_unsigned_v<Label> || std::find(labels.data(), labels.data() + labels.size(),
                                                           Label(-1)) == labels.data() + labels.size()) {}

    /// Calls use(draws) with the labels' own type.
    template <class Use> auto visit(Use use) const {
        return std::visit(
            [&](const auto& labels) {
                using Label = std::remove_const_t<typename std::decay_t<decltype(labels)>::Scalar>;
                partita::Draws<Label> draws{as_span(labels), as_span(weights_), labels.shape(1)};
                draws.complete = complete_;
                return use(draws);
            },
            labels_);
    }

private:
    template <class Label>
    static Array2<std::make_unsigned_t<Label>> unsigned_labels(const Array2<Label>& labels) {
        if constexpr (std::is_unsigned_v<Label>)
            return labels;
        else {
            auto held = std::make_unique<Array2<Label>>(labels);
            const nb::capsule owner(held.get(),
                                    [](void* p) noexcept { delete static_cast<Array2<Label>*>(p); });
            held.release();
            return {labels.data(), {labels.shape(0), labels.shape(1)}, owner};
        }
    }

    std::variant<Array2<std::uint8_t>, Array2<std::uint16_t>, Array2<std::uint32_t>> labels_;
    Array1<double> weights_;
    bool complete_;
};

/// Draws under a loss, with the tables of the loss; how a search keeps its partitions is chosen once.
class DrawsProblem {
public:
    /// Calls use(draws) with the labels' own type. Before the constructor, which needs its type.
    template <class Use> auto draws(Use use) const {
        return sample_.visit([&](auto draws) {
            if (copies_)
                draws.copies = as_span(*copies_);
            draws.sharing = sharing_;
            return use(draws);
        });
    }

    DrawsProblem(SampleView sample, const LossHandle& loss, std::optional<Array1<std::uint32_t>> copies,
                 partita::Sharing sharing)
        : sample_(std::move(sample)), copies_(std::move(copies)), sharing_(sharing),
          tables_(loss.loss, draws([](const auto& draws) { return draws.n_total(); })) {}

    const partita::LossTables& tables() const { return tables_; }

    partita::search::StateKind state() const {
        std::call_once(chosen_, [&] {
            state_ = draws(
                [&](const auto& draws) { return partita::search::choose_state(draws, tables_.loss()); });
        });
        return state_;
    }

private:
    SampleView sample_;
    std::optional<Array1<std::uint32_t>> copies_;
    partita::Sharing sharing_;
    partita::LossTables tables_;
    mutable std::once_flag chosen_;
    mutable partita::search::StateKind state_ = partita::search::StateKind::where_it_pays;
};
