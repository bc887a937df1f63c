// Arrays across the border: NumPy in as spans, vectors out as NumPy. Nothing here computes.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "common/shared_cells.hpp"

namespace nb = nanobind;

template <class T> using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Array2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T> using MutableArray1 = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using MutableArray2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T> using NumpyOut = nb::ndarray<nb::numpy, T, nb::c_contig>;

template <class Array> auto as_span(const Array& array) { return std::span(array.data(), array.size()); }

/// The cells of an array, which lives as long as they do.
template <class T> partita::common::SharedCells<T> shared_cells(const Array2<T>& array) {
    auto owner = std::make_shared<const Array2<T>>(array);
    const std::span<const T> cells(owner->data(), owner->size());
    return {cells, std::move(owner)};
}

/// The values of a list. nanobind's own conversion may not throw: where memory is short it ends the process.
template <class T> std::vector<T> values_of(const nb::list& list) {
    std::vector<T> values;
    values.reserve(list.size());
    for (const auto entry : list)
        values.push_back(nb::cast<T>(entry));
    return values;
}

/// Hands a vector's memory to NumPy without a copy.
template <class T> NumpyOut<T> to_numpy(std::vector<T> values, std::initializer_list<std::size_t> shape) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    auto* data = owned.release()->data();
    return NumpyOut<T>(data, shape, owner);
}

template <class T> NumpyOut<T> to_numpy(std::vector<T> values) {
    const auto size = values.size();
    return to_numpy(std::move(values), {size});
}
