"""A consensus and its base clusterings: their agreement with it and with each other, and which are redundant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.arrays import Floats
from partita._support.hints import plural
from partita._support.shown import Shown, ShownAsText
from partita.draws.sample import PartitionSample, as_sample
from partita.ensembles.base_clusterings import Base, Labels, as_base, in_column_order, weights_or_ones
from partita.ensembles.dependence import FEW, SEED, Dependence, dependence, distinct_clusterings, shared_information
from partita.ensembles.estimator import EnsembleEstimator
from partita.ensembles.layout import Layout
from partita.losses.agreement import adjusted_rand
from partita.partitions.checks import canonical_placed, check_partition_of
from partita.partitions.labels import each_alone
from partita.uncertainty.certainty import item_certainty

MAX_ITEMS = 10_000  # pairs of base clusterings are compared on at most this many items, evenly chosen
REDUNDANT = 0.9  # a clustering is redundant if another one has this share of its information beyond the consensus
POOR = 0.3  # mean agreement below which no clustering represents the ensemble


@dataclass(frozen=True)
class Redundant:
    """`which` adds little to `beside`, which has the share `said` of its information beyond the consensus."""

    which: int
    beside: int
    said: float


@dataclass(frozen=True, eq=False)
class ConsensusSummary(ShownAsText, Shown):
    """A consensus beside its base clusterings: the result of `summarize`.

    Attributes
    ----------
    labels : (items,) integer array
        Canonical labels of the consensus; −1 for an item without labels.
    base : Base
        The base clusterings.
    method : str
        How the consensus was found; empty if it is not known.
    weights : (clusterings,) array
        Weight of each clustering in the consensus.
    certainty : (items,) array
        NBCE's certainty, or else the mean weighted share of the base clusterings in which the item is with the other
        members of its cluster; NaN for an item without labels.
    agreement : (clusterings,) array
        Adjusted Rand index of each clustering and the consensus, on the items that it labels.
    pairs : (clusterings, clusterings) array
        Adjusted Rand index of each pair of clusterings, on the items that both label.
    dependence : Dependence
        The dependence of the clusterings beyond the consensus.
    cautions : tuple of str
        Reasons for caution; they are the first of the `notes`.
    model : dict
        Settings and results of the method that found the consensus, for `report` and files.
    """

    labels: Labels
    base: Base
    method: str
    weights: Floats
    certainty: Floats
    agreement: Floats
    pairs: Floats
    dependence: Dependence
    cautions: tuple[str, ...] = ()
    model: Mapping[str, Any] = field(default_factory=dict)

    presented_by = "partita.results.ensembles.EnsemblePresentation"

    @property
    def n_clusters(self) -> int:
        return int(self.labels.max()) + 1

    @property
    def clusterings(self) -> tuple[str, ...]:
        """The names of the base clusterings; their numbers if they have none."""
        return self.base.clusterings or tuple(map(str, range(self.base.n_clusterings)))

    @cached_property
    def sample(self) -> PartitionSample:
        """The base clusterings of the labelled items as a weighted sample of partitions."""
        return as_draws(self.base.rows(self.labels >= 0), self.weights)

    @cached_property
    def redundant(self) -> list[Redundant]:
        """Clusterings that add little to another one, which has 90 % or more of their information beyond the consensus.

        Of two that say the same, the one that says more beyond the consensus is kept, or else the first.
        """
        items = self.dependence.consensus >= 0
        given, rng = self.dependence.consensus[items], np.random.default_rng(SEED)
        share, entropy = shared_information(self.base.rows(items), given, rng)
        first, group = distinct_clusterings(self.base)
        found = [Redundant(m, first[g], 1.0) for m, g in enumerate(group.tolist()) if m != first[g]]
        kept: list[int] = []
        for m in sorted(first, key=lambda m: -entropy[m].round(12)):
            nearest = max(kept, key=lambda other: share[m, other], default=m)
            if nearest != m and share[m, nearest] >= REDUNDANT:
                found.append(Redundant(m, nearest, float(share[m, nearest])))
            else:
                kept.append(m)
        return sorted(found, key=lambda pair: pair.which)

    def __repr__(self) -> str:
        clusters, items = plural(self.n_clusters, "cluster"), plural(len(self.labels), "item")
        return (
            f"ConsensusSummary: {clusters} of {items} from {len(self.weights)} clusterings, which count as "
            f"{self.dependence.effective:.1f}; mean agreement {self.agreement.mean():.2f}"
        )


def summarize(
    result: EnsembleEstimator | ArrayLike, base: Any = None, *, weights: ArrayLike | None = None, method: str = ""
) -> ConsensusSummary:
    """Compare a consensus with its base clusterings; `partita.report` makes a page of the result.

    Parameters
    ----------
    result : fitted estimator or (items,) array_like
        An `NBCE`, `BCE` or `MixtureModel`, or the labels that `consensus` or any other method returned.
    base : (items, clusterings) labels, optional
        The base clusterings of these labels; an estimator has its own. Of membership probabilities, the most probable
        labels are compared.
    weights : (clusterings,) array_like, optional
        Weight of each clustering; by default that of the estimator, or equal.
    method : str
        How the labels were found, for the page.

    Examples
    --------
    >>> base = [[0, 0, 1], [0, 0, 1], [1, 1, 0], [1, 1, 0], [1, 2, 0]]
    >>> summarize([0, 0, 1, 1, 1], base)
    ConsensusSummary: 2 clusters of 5 items from 3 clusterings, which count as 2.0; mean agreement 0.85
    """
    if isinstance(result, EnsembleEstimator):
        return _of_estimator(result, weights)
    if base is None:
        raise TypeError("base is missing: labels alone do not tell which clusterings they were found from")
    read = as_base(base).hardened()
    powers = weights_or_ones(weights, base, read)
    return _summary(_labels_of(result, read), read, powers, method)


def _of_estimator(model: EnsembleEstimator, weights: ArrayLike | None) -> ConsensusSummary:
    model._check_fitted()
    read = model.base_.hardened()
    if not read.n_items:
        raise ValueError("the estimator was fitted to a split ensemble, whose labels it does not have")
    powers = getattr(model, "weights_", np.ones(read.n_clusterings)) if weights is None else weights
    powers = in_column_order(powers, read, read.n_clusterings)
    method = f"{type(model).__name__} ({model.inference})" if hasattr(model, "inference") else type(model).__name__
    certainty = np.where(model.labels_ >= 0, model.certainty_, np.nan) if hasattr(model, "certainty_") else None
    known, best = getattr(model, "dependence_", None), getattr(model, "estimate_", None)
    if known is not None:  # that of the labelled items
        given = np.full(read.n_items, -1, dtype=np.intp)
        given[model.labels_ >= 0] = known.consensus
        known = replace(known, consensus=given)
    warnings = () if best is None else best.cautions
    return _summary(model.labels_, read, powers, method, certainty, known, tuple(warnings))


def _summary(
    labels: Labels,
    base: Base,
    weights: Floats,
    method: str,
    certainty: Floats | None = None,
    known: Dependence | None = None,
    warnings: tuple[str, ...] = (),
) -> ConsensusSummary:
    placed = labels >= 0 if base.noise is None else base.labelled  # noise is a place of its own
    used = base.rows(placed)
    draws = as_draws(used, weights)
    if certainty is None:
        certainty = np.full(len(labels), np.nan)
        certainty[placed] = item_certainty(labels[placed], draws).probability
    dependent = dependence(base) if known is None else known
    agreement = _agreements(labels[placed], used)
    repeats = () if base.independent else _repeat_warnings(weights, dependent)
    warnings += (*_warnings(labels, placed, agreement), *repeats)
    return ConsensusSummary(
        labels, base, method, weights, certainty, agreement, pair_agreement(used), dependent, warnings
    )


def as_draws(base: Base, weights: Floats) -> PartitionSample:
    """The clusterings that label an item as a weighted sample of partitions."""
    useful = np.asarray(base.seen.any(axis=0)) & (weights > 0)
    return as_sample(base.draws(useful, weights[useful]), names=base.names)


def _labels_of(labels: Any, base: Base) -> Labels:
    """Canonical labels in the order of the items, −1 where there is none."""
    values = np.asarray(labels)
    if values.dtype.kind in "iu" and values.ndim == 1 and (values < 0).any():
        if len(values) != base.n_items:
            raise ValueError(f"result has {len(values)} labels, but base has {base.n_items} items")
        return np.asarray(canonical_placed(np.where(values < 0, -1, values).astype(np.int64)), dtype=np.intp)
    return np.asarray(check_partition_of(labels, base.names, base.n_items, "result", "base"), dtype=np.intp)


def _agreements(labels: Labels, base: Base) -> Floats:
    """Adjusted Rand index of a partition, in which noise is alone, and each clustering, on the items that it labels."""
    whole, seen = each_alone(labels.astype(np.int64)), base.seen
    columns = [each_alone(codes.astype(np.int64), which) for codes, which in zip(base.codes.T, seen.T, strict=True)]
    return np.array(
        [
            float(adjusted_rand(whole[both], column[both])) if both.any() else 0.0
            for column, both in zip(columns, seen.T, strict=True)
        ]
    )


def pair_agreement(base: Base) -> Floats:
    """Adjusted Rand index of each pair of clusterings on the items that both label, (clusterings, clusterings).

    With n_ab the items in cluster a of one and b of the other, and S(x) = Σ x(x − 1)/2, it is
    (S(n_ab) − E) / ((S(n_a) + S(n_b))/2 − E), E = S(n_a) S(n_b) / S(n); 1 if both are one cluster, or all apart.
    """
    if base.n_items > MAX_ITEMS:
        base = base.rows(np.linspace(0, base.n_items - 1, MAX_ITEMS).round().astype(np.intp))
    labels, layout = base.memberships(), Layout.plain(base.sizes)
    seen = base.seen.astype(np.float64)
    table = (labels.T @ labels).toarray()  # noise is alone, and adds no pairs
    margins = labels.T @ seen  # labels of m among the items that m' labels
    shared, own = (layout.per_clustering(cells * (cells - 1) / 2) for cells in (table, margins))
    both = seen.T @ seen
    together = layout.per_clustering(shared, axis=1)
    expected = np.divide(own * own.T, both * (both - 1) / 2, out=np.zeros_like(own), where=both > 1)
    room = (own + own.T) / 2 - expected
    varied = room > 1e-12 * np.maximum(own, 1.0)
    return np.asarray(np.divide(together - expected, room, out=np.ones_like(room), where=varied))


def _repeat_warnings(weights: Floats, found: Dependence) -> list[str]:
    if not (len(weights) > 1 and np.ptp(weights) == 0 and found.effective < FEW * len(weights)):
        return []
    return [
        f"The {len(weights)} base clusterings repeat each other: they count as {found.effective:.1f} independent "
        "ones, but the consensus gave them equal weights."
    ]


def _warnings(labels: Labels, placed: NDArray[np.bool_], agreement: Floats) -> list[str]:
    sentences = []
    items = plural(len(labels), "item")
    if (noise := int((placed & (labels < 0)).sum())) > 0:
        sentences.append(f"{noise:,} of {items} {'is' if noise == 1 else 'are'} noise, in no cluster.")
    if (gaps := int((~placed).sum())) > 0:
        sentences.append(f"{gaps:,} of {items} without a base label, in no cluster.")
    if agreement.mean() < POOR:
        sentences.append(
            f"The base clusterings agree little with the consensus (adjusted Rand index {agreement.mean():.2f} on "
            "average): no one clustering represents them."
        )
    return sentences
