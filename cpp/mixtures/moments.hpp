// Number, mean and scatter of the items of every slot, straight from the data.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "mixtures/number_table.hpp"

namespace partita::models {

template <class Family> class Moments {
public:
    /// Two passes, so that data far from zero lose no digits.
    void compute(const Family& family, const NumberTable& table, std::span<const std::uint32_t> items,
                 std::span<const std::uint32_t> labels, std::size_t slots) {
        dims_ = family.dims(), scatter_size_ = family.scatter_size();
        sizes_.assign(slots, 0), means_.assign(slots * dims_, 0.0),
            scatters_.assign(slots * scatter_size_, 0.0);
        for (std::size_t p = 0; p < items.size(); ++p) {
            ++sizes_[labels[p]];
            const double* x = table.item(items[p]);
            for (std::size_t i = 0; i < dims_; ++i)
                means_[labels[p] * dims_ + i] += x[i];
        }
        for (std::size_t slot = 0; slot < slots; ++slot)
            for (std::size_t i = 0; i < dims_ && sizes_[slot] > 0; ++i)
                means_[slot * dims_ + i] /= sizes_[slot];
        deviation_.resize(dims_);
        for (std::size_t p = 0; p < items.size(); ++p) {
            const double* x = table.item(items[p]);
            for (std::size_t i = 0; i < dims_; ++i)
                deviation_[i] = x[i] - means_[labels[p] * dims_ + i];
            Family::add_scatter(deviation_, scatters_.data() + labels[p] * scatter_size_);
        }
    }

    std::size_t slots() const { return sizes_.size(); }
    std::uint32_t size(std::size_t slot) const { return sizes_[slot]; }
    const double* mean(std::size_t slot) const { return means_.data() + slot * dims_; }
    const double* scatter(std::size_t slot) const { return scatters_.data() + slot * scatter_size_; }

    void assign_to(Family& family, std::size_t slot, std::size_t source) const {
        if (sizes_[source] > 0)
            family.assign(slot, sizes_[source], mean(source), scatter(source));
        else
            family.clear(slot);
    }

    /// Two of them together become `target`, which may be one of them.
    void join(std::size_t one, std::size_t other, std::size_t target) {
        const double n_one = sizes_[one], n_other = sizes_[other], n = std::max(n_one + n_other, 1.0);
        const double width = std::sqrt(n_one * n_other / n);
        deviation_.resize(dims_);
        for (std::size_t i = 0; i < dims_; ++i) {
            const double x = means_[one * dims_ + i], y = means_[other * dims_ + i];
            deviation_[i] = width * (y - x);
            means_[target * dims_ + i] = n_one == 0.0 ? y : x + n_other / n * (y - x);
        }
        for (std::size_t i = 0; i < scatter_size_; ++i)
            scatters_[target * scatter_size_ + i] =
                scatters_[one * scatter_size_ + i] + scatters_[other * scatter_size_ + i];
        Family::add_scatter(deviation_, scatters_.data() + target * scatter_size_);
        sizes_[target] = sizes_[one] + sizes_[other];
    }

private:
    std::size_t dims_ = 0, scatter_size_ = 0;
    std::vector<std::uint32_t> sizes_;
    std::vector<double> means_, scatters_, deviation_;
};

} // namespace partita::models
