"""Curves of one outcome given a partition: mean curves of its clusters, and what a curve tells about its cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita.models.mixtures.base import Base, draw_place
from partita.models.mixtures.cells import Cells
from partita.models.mixtures.raw import number_text
from partita.models.mixtures.regression import CurveBase, Linear, log_marginal, posterior, statistics
from partita.models.mixtures.schema import CURVED
from partita.profiling.column_parts import Integers, LogDensities, Part

MAX_TIMES = 25  # at which a mean curve is given


@dataclass(frozen=True, eq=False)
class CurvePart(Part):
    """The curves of the subjects that have one; `values` are places in `statistics`, (subjects, statistics)."""

    base: CurveBase
    statistics: Floats
    design: Floats

    def _sums(self, labels: NDArray[Any], size: int) -> Floats:
        sums = np.zeros((size, self.statistics.shape[1]))
        np.add.at(sums, labels, self.statistics)
        return sums

    def draw(self, labels: NDArray[Any], size: int, times: int, rng: np.random.Generator) -> Floats:
        """Mean curves, (draws, clusters, times), without the lines of the subjects, or coefficients of regressions."""
        found, at = posterior(self._sums(labels, size), self.base), self.design
        inverse = np.linalg.inv(np.linalg.cholesky(found.precision))  # its transpose times noise has the covariance
        cluster, curves = np.arange(size), []
        for _ in range(times):
            ratio = draw_place(found.logs, rng)
            spread = np.sqrt(found.b[cluster, ratio] / rng.standard_gamma(found.a[cluster, ratio]))
            noise = np.einsum("kji,kj->ki", inverse[cluster, ratio], rng.standard_normal((size, len(self.base.mean))))
            curves.append((self.base.mean + found.mean[cluster, ratio] + spread[:, None] * noise) @ at.T)
        return np.array(curves)

    def distinct(self, labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        return self.values, labels, np.ones(len(labels))

    def log_densities(self, labels: NDArray[Any], size: int) -> LogDensities:
        sums = self._sums(labels, size)
        now = log_marginal(sums, self.base)

        def of(values: NDArray[Any], own: Integers) -> Floats:
            curves = self.statistics[values]
            logs = np.column_stack([log_marginal(sums[k] + curves, self.base) - now[k] for k in range(size)])
            logs[np.arange(len(own)), own] = now[own] - log_marginal(sums[own] - curves, self.base)
            return logs

        return of


def curve_parts(base: Base, cells: Cells) -> Iterator[CurvePart]:
    """The curves or the regression of each outcome; their levels are the times at which curves are given."""
    for place, (column, own) in enumerate(zip(base.schema.used(*CURVED), base.curves, strict=True)):
        found, _ = statistics(cells, place, own, len(cells["numbers"]))
        rows = np.flatnonzero(found[:, 0] > 0)
        levels, design = _shown(own, np.asarray(cells["curve_times"]))
        yield CurvePart(replace(column, levels=levels), rows, np.arange(len(rows)), own, found[rows], design)


def _shown(own: CurveBase, times: Floats) -> tuple[tuple[str, ...], Floats]:
    """Names of what is given of each cluster, and the rows by which the coefficients are multiplied for it.

    Of a curve these are its values at some times, of a regression the intercept and the slopes of the columns.
    """
    if isinstance(own.basis, Linear):
        spread, center = own.basis.spread, own.basis.center
        slopes = np.column_stack([np.zeros(len(spread)), np.diag(1 / spread)])
        names = ("intercept", *(f"slope {j + 1}" for j in range(len(spread))))
        return names, np.vstack([np.append(1.0, -center / spread), slopes])
    distinct = np.unique(times)
    if len(distinct) > MAX_TIMES:
        distinct = np.linspace(distinct[0], distinct[-1], MAX_TIMES)
    return tuple(number_text(round(float(time), 6)) for time in distinct), own.basis.splines(distinct)
