"""An estimate and its ball without the items that are in no cluster, for figures and tables of the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.draws.sample import PartitionSample
from partita.estimation.result import Estimate
from partita.partitions.checks import canonical_placed
from partita.uncertainty.ball import CredibleBall


def placed_only(
    estimate: Estimate, ball: CredibleBall | None = None, first: int = 0
) -> tuple[Estimate, CredibleBall | None, NDArray[np.int64] | None]:
    """The estimate and the ball of the items that are in a cluster, and these items; None for them if all are.

    Items without names keep their numbers, counted from `first`, as names.
    """
    if estimate.labels.min() >= 0:
        return estimate, ball, None
    items = np.flatnonzero(estimate.labels >= 0)
    part = replace(estimate, labels=estimate.labels[items], sample=_columns(estimate.sample, items, first))
    if ball is None:
        return part, None, items
    bounds: dict[str, Any] = {
        name: [row[items] for row in getattr(ball, name)] for name in ("upper", "lower", "horizontal")
    }
    return part, replace(ball, center=ball.center[items], sample=part.sample, **bounds), items


def _columns(sample: PartitionSample, items: NDArray[np.int64], first: int) -> PartitionSample:
    """The same draws of some of the items: of the others, each is noise, or no draw of positive weight labels it."""
    labels = np.ascontiguousarray(sample.labels[:, items])
    names = tuple(str(i + first) if sample.names is None else sample.names[i] for i in items.tolist())
    if sample.noise is not None:  # an item that is noise may be with others in some draws
        rows = [canonical_placed(row.astype(np.int64)) for row in labels]
        return replace(sample, labels=np.array(rows, labels.dtype), names=names, noise=sample.noise[items])
    if labels.min() >= 0:
        labels = labels.view(labels.dtype.str.replace("i", "u"))
    return replace(sample, labels=labels, names=names)
