"""How good a linkage is: precision, recall and F1 from a labelled sample, with intervals.

Each measure is a ratio of two totals over all true entities. With t_c the pairs of entity c that the estimate joins,
s_c = |c| (|c| - 1) / 2 all pairs of c, and r_c = Σ_{i in c} (m_i - 1) / 2, where m_i is the size of the estimated
cluster of record i, the totals of t, s and r over all entities are the correct pairs, the true pairs and the estimated
pairs, because each end of an estimated pair has half of it. So

    recall = Σ t / Σ s,   precision = Σ t / Σ r,   F1 = 2 Σ t / Σ (s + r).

By cluster, t_c says whether c is an estimated cluster, s_c = 1 and r_c = Σ_{i in c} 1 / m_i, whose total is the number
of estimated clusters. A sample of entities estimates each total by its weighted sum, with weights inverse to the
probability of an entity to be in the sample: the ratio estimators of Binette et al. (2023).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from partita._support.arrays import Floats, Ints
from partita._support.errors import Argument, ArgumentError
from partita._support.hints import did_you_mean, hinted, plural
from partita._support.names import as_named
from partita._support.optional import data_frame
from partita._support.shown import ShownAsText
from partita._support.tolerance import ROUNDING
from partita._support.validate import check_choice, check_level
from partita.draws.sources.tables import as_frame, is_table
from partita.partitions.codes import is_null

SAMPLED = ("clusters", "records")
#: The weight, in entities with errors, of the variance that whole entities would have.
PRIOR = 1


class Measured(float):
    """An estimate with the ends of its interval: a number with `low` and `high`."""

    low: float
    high: float

    def __new__(cls, value: float, low: float, high: float) -> Self:
        made = super().__new__(cls, value)
        made.low, made.high = low, high
        return made

    def __getnewargs__(self) -> tuple[float, float, float]:  # type: ignore[override]  # for copies and pickle
        return float(self), self.low, self.high

    def __repr__(self) -> str:
        return f"{float(self):.4f} [{self.low:.4f}, {self.high:.4f}]"

    __str__ = __repr__


@dataclass(frozen=True, eq=False, repr=False)
class LinkageQuality(ShownAsText):
    """Precision, recall and F1 of a linkage, with intervals: `linkage_quality` makes it.

    Each measure is a number whose interval is `low` to `high`; NaN if the sample says nothing about it.

    Attributes
    ----------
    precision, recall, f1 : Measured
        Of pairs of records.
    cluster_precision, cluster_recall, cluster_f1 : Measured
        Of whole clusters: the share of estimated clusters that are an entity, and of entities that are a cluster.
    n_entities, n_records : int
        The labelled entities, and their records.
    level : float
        The coverage of the intervals.
    """

    precision: Measured
    recall: Measured
    f1: Measured
    cluster_precision: Measured
    cluster_recall: Measured
    cluster_f1: Measured
    n_entities: int
    n_records: int
    level: float

    def to_pandas(self) -> Any:
        """One row per measure: its value and its interval."""
        rows = [(float(x), x.low, x.high) for _, x in self._measures()]
        return data_frame(rows, index=[name for name, _ in self._measures()], columns=["value", "low", "high"])

    def _measures(self) -> list[tuple[str, Measured]]:
        names = ("precision", "recall", "f1", "cluster_precision", "cluster_recall", "cluster_f1")
        return [(name, getattr(self, name)) for name in names]

    def __repr__(self) -> str:
        sample = f"{self.n_entities:,} entities with {plural(self.n_records, 'record')}"
        head = f"Linkage quality from {sample}, {self.level:.0%} intervals"
        return "\n".join([head, *(f"  {name:<18}{value}" for name, value in self._measures())])


@hinted
def linkage_quality(est: Any, labelled: Any, *, sampled: str = "clusters", level: float = 0.95) -> LinkageQuality:
    """Precision, recall and F1, pairwise and by cluster, from a sample of entities whose records are all labelled.

    Choose entities, find all records of each, and label these. If the entities were found through records drawn at
    random, an entity with more records is more likely to be in the sample: ``sampled="records"`` corrects for this.
    With all records labelled the measures are exact.

    Parameters
    ----------
    est : PairEstimate or Estimate
        The clustering of all records.
    labelled : table, Series or mapping
        The entity of each labelled record: a table of two columns, record and entity; a Series indexed by records; or
        a dict. It must have all records of each of its entities.
    sampled : str
        "clusters": entities drawn at random; "records": the entities of records drawn at random.
    level : float
        The coverage of the intervals.

    Returns
    -------
    LinkageQuality

    Examples
    --------
    >>> from partita import as_similarity, estimate
    >>> pairs = as_similarity([[1, 0.9, 0.8], [0.9, 1, 0.8], [0.8, 0.8, 1]], names=["a", "b", "c"])
    >>> best = estimate(pairs, "binder", rng=1)
    >>> linkage_quality(best, {"a": "ann", "b": "ann", "c": "cy"})
    Linkage quality from 2 entities with 3 records, 95% intervals
      precision         0.3333 [0.3333, 0.3333]
      recall            1.0000 [1.0000, 1.0000]
      f1                0.5000 [0.5000, 0.5000]
      cluster_precision 0.0000 [0.0000, 0.0000]
      cluster_recall    0.0000 [0.0000, 0.0000]
      cluster_f1        0.0000 [0.0000, 0.0000]
    """
    named = as_named(est, "est")
    labels = np.asarray(named.values)
    check_choice(sampled, "sampled", SAMPLED)
    check_level(level)
    items, entity = _labelled_items(labelled, named.names, labels.size)
    n_entities = int(entity.max()) + 1
    if n_entities < 2:
        raise ArgumentError(Argument("labelled"), " has one entity: intervals need at least two")
    size = np.bincount(entity).astype(np.float64)
    of_item = np.bincount(labels)[labels][items].astype(np.float64)
    cells = np.unique(entity * np.int64(labels.size) + labels[items], return_counts=True)
    owner, count = cells[0] // labels.size, cells[1].astype(np.float64)
    whole = count == size[owner]
    is_cluster = np.zeros(n_entities)
    is_cluster[owner[whole]] = np.bincount(labels)[cells[0][whole] % labels.size] == size[owner[whole]]
    correct: Floats = np.bincount(owner, count * (count - 1) / 2, minlength=n_entities).astype(np.float64)
    true, one = size * (size - 1) / 2, np.ones(n_entities)
    estimated, shares = (np.bincount(entity, x).astype(np.float64) for x in ((of_item - 1) / 2, 1 / of_item))
    sample = _Sample.of(size, items.size / labels.size, sampled, level)
    return LinkageQuality(
        sample.ratio(correct, estimated),
        sample.ratio(correct, true),
        sample.ratio(2 * correct, true + estimated),
        sample.ratio(is_cluster, shares),
        sample.ratio(is_cluster, one),
        sample.ratio(2 * is_cluster, one + shares),
        n_entities,
        items.size,
        float(level),
    )


@dataclass(frozen=True, eq=False)
class _Sample:
    """A sample of entities: weights, the share of the variance that sampling leaves, and the level of intervals."""

    weights: Floats
    left: float
    level: float

    @classmethod
    def of(cls, size: Floats, share: float, sampled: str, level: float) -> _Sample:
        """From the sizes of the sampled entities and the share of records that are labelled."""
        if share == 1.0:
            return cls(np.ones(size.size), 0.0, level)
        if sampled == "clusters":  # the share of the records estimates the share of the entities
            return cls(np.ones(size.size), 1 - share, level)
        n_items = size.sum() / share  # an entity is in the sample if one of its records is drawn, by about k draws
        probability = -np.expm1(size * np.log1p(-min(size.size / n_items, 0.5)))
        return cls(1 / probability, 1 - float(probability.mean()), level)

    def ratio(self, top: Floats, bottom: Floats) -> Measured:
        """A ratio of totals, with Wilson's interval for as many observations as give the variance of the ratio.

        The jackknife's variance is unreliable if few entities have errors. So it is averaged with
        p (1 - p) Σ x² / (Σ x)², the variance if entities are right or wrong as a whole; the latter counts as much as
        one entity with errors.
        """
        from scipy.stats import t as student

        y, x = self.weights * top, self.weights * bottom
        if not x.sum() > 0:
            return Measured(np.nan, 0.0, 1.0)
        value = float(np.clip(y.sum() / x.sum(), 0, 1))
        if self.left == 0:
            return Measured(value, value, value)
        rest = x.sum() - x
        usable = rest > 0
        k = int(usable.sum())
        left_out = np.where(usable, (y.sum() - y) / np.where(usable, rest, 1.0), value)
        variance = self.left * (k - 1) / k * float(((left_out - left_out[usable].mean()) ** 2)[usable].sum())
        whole = self.left * float(
            (x**2).sum() / x.sum() ** 2
        )  # the variance over p (1 - p) of entities all right or wrong
        spread = value * (1 - value)
        seen = min(np.count_nonzero(y < x * (1 - ROUNDING)), np.count_nonzero(y))
        relative = (seen * variance / spread + PRIOR * whole) / (seen + PRIOR) if spread > 0 else whole
        n, informative = 1 / relative, float(np.count_nonzero(x))
        quantile = float(student.ppf((1 + self.level) / 2, max(informative - 1, 1)))
        return Measured(value, *_wilson(value, n, quantile))


def _wilson(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson's interval for a share of n observations."""
    z = quantile**2 / n
    middle = (share + z / 2) / (1 + z)
    half = np.sqrt(z * share * (1 - share) + z**2 / 4) / (1 + z)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def _labelled_items(labelled: Any, names: tuple[str, ...] | None, n_items: int) -> tuple[Ints, Ints]:
    """The numbers of the labelled items, and their entities as numbers."""
    records, entities = _columns(labelled)
    wanted = set(records)
    if names is None:
        place = {str(i): i for i in range(n_items) if str(i) in wanted}
    else:
        place = {name: i for i, name in enumerate(names) if name in wanted}
    seen: set[str] = set()
    number: dict[Any, int] = {}
    items, entity = np.empty(len(records), np.int64), np.empty(len(records), np.int64)
    for row, (record, own) in enumerate(zip(records, entities, strict=True)):
        if record not in place:
            hint = did_you_mean(record, (names or ())[:10_000])
            raise ArgumentError(Argument("labelled", row), f" is {record!r}, which is not a record{hint}")
        if record in seen:
            raise ArgumentError(Argument("labelled", row), f" is {record!r}, which has a label already")
        if is_null(own):
            raise ArgumentError(Argument("labelled", row), f" is {record!r}, whose entity is missing")
        seen.add(record)
        items[row], entity[row] = place[record], number.setdefault(own, len(number))
    if not records:
        raise ArgumentError(Argument("labelled"), " has no records")
    return items, entity


def _columns(labelled: Any) -> tuple[list[str], list[Any]]:
    """Records as text, and their entities."""
    if isinstance(labelled, Mapping):
        return list(map(str, labelled)), list(labelled.values())
    if hasattr(labelled, "iloc") and hasattr(labelled, "index") and not hasattr(labelled, "columns"):
        return list(map(str, labelled.index)), labelled.tolist()
    if not is_table(labelled):
        raise TypeError(f"labelled must be a table of records and entities, not {type(labelled).__name__}")
    frame = as_frame(labelled)
    if len(frame.columns) != 2:
        said = f" has {len(frame.columns)} columns, not two (record and entity)"
        raise ArgumentError(Argument("labelled"), said)
    return list(map(str, frame[:, 0].to_list())), frame[:, 1].to_list()
