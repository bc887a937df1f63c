"""Every argument check: each returns the argument as the work needs it, or says what is wrong with it."""

from __future__ import annotations

import operator
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._labels import BadLabel, as_cells, to_codes


def check_rng(rng: Any, name: str = "rng") -> np.random.Generator:
    """A generator from None (fresh entropy), a seed, or a generator, which is used as it is."""
    if rng is None or isinstance(rng, np.random.Generator | np.random.SeedSequence | np.random.BitGenerator):
        return np.random.default_rng(rng)
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool):
        if rng < 0:
            raise ValueError(f"{name} must not be a negative seed, but it is {rng}")
        return np.random.default_rng(int(rng))
    raise TypeError(f"{name} must be None, an integer or a numpy Generator, not {type(rng).__name__}")


def check_random_state(random_state: Any) -> np.random.Generator:
    """A generator from what scikit-learn calls a random state: None, a seed, a RandomState or a Generator."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return check_rng(random_state, "random_state")


def check_positive(value: Any, name: str) -> float:
    """A finite number above zero."""
    number = _as_float(value, name)
    if not 0 < number < np.inf:
        raise ValueError(f"{name} must be a positive number, but it is {value}")
    return number


def check_count(value: Any, name: str, minimum: int = 0) -> int:
    """A whole number that is at least `minimum`."""
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {value!r}") from None
    if count < minimum:
        raise ValueError(f"{name} must be at least {minimum}, but it is {count}")
    return count


def check_probability(value: Any, name: str) -> float:
    """A number from 0 to 1, both allowed."""
    number = _as_float(value, name)
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be a probability from 0 to 1, but it is {value}")
    return number


def check_weights(weights: Any, n_draws: int, name: str = "weights") -> NDArray[np.float64]:
    """One finite weight for each draw, none negative, not all zero; (chain, draw) is taken row by row."""
    try:
        values = np.asarray(weights, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be numbers, one for each of the {n_draws} draws") from None
    if values.size != n_draws:
        raise ValueError(f"{name} has {values.size} entries, but there are {n_draws} draws")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        raise ValueError(f"{name}[{bad[0]}] is {values[bad[0]]}: weights must be finite and not negative")
    if not values.any():
        raise ValueError(f"{name} are all zero")
    return values


def check_partition(x: Any, name: str) -> NDArray[np.int64]:
    """Canonical labels of one partition: 0-based, in order of first appearance."""
    cells = as_cells(x, name)
    if cells.ndim != 1:
        raise ValueError(f"{name} must be one partition, of 1 dimension (items), but it has {cells.ndim}")
    if cells.size == 0:
        raise ValueError(f"{name} has no items")
    try:
        codes = to_codes(cells[None, :], name=name)
    except BadLabel as bad:
        raise ValueError(bad.at(f"{name}[{bad.column}]")) from None
    return _core.canonical(np.ascontiguousarray(codes[0])).astype(np.int64)


def check_same_items(x: NDArray[Any], y: NDArray[Any], x_name: str, y_name: str) -> None:
    """Two partitions of the same number of items."""
    if len(x) != len(y):
        raise ValueError(f"{x_name} has {len(x)} items, but {y_name} has {len(y)}")


def check_n_jobs(n_jobs: Any) -> int:
    """A number of threads: -1 is all cores, -2 all but one, and so on."""
    jobs = check_count(n_jobs, "n_jobs", minimum=-(2**31))
    if jobs == 0:
        raise ValueError("n_jobs must not be 0: 1 is one thread, -1 all cores")
    return jobs if jobs > 0 else max(1, available_cores() + 1 + jobs)


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _as_float(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, not {value!r}") from None


def check_level(level: Any, name: str = "level") -> float:
    """A probability above 0 and at most 1."""
    value = _as_float(level, name)
    if not 0 < value <= 1:
        raise ValueError(f"{name} must be above 0 and at most 1, but it is {level}")
    return value
