"""Checks of numbers, seeds and weights: each returns the argument as the work needs it, or says what is wrong.

The ranges of hyperparameters, and the one check of log densities as they leave the core, are here too.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.errors import Argument, ArgumentError
from partita._support.hints import did_you_mean

#: More threads than any machine has; the memory that each needs stays small in sum.
MAX_THREADS = 1 << 14


def check_rng(rng: Any, name: str = "rng") -> np.random.Generator:
    """A generator from None (fresh entropy), a seed, or a generator, which is used as it is."""
    if rng is None or isinstance(rng, np.random.Generator | np.random.SeedSequence | np.random.BitGenerator):
        return np.random.default_rng(rng)
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool):
        if rng < 0:
            raise _bad(name, rng, f"must not be a negative seed, but it is {rng}")
        return np.random.default_rng(int(rng))
    raise TypeError(f"{name} must be None, an integer or a numpy Generator, not {type(rng).__name__}")


def seed_and_generator(rng: Any) -> tuple[int | None, np.random.Generator]:
    """A fresh seed if none is given, so that the answer can be reproduced."""
    if rng is None:
        rng = int(np.random.SeedSequence().generate_state(1)[0])
    generator = check_rng(rng)
    return (int(rng) if isinstance(rng, int | np.integer) else None), generator


def check_random_state(random_state: Any) -> np.random.Generator:
    """A generator from what scikit-learn calls a random state: None, a seed, a RandomState or a Generator."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return check_rng(random_state, "random_state")


def check_positive(value: Any, name: str) -> float:
    """A finite number above zero."""
    number = as_float(value, name)
    if not 0 < number < np.inf:
        raise _bad(name, value, f"must be a positive number, but it is {value}")
    return number


def check_count(value: Any, name: str, minimum: int = 0) -> int:
    """A whole number that is at least `minimum`."""
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {value!r}") from None
    if count < minimum:
        raise _bad(name, count, f"must be at least {minimum}, but it is {count}")
    return count


def check_flag(value: Any, name: str) -> bool:
    """True or False: other values that count as one of them are likely slips."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return value


def check_probability(value: Any, name: str) -> float:
    """A number from 0 to 1, both allowed."""
    number = as_float(value, name)
    if not 0 <= number <= 1:
        raise _bad(name, value, f"must be a probability from 0 to 1, but it is {value}")
    return number


def check_weights(weights: Any, n_draws: int, name: str = "weights") -> NDArray[np.float64]:
    """One finite weight for each draw, none negative, not all zero; (chain, draw) is taken row by row."""
    try:
        values = np.asarray(weights, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be numbers, one for each of the {n_draws} draws") from None
    if values.size != n_draws:
        raise _bad(name, weights, f"has {values.size} entries, but there are {n_draws} draws")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        place, value = int(bad[0]), float(values[bad[0]])
        raise ArgumentError(Argument(name, place, value), f" is {value}: weights must be finite and not negative")
    if not values.any():
        raise _bad(name, weights, "are all zero")
    return values


def check_n_jobs(n_jobs: Any) -> int:
    """A number of threads: -1 is all cores, -2 all but one, and so on."""
    jobs = check_count(n_jobs, "n_jobs", minimum=-MAX_THREADS)
    if jobs == 0:
        raise _bad("n_jobs", jobs, "must not be 0: 1 is one thread, -1 all cores")
    if jobs > MAX_THREADS:
        raise _bad("n_jobs", jobs, f"must be at most {MAX_THREADS}, but it is {jobs}; -1 is one thread for each core")
    return jobs if jobs > 0 else max(1, available_cores() + 1 + jobs)


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def as_float(value: Any, name: str) -> float:
    """A number, which may be negative, infinite or NaN; text raises an error."""
    try:
        if not isinstance(value, str | bytes):  # float would read the digits of a text
            return float(value)
    except OverflowError:
        raise _bad(name, value, "is too large for a number in double precision") from None
    except (TypeError, ValueError):
        pass
    raise TypeError(f"{name} must be a number, not {value!r}")


def check_level(level: Any, name: str = "level") -> float:
    """A probability above 0 and at most 1."""
    value = as_float(level, name)
    if not 0 < value <= 1:
        meant = f"; write {value / 100:g} for {value:g}%" if 1 < value <= 100 else ""
        raise _bad(name, level, f"must be above 0 and at most 1, but it is {level}{meant}")
    return value


def check_choice(value: Any, name: str, known: Iterable[str]) -> str:
    """One of the known names; the error lists them, and suggests the most similar."""
    names = list(known)
    if not isinstance(value, str) or value not in names:
        raise _bad(name, value, f"must be one of {', '.join(names)}, but it is {value!r}{did_you_mean(value, names)}")
    return value


def _bad(name: str, value: Any, problem: str) -> ArgumentError:
    return ArgumentError(Argument(name, value=value), f" {problem}")


MIN_VALUE, MAX_VALUE = 1e-100, 1e100
#: Of parameters that go through a Gamma function.
MAX_SHAPE = 1e8
_LENGTHS = {"draws", "warmup", "thin", "chains", "split_merge", "restricted_scans"}  # no density depends on them


def check_scale(value: Any, name: str) -> float:
    """A positive number from 1e-100 to 1e100: a scale, a rate, a concentration."""
    return _check_range(value, name, MAX_VALUE)


def check_shape(value: Any, name: str) -> float:
    """A positive number from 1e-100 to 1e8: an argument of a Gamma function."""
    return _check_range(value, name, MAX_SHAPE)


def _check_range(value: Any, name: str, most: float) -> float:
    number = as_float(value, name)
    if not MIN_VALUE <= number <= most:
        raise ArgumentError(
            Argument(name, value=value),
            f" must be a positive number from {MIN_VALUE:g} to {most:g}, but it is {value}",
        )
    return number


def check_log_densities(values: NDArray[np.float64], settings: Mapping[str, Any]) -> None:
    """Raises an error for NaN and infinity: data and hyperparameters are then too far apart for double precision."""
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        listed = ", ".join(
            f"{name}={value!r}" for name, value in settings.items() if not (value is None or name in _LENGTHS)
        )
        raise ValueError(
            f"the log density is {values[bad[0]]}: the data are beyond what double precision can hold with these "
            f"hyperparameters; rescale the data, or change one of {listed}"
        )


def checked_log_density(value: ArrayLike, settings: Mapping[str, Any]) -> float:
    """One log density, if it is a number."""
    number = float(np.asarray(value))
    check_log_densities(np.array([number]), settings)
    return number
