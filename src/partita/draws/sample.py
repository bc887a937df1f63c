"""Converts draws in any form to a PartitionSample: the distinct partitions among the draws, with their weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita._support.errors import ArgumentError, Setting
from partita._support.hints import hinted, listed
from partita._support.names import as_named, check_names, row_names
from partita._support.npy import write_npy
from partita._support.shown import facts_table
from partita._support.tolerance import TIE
from partita.draws.collect import Collected, Markers, collect
from partita.draws.sources import Block, Source, is_chain, open_source
from partita.draws.sources.source import row_slices
from partita.draws.store import ARRAYS, LABELS, check_unchanged, new_folder, read_facts, write_facts
from partita.partitions.codes import GAP, NO_GAPS, Missing, as_missing
from partita.partitions.labels import each_alone


@dataclass(frozen=True, eq=False, repr=False)
class PartitionSample:
    """Distinct draws of a partition, with canonical labels: the result of `as_sample`.

    Attributes
    ----------
    labels : (n_unique, n_items) integer array
        The distinct draws in order of first appearance, each with canonical labels, in the smallest unsigned
        type; if labels are missing, they are -1, and the type is the smallest signed one.
    weights : (n_unique,) float array
        Their weights, which sum to 1.
    index : (n_draws,) integer array
        For each draw, the row of `labels` that equals it.
    chains : (n_draws,) integer array, optional
        For each draw, the number of its chain, from 0.
    names : tuple of str, optional
        The names of the items.
    noise : (n_items,) float array, optional
        The share of the draws that call each item noise, of those that label it; NaN for an item without labels. In
        `labels` such an item is alone. None if no label means noise.
    inputs : mapping of arrays, optional
        The data that a sampler of partita saw, by name: `relate` raises an error for an outcome among them.
    """

    labels: NDArray[Any]
    weights: NDArray[np.float64]
    index: NDArray[np.int64]
    chains: NDArray[np.int64] | None = None
    names: tuple[str, ...] | None = None
    noise: NDArray[np.float64] | None = None
    inputs: Mapping[str, Any] | None = None

    @property
    def n_draws(self) -> int:
        """Number of draws, repeats included."""
        return len(self.index)

    @property
    def n_unique(self) -> int:
        """Number of distinct partitions among the draws."""
        return int(self.labels.shape[0])

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.labels.shape[1])

    @property
    def n_chains(self) -> int:
        """Number of chains; draws without known chains count as one."""
        return 1 if self.chains is None else int(self.chains.max()) + 1

    @property
    def has_gaps(self) -> bool:
        """Whether some draw leaves items unlabelled."""
        return self.labels.dtype.kind == "i"

    @cached_property
    def n_clusters(self) -> NDArray[np.int64]:
        """Number of clusters of each distinct draw."""
        return np.asarray(self.labels.max(axis=1), np.int64) + 1

    @cached_property
    def cluster_counts(self) -> NDArray[np.int64]:
        """As `n_clusters`, but without noise: if a label means noise, clusters of at least two items are counted."""
        if self.noise is None:
            return self.n_clusters
        return np.array([(np.bincount(row[row >= 0]) > 1).sum() for row in self.labels], np.int64)

    @cached_property
    def unlabelled(self) -> NDArray[np.bool_]:
        """Which items have no label in any draw of positive weight."""
        if not self.has_gaps:
            return np.zeros(self.n_items, np.bool_)
        rows = has_weight(self)
        return np.asarray((self.labels if rows.all() else self.labels[rows]).max(axis=0) < 0, np.bool_)

    @property
    def may_lack(self) -> NDArray[np.bool_]:
        """Which items may be in no cluster of a partition: those without labels, and all if a label means noise."""
        return self.unlabelled if self.noise is None else np.ones(self.n_items, np.bool_)

    @cached_property
    def draw_weights(self) -> NDArray[np.float64]:
        """The weight of each draw; draws that are equal share the weight of their partition evenly."""
        return (self.weights / np.bincount(self.index, minlength=self.n_unique))[self.index]

    @cached_property
    def is_weighted(self) -> bool:
        """Whether the draws differ in weight beyond their repeats."""
        return not np.allclose(self.draw_weights, 1 / self.n_draws, rtol=TIE, atol=0)

    def save(self, folder: str | PathLike[str]) -> None:
        """Writes the sample to a folder that `open_sample` opens; the folder appears only when it is complete.

        An older sample is replaced; a folder that contains anything else raises an error.
        """
        check_unchanged(self.labels)
        with new_folder(Path(folder)) as place:
            write_npy(place / LABELS, self.labels)
            check_unchanged(self.labels)
            write_facts(place, _arrays_of(self), self.names)

    def to_numpy(self) -> NDArray[Any]:
        """All draws in their order, repeats included: an (n_draws, n_items) array."""
        check_unchanged(self.labels)
        draws: NDArray[Any] = self.labels[self.index]
        check_unchanged(self.labels)
        return draws

    def to_pandas(self) -> Any:
        """All draws as a pandas table with one column per item, and `.chain` and `.weight` if they matter."""
        from partita.draws.export import to_pandas

        return to_pandas(self)

    def to_xarray(self) -> Any:
        """All draws as an xarray Dataset with dimensions chain, draw and item, like an ArviZ posterior."""
        from partita.draws.export import to_xarray

        return to_xarray(self)

    def __repr__(self) -> str:
        return f"PartitionSample({', '.join(f'{value} {what}' for what, value in self._facts())})"

    def _repr_html_(self) -> str:
        return facts_table("PartitionSample", self._facts())

    def _facts(self) -> Iterator[tuple[str, str]]:
        clusters = self.cluster_counts
        fewest, most = int(clusters.min()), int(clusters.max())
        yield "draws", f"{self.n_draws:,}"
        yield "distinct", f"{self.n_unique:,}"
        yield "items", f"{self.n_items:,}"
        yield "clusters per draw", f"{fewest}" if fewest == most else f"{fewest} to {most}"
        if self.n_chains > 1:
            yield "chains", f"{self.n_chains}"
        if self.has_gaps:
            yield "missing labels", f"{float((self.labels == GAP).mean(axis=1) @ self.weights):.1%}"
        if self.noise is not None:
            yield "noise", f"{float(np.nan_to_num(self.noise).mean()):.1%}"


@hinted
def as_sample(
    draws: Any,
    weights: ArrayLike | None = None,
    missing: Any = None,
    *,
    noise: Any = None,
    burn: int = 0,
    thin: int = 1,
    variable: str | None = None,
    long: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    store: str | PathLike[str] | None = None,
) -> PartitionSample:
    """Distinct partitions among draws, with weights.

    The weight of a distinct partition is the sum of the weights of the draws equal to it; the weights sum to 1.

    Parameters
    ----------
    draws : (draws, items) or (chains, draws, items) array_like, table, xarray or ArviZ object, or sample
        Labels of any kind: integers, strings, booleans, categories. A table (pandas, polars, Arrow) has one row per
        draw and one column per item, or it is long: see `long`. Columns named chain, draw or iteration, also with a dot
        before, `.weight`, and Stan's `lp__`, ... are never items. A list of arrays or tables is a list of chains.
    weights : (draws,) array_like, optional
        One weight per draw, before burn and thin; if the draws already have weights, the two are multiplied. A Series
        is matched with a table of draws by index, if both have an index that is more than row numbers.
    missing : value or list of values, optional
        The marker of missing labels, for example -1; NaN stands for NaN, None and NA alike.
        Without it, negative and missing labels are errors.
    noise : value or list of values, optional
        The label of items that a draw puts in no cluster, for example the -1 of HDBSCAN: a verdict, whereas a missing
        label says nothing. Such an item is alone in that draw.
    burn : int
        Number of draws to drop at the start of each chain.
    thin : int
        Keep every `thin`-th draw of each chain after that.
    variable : str, optional
        The variable of an ArviZ or xarray object; in a table, the columns `variable[1]` or `variable.1` etc., and "*"
        for all columns.
    long : (str, str, str), optional
        The columns of the draw, the item and its label, for a table with one row per draw and item. A table whose
        columns are called draw, item and label (or similar: docs/formats.md) is recognised without it.
    names : (items,) sequence of str, optional
        Names of the items; they override those of the draws.
    store : path, optional
        A folder for distinct draws that do not fit in memory: a large sample is then memory-mapped, and
        `open_sample` opens it again. Arrays of Dask, Zarr and NumPy's memory maps are read chunk by chunk.

    Returns
    -------
    PartitionSample

    Examples
    --------
    >>> sample = as_sample([[1, 1, 2], ["b", "b", "a"], [3, 1, 3]])
    >>> sample
    PartitionSample(3 draws, 2 distinct, 3 items, 2 clusters per draw)
    >>> sample.labels.tolist(), sample.weights.round(3).tolist(), sample.index.tolist()
    ([[0, 0, 1], [0, 1, 0]], [0.667, 0.333], [0, 0, 1])
    >>> sample = as_sample([[0, 0, -1, -1], [0, 0, 0, -1]], noise=-1)
    >>> sample.labels.tolist(), sample.noise.tolist()
    ([[0, 0, 1, 2], [0, 0, 0, 1]], [0.0, 0.0, 0.5, 1.0])

    References
    ----------
    Rastelli & Friel (2018), Optimal Bayesian estimators for latent variable cluster models, Section 5.
    """
    gaps, marks = as_missing(missing), as_missing(noise)
    weights = _weights_of(draws, weights)
    if not isinstance(draws, PartitionSample):
        source = open_source(draws, variable, long)
        sample = build_sample(source, weights, gaps, marks, burn=burn, thin=thin, names=names, store=store)
        return replace(sample, inputs=getattr(draws, "inputs", None)) if is_chain(draws) else sample
    check_unchanged(draws.labels)
    if noise is not None:
        raise ArgumentError(Setting("noise"), " is for labels, not for a PartitionSample, which has its own")
    if weights is None and names is None and burn == 0 and thin == 1 and store is None:
        return draws
    gaps = Missing((*gaps.values, GAP), gaps.null)
    return build_sample(sample_source(draws), weights, gaps, burn=burn, thin=thin, names=names, store=store)


def check_complete(sample: PartitionSample, function: str) -> None:
    """Raises an error, which names items that no draw labels, if some draw leaves items unlabelled."""
    if not sample.has_gaps:
        return
    never = np.flatnonzero(sample.unlabelled).tolist()
    names = listed([f"item {i}" if sample.names is None else sample.names[i] for i in never], 5)
    raise ValueError(f"{function} needs draws that label every item" + (f"; no draw labels {names}" if never else ""))


def noise_alone(labels: NDArray[np.int64], sample: PartitionSample) -> NDArray[np.int64]:
    """Labels of the sample's items in which those reported as noise are alone: -1 is left for items without labels.

    >>> noise_alone(np.array([0, 0, -1]), as_sample([[0, 0, -1]], noise=-1)).tolist()
    [0, 0, 1]
    """
    return labels if sample.noise is None else each_alone(labels, ~sample.unlabelled)


def chain_places(sample: PartitionSample) -> list[NDArray[np.int64]]:
    """The numbers of the draws of each chain."""
    if sample.chains is None:
        return [np.arange(sample.n_draws)]
    return [np.flatnonzero(sample.chains == chain) for chain in range(sample.n_chains)]


def has_weight(sample: PartitionSample) -> NDArray[np.bool_]:
    """Which distinct draws have weight: the others together vanish in the rounding of the total."""
    return np.asarray(sample.weights * sample.n_unique > np.finfo(np.float64).eps, np.bool_)


def some_rows(sample: PartitionSample, rows: Any, weights: NDArray[np.float64] | None = None) -> PartitionSample:
    """Some of the distinct draws, once each: with these weights, by default their own. Names and noise are left out."""
    if weights is None:
        weights = sample.weights[rows] / sample.weights[rows].sum()
    return PartitionSample(np.ascontiguousarray(sample.labels[rows]), weights, np.arange(len(weights)))


def with_weight(sample: PartitionSample) -> tuple[PartitionSample, NDArray[np.bool_]]:
    """The sample without its weightless draws, and which draws are left; the sample itself if all have weight.

    >>> part, kept = with_weight(as_sample([[0, 0, 1], [0, 1, 1], [0, 0, 1]], weights=[1, 0, 1e-300]))
    >>> part.labels.tolist(), part.weights.tolist(), kept.tolist()
    ([[0, 0, 1]], [1.0], [True, False, True])
    """
    rows = has_weight(sample)
    if rows.all():
        return sample, np.ones(sample.n_draws, np.bool_)
    kept: NDArray[np.bool_] = rows[sample.index]
    index = (np.cumsum(rows) - 1)[sample.index[kept]]
    weights = sample.weights[rows]
    chains = None if sample.chains is None else sample.chains[kept]
    labels = np.ascontiguousarray(sample.labels[rows])
    return PartitionSample(labels, weights / weights.sum(), index, chains, sample.names, sample.noise), kept


def _weights_of(draws: Any, weights: Any) -> Any:
    """Weights in the order of the draws, if both are pandas objects."""
    if not (hasattr(draws, "iloc") and hasattr(weights, "iloc")) or len(weights) != len(draws):
        return weights
    return as_named(weights, "weights").in_order_of(row_names(draws), len(draws), "draws")


def open_sample(folder: str | PathLike[str]) -> PartitionSample:
    """Opens a sample written by `PartitionSample.save` or ``store=``.

    The labels are read once, to compare their checksum and to check that they are valid. Changed, truncated or invalid
    files raise an error. Labels of up to 256 MiB or a quarter of the free memory are kept in memory, and nothing that
    happens to the folder later concerns the sample. Larger ones are memory-mapped: a sample whose file has changed
    raises an error wherever it is used, but a change while a function reads it may end the process. `save` and
    ``store=`` never change a file, since they replace the old folder by a new one.

    Parameters
    ----------
    folder : path
        The folder that was written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     as_sample([[0, 0, 1], [0, 1, 1]]).save(f"{folder}/draws")
    ...     open_sample(f"{folder}/draws")
    PartitionSample(2 draws, 2 distinct, 3 items, 2 clusters per draw)
    """
    arrays, names = read_facts(Path(folder))
    return PartitionSample(**arrays, names=names)


def sample_source(sample: PartitionSample) -> Source:
    """All draws of a sample in their order, as a source of draws."""

    def blocks() -> Iterator[Block]:
        for rows in row_slices(sample.n_draws, sample.n_items):
            chains = None if sample.chains is None else sample.chains[rows]
            cells = sample.labels[sample.index[rows]]
            check_unchanged(sample.labels)
            yield Block(cells, lambda row, column: f"draws[{row}, {column}]", chains, sample.draw_weights[rows])

    return Source(sample.n_items, blocks(), sample.names, sample.noise)


def _arrays_of(found: PartitionSample | Collected) -> dict[str, NDArray[Any] | None]:
    return {name: getattr(found, name) for name in ARRAYS}


def build_sample(
    source: Source,
    weights: ArrayLike | None,
    missing: Missing,
    noise: Missing = NO_GAPS,
    *,
    burn: int = 0,
    thin: int = 1,
    names: Sequence[str] | None = None,
    store: str | PathLike[str] | None = None,
) -> PartitionSample:
    """A sample from a source; see `as_sample`. Its arrays are read-only."""
    own_names = source.names if names is None else check_names(names, source.n_items)
    markers = Markers(missing, noise)
    if source.noise is not None and (weights is not None or burn or thin != 1):
        changes = (Setting("weights"), ", ", Setting("burn"), " and ", Setting("thin"))
        raise ArgumentError(*changes, " change the shares of noise: they are for labels, read with ", Setting("noise"))
    if store is not None:
        with new_folder(Path(store)) as folder:
            found = collect(source, weights, markers, burn, thin, folder)
            write_facts(folder, _arrays_of(found), own_names)
        arrays, kept_names = read_facts(Path(store), check=False)
        return PartitionSample(**arrays, names=kept_names)
    found = collect(source, weights, markers, burn, thin)
    for array in (found.labels, *_arrays_of(found).values()):
        if array is not None:
            array.flags.writeable = False
    return PartitionSample(found.labels, found.weights, found.index, found.chains, own_names, found.noise)
