"""Reads a source of draws to its end: checks labels, thins chains, merges repeated draws and sums their weights."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partita import _core
from partita._support.errors import ArgumentError, Sentence, Setting
from partita._support.validate import available_cores, check_count, check_weights
from partita.draws.sources import Block, Source
from partita.draws.store import DiskBuilder
from partita.partitions.codes import GAP, NEGATIVE, NO_GAPS, BadLabel, Missing, is_null, to_codes, to_codes_with_noise

#: More draws than there can be, so that larger numbers mean the same and still fit in 64 bits.
MAX_DRAWS = 1 << 62


@dataclass(frozen=True)
class Collected:
    """The arrays of a PartitionSample."""

    labels: NDArray[Any]
    weights: NDArray[np.float64]
    index: NDArray[np.int64]
    chains: NDArray[np.int64] | None
    noise: NDArray[np.float64] | None


@dataclass(frozen=True)
class Markers:
    """The labels that are no clusters: `missing` says nothing about the item, `noise` that it is in no cluster."""

    missing: Missing = NO_GAPS
    noise: Missing = NO_GAPS

    def __post_init__(self) -> None:
        both = [value for value in self.noise.values if value in self.missing.values]
        if both or (self.missing.null and self.noise.null):
            shown = repr(both[0]) if both else "NaN"
            both_in = (Setting("missing"), " and in ", Setting("noise"))
            raise ArgumentError(f"{shown} is in ", *both_in, ", but a label can mean only one of them")

    @property
    def has_noise(self) -> bool:
        return self.noise != NO_GAPS


def collect(
    source: Source, weights: ArrayLike | None, markers: Markers, burn: int, thin: int, folder: Path | None = None
) -> Collected:
    """The distinct draws of a source, in memory or in a folder; the other arguments are those of `as_sample`."""
    thinning = _Thinning(burn, thin)
    if source.n_items == 0:
        raise ValueError("draws has no items")
    kept: list[NDArray[np.bool_]] = []
    chains: list[NDArray[np.int64]] = []
    carried: list[NDArray[np.float64]] = []
    shares = _NoiseShares(source, weights) if markers.has_noise else None
    with _builder(source.n_items, folder) as builder:
        for block in source.blocks:
            keep = thinning.keep(block)
            codes, is_noise = _codes(block, keep, markers)
            builder.add(codes, available_cores())
            if shares is not None:
                shares.add(is_noise, codes >= 0, block, keep)
            kept.append(keep)
            if block.chains is not None:
                chains.append(block.chains[keep])
            if block.weights is not None:
                carried.append(block.weights)
        thinning.check_all_chains_left()
        labels, counts, index, has_gaps = builder.finish()
    if has_gaps:
        labels = labels.view(f"i{labels.dtype.itemsize}")
        _check_no_empty_draw(labels, index)
    unique_weights = _unique_weights(counts, index, np.concatenate(kept), weights, carried)
    noise = source.noise if shares is None else shares.finish()
    if source.alone_is_noise:
        noise = _share_alone(labels, unique_weights)
    return Collected(labels, unique_weights, index, np.concatenate(chains) if chains else None, noise)


def _builder(n_items: int, folder: Path | None) -> AbstractContextManager[_core.SampleBuilder | DiskBuilder]:
    return nullcontext(_core.SampleBuilder(n_items)) if folder is None else closing(DiskBuilder(folder, n_items))


class _Thinning:
    """Chooses the rows to keep in each chain, even if the rows of the chains are interleaved."""

    def __init__(self, burn: Any, thin: Any) -> None:
        self.burn = check_count(burn, "burn")
        self.thin = check_count(thin, "thin", minimum=1)
        self._burn, self._thin = min(self.burn, MAX_DRAWS), min(self.thin, MAX_DRAWS)
        self.seen: dict[int, int] = {}

    def keep(self, block: Block) -> NDArray[np.bool_]:
        chains = np.zeros(len(block.cells), np.int64) if block.chains is None else block.chains
        position = np.empty(len(chains), np.int64)
        for chain in np.unique(chains).tolist():
            rows = np.flatnonzero(chains == chain)
            position[rows] = self.seen.get(chain, 0) + np.arange(len(rows))
            self.seen[chain] = self.seen.get(chain, 0) + len(rows)
        past_burn = position - self._burn
        return np.asarray((past_burn >= 0) & (past_burn % self._thin == 0))

    def check_all_chains_left(self) -> None:
        if not self.seen:
            raise ValueError("draws is empty: it contains no draws")
        for chain, length in self.seen.items():
            if length <= self.burn:
                raise ArgumentError(Setting("burn", self.burn), f" leaves none of the {length} draws of chain {chain}")


class _NoiseShares:
    """The share of the draws' weight in which each item is noise, of the draws that label it; summed block by block.

    Sums of equal weights are whole numbers, so that a share of one half is exact.
    """

    def __init__(self, source: Source, weights: ArrayLike | None) -> None:
        if source.noise is not None:
            raise ArgumentError(Setting("noise"), " is for labels; these draws have noise of their own")
        self._weights = None if weights is None else np.asarray(weights, np.float64).ravel()
        self._noise, self._labelled = np.zeros((2, source.n_items))
        self._scale, self._seen = 0.0, 0

    def add(
        self, is_noise: NDArray[np.bool_], labelled: NDArray[np.bool_], block: Block, keep: NDArray[np.bool_]
    ) -> None:
        """Adds the kept draws of a block; weights that are wrong in length or value are reported at the end."""
        of_draws = np.ones(len(keep)) if block.weights is None else block.weights
        if self._weights is not None:
            own = self._weights[self._seen : self._seen + len(keep)]
            of_draws = of_draws[: len(own)] * own
        self._seen += len(keep)
        of_draws = np.resize(of_draws, len(keep))[keep]
        largest = float(np.max(of_draws, initial=self._scale))
        if not 0 < largest < np.inf:
            return
        if self._scale not in (0.0, largest):  # so that sums of large weights are finite
            self._noise *= self._scale / largest
            self._labelled *= self._scale / largest
        self._scale = largest
        self._noise += (of_draws / largest) @ is_noise
        self._labelled += (of_draws / largest) @ labelled

    def finish(self) -> NDArray[np.float64]:
        """NaN for items that no draw labels."""
        shares = np.full(self._noise.shape, np.nan)
        np.divide(self._noise, self._labelled, out=shares, where=self._labelled > 0)
        return shares


def _share_alone(labels: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of the draws in which each item is alone."""
    share = np.zeros(labels.shape[1])
    for row, weight in zip(labels, weights, strict=True):
        share += weight * (np.bincount(row)[row] == 1)
    return share


def _codes(block: Block, keep: NDArray[np.bool_], markers: Markers) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Codes of the kept draws, -1 if missing, and which of them are noise; no array of them without a marker."""
    rows = slice(None) if keep.all() else np.flatnonzero(keep)
    cells = block.cells[rows]
    try:
        if not markers.has_noise:
            return np.ascontiguousarray(to_codes(cells, markers.missing)), np.empty(0, np.bool_)
        codes, is_noise = to_codes_with_noise(cells, markers.missing, markers.noise)
        return np.ascontiguousarray(codes), is_noise
    except BadLabel as bad:
        place = block.place(int(np.flatnonzero(keep)[bad.row]), bad.column)
        what = f"{place} is empty or NA: {bad.problem}" if block.is_text and is_null(bad.value) else bad.at(place)
        raise ArgumentError(what, _marker_hint(bad, markers, "NA" if block.is_text else np.nan)) from None


def _marker_hint(bad: BadLabel, markers: Markers, null: str | float) -> str:
    """How the label could be marked, if no marker of that kind was given."""
    unmarked = markers.missing == NO_GAPS
    if is_null(bad.value):
        return Sentence(" (", Setting("missing", null), " marks it as missing)") if unmarked else ""
    if bad.problem != NEGATIVE:
        return ""
    missing = (Setting("missing", bad.value), " if the draw does not label the item")
    noise = (Setting("noise", bad.value), " if the draw says that the item is in no cluster")
    if unmarked and not markers.has_noise:
        return Sentence(" (", *missing, ", or ", *noise, ")")
    ways = missing if unmarked else noise if not markers.has_noise else ()
    return Sentence(" (", *ways, ")") if ways else ""


def _unique_weights(
    counts: NDArray[np.uint64],
    index: NDArray[np.int64],
    kept: NDArray[np.bool_],
    weights: ArrayLike | None,
    carried: list[NDArray[np.float64]],
) -> NDArray[np.float64]:
    if weights is None and not carried:
        return np.asarray(counts / index.size)
    of_draws = np.ones(kept.size)
    if carried:
        of_draws *= check_weights(np.concatenate(carried), kept.size, "the weights of draws")
    if weights is not None:
        of_draws *= check_weights(weights, kept.size)
    of_draws = check_weights(of_draws[kept], index.size, "weights after burn and thin")
    of_draws = of_draws / of_draws.max()  # so that their sum is finite
    return np.asarray(np.bincount(index, weights=of_draws, minlength=counts.size) / of_draws.sum())


def _check_no_empty_draw(labels: NDArray[Any], index: NDArray[np.int64]) -> None:
    empty = np.flatnonzero(labels.max(axis=1) == GAP)
    if empty.size:
        draw = np.flatnonzero(index == empty[0])[0]
        raise ValueError(f"draw {draw} labels no item: all its labels are missing")
