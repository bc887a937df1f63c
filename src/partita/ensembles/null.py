"""Whether runs agree more than they would on data without clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.arrays import Floats
from partita._support.html import ShownAsText
from partita.ensembles.base_clusterings import Base
from partita.ensembles.clusterers import Data
from partita.ensembles.summary import pair_agreement

#: The agreement is more than chance if it is above that of all data sets without clusters, if −log(1 − agreement) is by
#: this many of their standard deviations above their mean, and if it is at least the last number. A smaller deviation
#: than the second number counts as that.
EXCESS, LEAST_DEVIATION, LEAST_AGREEMENT = 3.0, 0.05, 0.5
#: Disagreement that counts as none.
NO_DISAGREEMENT = 1e-3
KINDS = ("gaussian", "permuted")


@dataclass(frozen=True, eq=False)
class NullComparison(ShownAsText):
    """The agreement of runs beside that of runs on data without clusters.

    Attributes
    ----------
    kind : str
        "gaussian": a normal distribution with the same means and covariances; "permuted": each column permuted. If both
        were asked for, the one on which runs agree more.
    agreement : float
        Mean adjusted Rand index of pairs of runs on the data. A run without clusters, or with one that has all items,
        agrees with none.
    values : (data sets,) array
        The same for each data set without clusters.
    """

    kind: str
    agreement: float
    values: Floats

    @property
    def p_value(self) -> float:
        """The share of the data sets, this one included, whose runs agree at least as much."""
        return float((1 + (self.values >= self.agreement).sum()) / (1 + self.values.size))

    @property
    def excess(self) -> float:
        """Standard deviations by which −log(1 − agreement) is above its mean on data without clusters."""
        values = on_log_scale(self.values)
        return float((on_log_scale(self.agreement) - values.mean()) / max(values.std(ddof=1), LEAST_DEVIATION))

    @property
    def is_more_than_chance(self) -> bool:
        """Whether the runs agree, and more than on any data set without clusters, by three standard deviations."""
        exceeds = bool((self.agreement > self.values).all()) and self.excess >= EXCESS
        return exceeds and self.agreement >= LEAST_AGREEMENT

    def in_words(self) -> str:
        """The comparison in a sentence."""
        what = "with permuted columns" if self.kind == "permuted" else "from one normal distribution"
        found = f"{self.agreement:.2f}, against {self.values.mean():.2f} on average and {self.values.max():.2f} at most"
        verdict = "more than chance" if self.is_more_than_chance else "no more than chance"
        return f"The runs agree by {found} on {self.values.size} data sets {what}: {verdict}."

    def __repr__(self) -> str:
        return f"NullComparison: {self.in_words()}"


def on_log_scale(agreement: Any) -> Any:
    """−log(1 − agreement): the disagreement of runs as a ratio, which can be far from chance also near agreement 1."""
    return -np.log(1 + NO_DISAGREEMENT - np.asarray(agreement))


def mean_agreement(base: Base) -> float:
    """Mean adjusted Rand index of pairs of runs; a run without clusters, or with all items in one, agrees with none."""
    pairs = pair_agreement(base)
    clustered = np.array([_has_clusters(base, m) for m in range(base.n_clusterings)])
    pairs = np.where(clustered[:, None] & clustered, pairs, 0.0)
    off = ~np.eye(len(pairs), dtype=np.bool_)
    return float(pairs[off].mean()) if off.any() else 1.0


def _has_clusters(base: Base, run: int) -> bool:
    codes = base.codes[:, run]
    sizes = np.bincount(codes[codes >= 0], minlength=1)
    return bool(sizes.max() > 1 and sizes.max() < base.seen[:, run].sum())


def null_data(data: Data, kind: str) -> Callable[[np.random.Generator], NDArray[np.float64]]:
    """Makes data sets without clusters that are otherwise like the data."""
    values = _numbers(data)
    if kind == "permuted":
        return lambda rng: rng.permuted(values, axis=0)
    center = values.mean(axis=0)
    _, scale, axes = np.linalg.svd(values - center, full_matrices=False)
    spread = scale[:, None] * axes / np.sqrt(max(1, len(values) - 1))
    return lambda rng: center + rng.standard_normal((len(values), len(scale))) @ spread


def _numbers(data: Data) -> NDArray[np.float64]:
    given: Any = data.values
    if data.n_columns is None:
        raise ValueError("null= needs a table of numbers: there is no such data without clusters for graphs and texts")
    try:
        values = np.asarray(given.toarray() if hasattr(given, "toarray") else given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("null= needs a table of numbers, but X has other columns") from None
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"null= needs finite numbers, but X[{row}, {column}] is {values[row, column]}")
    return values
