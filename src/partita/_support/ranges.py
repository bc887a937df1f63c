"""The ranges of hyperparameters, and the one check of log densities as they leave the core.

Within these ranges every density is computed to at least six decimals: differences of ln Gamma lose their digits as
arguments grow, and squares and products overflow at the ends of double precision. What data do beyond that is seen in
the log density, which is checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.errors import Argument, ArgumentError
from partita._support.validate import as_float

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
