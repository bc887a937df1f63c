#include "mixtures/families/counts.hpp"

#include <algorithm>
#include <cmath>

#include "common/clones.hpp"
#include "common/lanes.hpp"
#include "common/log_gamma.hpp"

namespace partita::models {

namespace {

/// Up to here G(z + x) / G(z) is a product; beyond, z + x is large enough for Stirling's series.
constexpr std::uint32_t max_product = 16;

/// ln G(z) - [(z - 1/2) ln z - z]: what Stirling's leading terms leave, ln(2 pi) / 2 included.
double stirling_remainder(double z) {
    if (z > common::large_argument)
        return 0.91893853320467274178 + 1.0 / (12.0 * z);
    return common::log_gamma(z) - ((z - 0.5) * std::log(z) - z);
}

struct CountRows {
    const double *z, *log_z, *remainder, *zero, *slope;
};

/// out += zero + slope x + ln G(z + x) - ln G(z), for every slot. For a large x the leading terms of
/// Stirling's series are subtracted before they are summed: (z + x - 1/2) ln(1 + x / z) + x ln z - x.
PARTITA_CLONES void score_column(const CountRows& rows, std::uint32_t count, std::size_t slots, double* out) {
    const double x = count;
    for (std::size_t s = 0; s < slots; s += common::lanes) {
        common::Lanes total, zero, slope, z;
        common::load(total, out + s);
        common::load(zero, rows.zero + s);
        common::load(slope, rows.slope + s);
        common::load(z, rows.z + s);
        total += zero + slope * x;
        if (count <= max_product) {
            constexpr std::uint32_t product_length = 8; // factors before a logarithm is taken; none overflows
            for (std::uint32_t j = 0; j < count; j += product_length) {
                common::Lanes product = z + static_cast<double>(j);
                for (std::uint32_t f = j + 1; f < count && f < j + product_length; ++f)
                    product *= z + static_cast<double>(f);
                common::lane_log(product);
                total += product;
            }
        } else {
            common::Lanes log_z, remainder, growth = 1.0 + x / z;
            common::load(log_z, rows.log_z + s);
            common::load(remainder, rows.remainder + s);
            common::lane_log(growth);
            const common::Lanes y = 1.0 / (z + x), y2 = y * y;
            const common::Lanes series =
                0.91893853320467274178 + y * (1.0 / 12 - y2 * (1.0 / 360 - y2 * (1.0 / 1260)));
            total += (z + (x - 0.5)) * growth + x * (log_z - 1.0) + series - remainder;
        }
        common::store(total, out + s);
    }
}

} // namespace

CountTable::CountTable(common::SharedCells<std::uint32_t> cells, std::size_t dims)
    : CellTable(std::move(cells), dims), inverse_variances_(dims, 0.0) {
    for (std::size_t column = 0; column < dims_; ++column) {
        double n = 0.0, sum = 0.0, squares = 0.0;
        for (std::size_t i = 0; i < n_items(); ++i)
            if (const auto x = item(i)[column]; x != gap)
                n += 1.0, sum += std::sqrt(static_cast<double>(x)), squares += static_cast<double>(x);
        const double variance = n > 0.0 ? squares / n - (sum / n) * (sum / n) : 0.0;
        inverse_variances_[column] = variance > 1e-9 ? 1.0 / variance : 0.0;
    }
}

double CountTable::distance(std::size_t one, std::size_t other) const {
    const std::uint32_t *x = item(one), *y = item(other);
    double sum = 0.0;
    for (std::size_t k = 0; k < dims_; ++k) {
        const double difference = std::sqrt(static_cast<double>(x[k])) - std::sqrt(static_cast<double>(y[k]));
        sum += x[k] == gap || y[k] == gap ? gap_distance : difference * difference * inverse_variances_[k];
    }
    return sum;
}

Counts::Counts(RateBase base)
    : ColumnFamily(base.shape.size()), base_(std::move(base)), observed_(dims()), sums_(dims()), z_(dims()),
      log_z_(dims()), remainder_(dims()), zero_(dims()), slope_(dims()) {}

void Counts::clear(std::size_t slot) {
    sizes_[slot] = 0;
    for (std::size_t column = 0; column < dims(); ++column) {
        observed_.at(column, slot) = sums_.at(column, slot) = 0.0;
        set_cell(column, slot);
    }
}

void Counts::change(std::size_t slot, const std::uint32_t* x, double by) {
    for (std::size_t column = 0; column < dims(); ++column) {
        if (x[column] == Table::gap)
            continue;
        observed_.at(column, slot) += by;
        sums_.at(column, slot) += by * x[column];
        set_cell(column, slot);
    }
}

/// What scores need, from the number of cells and their sum.
void Counts::set_cell(std::size_t column, std::size_t slot) {
    const double z = base_.shape[column] + sums_.at(column, slot);
    const double r = base_.rate[column] + observed_.at(column, slot);
    z_.at(column, slot) = z;
    log_z_.at(column, slot) = std::log(z);
    remainder_.at(column, slot) = stirling_remainder(z);
    zero_.at(column, slot) = -z * std::log1p(1.0 / r);
    slope_.at(column, slot) = -std::log1p(r);
}

void Counts::score(const std::uint32_t* x, std::size_t own, std::size_t slots, double* out) {
    score_own_apart(
        out, own, false, 0.0, [&] { return score_own(x, own); },
        [&](double) {
            for (const auto column : used_)
                if (x[column] != Table::gap)
                    score_column({z_.row(column), log_z_.row(column), remainder_.row(column),
                                  zero_.row(column), slope_.row(column)},
                                 x[column], slots, out);
        });
}

/// Log predictive probability of x given the other items of its own cluster, without 1 / x!.
double Counts::score_own(const std::uint32_t* x, std::size_t own) const {
    double total = 0.0;
    for (const auto column : used_) {
        if (x[column] == Table::gap)
            continue;
        const double count = x[column];
        const double z = base_.shape[column] + (sums_.at(column, own) - count);
        const double r = base_.rate[column] + (observed_.at(column, own) - 1.0);
        const double log_z = std::log(z), remainder = stirling_remainder(z);
        const double zero = -z * std::log1p(1.0 / r), slope = -std::log1p(r);
        double lanes[common::lanes] = {}, values[5][common::lanes];
        const double parts[] = {z, log_z, remainder, zero, slope};
        for (std::size_t part = 0; part < 5; ++part)
            std::fill_n(values[part], common::lanes, parts[part]);
        score_column({values[0], values[1], values[2], values[3], values[4]}, x[column], common::lanes,
                     lanes);
        total += lanes[0];
    }
    return total;
}

double Counts::column_marginal(std::size_t column, std::size_t slot) const {
    const double shape = base_.shape[column], rate = base_.rate[column];
    const double n = observed_.at(column, slot), s = sums_.at(column, slot);
    return common::log_rising(shape, s) - shape * std::log1p(n / rate) - s * std::log(rate + n);
}

void Counts::add_to(const std::uint32_t* x, double* sums) const {
    for (std::size_t column = 0; column < dims(); ++column)
        if (x[column] != Table::gap) {
            sums[2 * column] += 1.0;
            sums[2 * column + 1] += x[column];
        }
}

void Counts::assign(std::size_t slot, std::uint32_t size, const double* sums) {
    sizes_[slot] = size;
    for (std::size_t column = 0; column < dims(); ++column) {
        observed_.at(column, slot) = sums[2 * column];
        sums_.at(column, slot) = sums[2 * column + 1];
        set_cell(column, slot);
    }
}

} // namespace partita::models
