// Storage by slot: a cluster's numbers lie at the same place of every row, so that one vector load takes a
// few clusters.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "common/lanes.hpp"

namespace partita::models {

inline constexpr std::size_t no_slot = std::numeric_limits<std::size_t>::max();

/// An item whose removal would shrink its cluster's scale to less than this is taken out by recomputation: a
/// downdate would be mostly rounding.
inline constexpr double min_own_ratio = 1e-7;

/// The places of a selection that are included.
inline std::vector<std::uint32_t> included_places(std::span<const std::uint8_t> included) {
    std::vector<std::uint32_t> places;
    for (std::uint32_t place = 0; place < included.size(); ++place)
        if (included[place])
            places.push_back(place);
    return places;
}

inline std::vector<std::uint32_t> all_places(std::size_t count) {
    std::vector<std::uint32_t> places(count);
    std::iota(places.begin(), places.end(), 0u);
    return places;
}

inline bool all_finite(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

/// Scores of an item in all slots, its own apart: of_own() is added to what `out` has there, and
/// others(floor) adds to every slot what the item has there. Of one in company, slots more than -depth below
/// its own may get -infinity.
template <class OfOwn, class Others>
void score_own_apart(double* out, std::size_t own, bool in_company, double depth, OfOwn of_own,
                     Others others) {
    constexpr double never = -std::numeric_limits<double>::infinity();
    if (own == no_slot)
        return others(never);
    const double own_score = out[own] + of_own();
    out[own] = never; // so that its neighbours may be out of reach
    others(in_company ? own_score + depth : never);
    out[own] = own_score;
}

/// `rows` rows of `stride` slots each.
class SlotRows {
public:
    SlotRows() = default;
    explicit SlotRows(std::size_t rows) : rows_(rows) {}

    double* row(std::size_t r) { return values_.data() + r * stride_; }
    const double* row(std::size_t r) const { return values_.data() + r * stride_; }
    double& at(std::size_t r, std::size_t slot) { return values_[r * stride_ + slot]; }
    double at(std::size_t r, std::size_t slot) const { return values_[r * stride_ + slot]; }
    std::size_t rows() const { return rows_; }

    /// Room for another number of slots; what is there stays.
    void widen(std::size_t stride) {
        std::vector<double> wider(rows_ * stride, 0.0);
        for (std::size_t r = 0; r < rows_; ++r)
            std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(r * stride_), std::min(stride_, stride),
                        wider.begin() + static_cast<std::ptrdiff_t>(r * stride));
        values_ = std::move(wider);
        stride_ = stride;
    }

    void copy_slot(const SlotRows& from, std::size_t source, std::size_t target) {
        for (std::size_t r = 0; r < rows_; ++r)
            at(r, target) = from.at(r, source);
    }

    template <class Archive> void visit(Archive& archive) { archive(stride_, values_); }
    /// Whether what was read has this many slots, and a number at each place.
    bool fits(std::size_t stride) const {
        return stride_ == stride && values_.size() == rows_ * stride && all_finite(values_);
    }

private:
    std::size_t rows_ = 0, stride_ = 0;
    std::vector<double> values_;
};

} // namespace partita::models
