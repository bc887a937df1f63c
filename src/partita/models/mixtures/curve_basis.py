"""The functions of time that curves are made of: B-splines, or the columns of a regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline

from partita._support.arrays import Floats
from partita.models.mixtures.curves import MAX_COEFFICIENTS, Curves

MAX_KNOTS, VISITS_PER_KNOT = 4, 3


@dataclass(frozen=True, eq=False)
class Basis:
    """B-splines on the range of the times of a fit; outside, times count as those of its ends."""

    knots: Floats  # with those at both ends, as SciPy has them
    degree: int
    low: float
    high: float

    @property
    def size(self) -> int:
        return len(self.knots) - self.degree - 1

    @property
    def constant(self) -> Floats:
        """Coefficients of the function that is 1: the splines sum to it."""
        return np.ones(self.size)

    def splines(self, times: Floats) -> Floats:
        """(times, coefficients)."""
        inside = np.clip(times, self.low, self.high)
        return np.asarray(BSpline.design_matrix(inside, self.knots, self.degree).toarray())

    def line(self, times: Floats) -> Floats:
        """A constant and the time from −1 to 1, (times, 2)."""
        half = 0.5 * (self.high - self.low) or 1.0
        return np.column_stack([np.ones(len(times)), (times - 0.5 * (self.low + self.high)) / half])


@dataclass(frozen=True, eq=False)
class Linear:
    """A constant and standardised columns, (rows, columns) of numbers in place of the times."""

    center: Floats
    spread: Floats

    @property
    def size(self) -> int:
        return 1 + len(self.center)

    @property
    def constant(self) -> Floats:
        return np.asarray(np.eye(self.size)[0])

    def splines(self, x: Floats) -> Floats:
        return np.column_stack([np.ones(len(x)), (x - self.center) / self.spread])

    def line(self, x: Floats) -> Floats:
        return np.zeros((len(x), 2))


def make_linear(x: Floats) -> Linear:
    """Constant columns are only centred."""
    spread = x.std(axis=0)
    return Linear(x.mean(axis=0), np.where(spread > 0, spread, 1.0))


def make_basis(times: Floats, items: NDArray[Any], curves: Curves) -> Basis:
    """The default degree and knots follow from the visits of the median subject and the different times."""
    distinct = np.unique(times)
    visits = int(np.median(np.bincount(items)[np.unique(items)]))
    degree = curves.degree if curves.degree is not None else max(0, min(3, visits - 1, len(distinct) - 1))
    most = max(0, min(MAX_KNOTS, len(distinct) - degree - 1))
    inner = curves.knots if curves.knots is not None else min(most, max(0, (visits - 4) // VISITS_PER_KNOT))
    low, high = float(distinct[0]), float(distinct[-1])
    if low == high:
        degree, inner, high = 0, 0, low + 1.0
    between = np.unique(np.quantile(times, np.linspace(0, 1, inner + 2)[1:-1]))
    between = between[(between > low) & (between < high)]
    knots = np.concatenate([np.full(degree + 1, low), between, np.full(degree + 1, high)])
    assert len(knots) - degree - 1 <= MAX_COEFFICIENTS
    return Basis(knots, degree, low, high)
