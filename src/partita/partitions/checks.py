"""Checks of partitions that are given: each returns canonical labels, or says what is wrong with the argument."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.errors import Argument, ArgumentError
from partita._support.names import Names, as_named
from partita.partitions.codes import BadLabel, as_cells, to_codes


def check_partition(x: Any, name: str) -> NDArray[np.int64]:
    """Canonical labels of one partition, or of an estimate: 0-based, in order of first appearance."""
    return _canonical(as_named(x, name).values, name)


def check_partition_of(x: Any, names: Names | None, n_items: int, name: str, whose: str = "draws") -> NDArray[np.int64]:
    """Canonical labels of one partition of the items of `whose`, in their order: by name where both have names."""
    given = as_named(x, name)
    labels = _canonical(given.values, name)
    order = given.order_for(names, n_items, whose)
    return labels if order is None else _canonical(labels[order], name)


def check_placed_of(
    x: Any, names: Names | None, n_items: int, name: str, may_lack: NDArray[np.bool_], whose: str = "draws"
) -> NDArray[np.int64]:
    """As `check_partition_of`, but items of `may_lack` may be in no cluster: they have -1, and so has the result."""
    values = np.asarray(as_named(x, name).values)
    if values.dtype.kind != "i" or values.ndim != 1 or not (values == -1).any():
        return check_partition_of(x, names, n_items, name, whose)
    given = replace(as_named(x, name), values=values)
    ordered = np.asarray(given.in_order_of(names, n_items, whose))
    lacking = np.flatnonzero(ordered == -1)
    if not may_lack[lacking].all():
        item = int(lacking[~may_lack[lacking]][0])
        raise ValueError(f"{name}[{item}] is -1: a label must not be negative, unless no draw labels the item")
    return canonical_placed(ordered.astype(np.int64), name)


def canonical_placed(labels: NDArray[np.int64], name: str = "labels") -> NDArray[np.int64]:
    """Canonical labels of the items in a cluster; -1, no cluster, stays."""
    found, placed = np.full(len(labels), -1), labels != -1
    if placed.any():
        found[placed] = _canonical(labels[placed], name)
    return found


def check_partitions(x: Any, y: Any, x_name: str, y_name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Canonical labels of two partitions of the same items, in the order of x: by name where both have names."""
    left, right = as_named(x, x_name), as_named(y, y_name)
    labels, others = _canonical(left.values, x_name), _canonical(right.values, y_name)
    if left.names is None or right.names is None:
        check_same_items(labels, others, x_name, y_name)
    order = right.order_for(left.names, labels.size, x_name)
    return labels, others if order is None else _canonical(others[order], y_name)


def check_same_items(x: NDArray[Any], y: NDArray[Any], x_name: str, y_name: str) -> None:
    """Two partitions of the same number of items."""
    if len(x) != len(y):
        raise ValueError(f"{x_name} has {len(x)} items, but {y_name} has {len(y)}")


def _canonical(x: Any, name: str) -> NDArray[np.int64]:
    cells = as_cells(x, name)
    if cells.ndim != 1:
        raise ValueError(f"{name} must be one partition, of 1 dimension (items), but it has {cells.ndim}")
    if cells.size == 0:
        raise ValueError(f"{name} has no items")
    try:
        codes = to_codes(cells[None, :], name=name)
    except BadLabel as bad:
        raise ArgumentError(bad.at(Argument(name, bad.column, bad.value))) from None
    return _core.canonical(np.ascontiguousarray(codes[0])).astype(np.int64)


def is_one_partition(given: Any, name: str) -> bool:
    """Whether these are the labels of one partition, or a result that has them, and not several of them."""
    if hasattr(given, "labels"):
        return True
    values = as_named(given, name).values
    if isinstance(values, np.ndarray):
        return values.ndim < 2
    first = next(iter(values), None)
    return first is None or isinstance(first, str) or (np.ndim(first) == 0 and not hasattr(first, "labels"))
