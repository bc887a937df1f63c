// The labels and weights of a PartitionSample, in whichever label type they are stored.
#pragma once

#include <variant>

#include "bindings/common/arrays.hpp"
#include "draws/draws.hpp"

class SampleView {
public:
    template <class Label>
    SampleView(Array2<Label> labels, Array1<double> weights)
        : labels_(std::move(labels)), weights_(std::move(weights)) {}

    /// Calls use(draws) with the labels' own type.
    template <class Use> auto visit(Use use) const {
        return std::visit(
            [&](const auto& labels) {
                using Label = std::remove_const_t<typename std::decay_t<decltype(labels)>::Scalar>;
                return use(partita::Draws<Label>{as_span(labels), as_span(weights_), labels.shape(1)});
            },
            labels_);
    }

private:
    std::variant<Array2<std::uint8_t>, Array2<std::uint16_t>, Array2<std::uint32_t>> labels_;
    Array1<double> weights_;
};
