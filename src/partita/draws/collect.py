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
from partita.partitions.codes import GAP, NEGATIVE, BadLabel, Missing, is_null, to_codes

#: More draws than there can be, so that larger numbers mean the same and still fit in 64 bits.
MAX_DRAWS = 1 << 62


@dataclass(frozen=True)
class Collected:
    """The arrays of a PartitionSample."""

    labels: NDArray[Any]
    weights: NDArray[np.float64]
    index: NDArray[np.int64]
    chains: NDArray[np.int64] | None


def collect(
    source: Source, weights: ArrayLike | None, missing: Missing, burn: int, thin: int, folder: Path | None = None
) -> Collected:
    """The distinct draws of a source, in memory or in a folder; the other arguments are those of `as_sample`."""
    thinning = _Thinning(burn, thin)
    if source.n_items == 0:
        raise ValueError("draws has no items")
    kept: list[NDArray[np.bool_]] = []
    chains: list[NDArray[np.int64]] = []
    carried: list[NDArray[np.float64]] = []
    with _builder(source.n_items, folder) as builder:
        for block in source.blocks:
            keep = thinning.keep(block)
            builder.add(_codes(block, keep, missing), available_cores())
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
    return Collected(labels, unique_weights, index, np.concatenate(chains) if chains else None)


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
            raise ValueError("draws has no draws")
        for chain, length in self.seen.items():
            if length <= self.burn:
                raise ValueError(f"burn={self.burn} leaves none of the {length} draws of chain {chain}")


def _codes(block: Block, keep: NDArray[np.bool_], missing: Missing) -> NDArray[Any]:
    rows = slice(None) if keep.all() else np.flatnonzero(keep)
    try:
        return np.ascontiguousarray(to_codes(block.cells[rows], missing))
    except BadLabel as bad:
        place = block.place(int(np.flatnonzero(keep)[bad.row]), bad.column)
        what = f"{place} is empty or NA: {bad.problem}" if block.is_text and is_null(bad.value) else bad.at(place)
        hint = "" if missing != Missing() else _missing_hint(bad, "NA" if block.is_text else np.nan)
        raise ArgumentError(what, hint) from None


def _missing_hint(bad: BadLabel, null: str | float) -> str:
    if not is_null(bad.value) and bad.problem != NEGATIVE:
        return ""
    return Sentence(" (", Setting("missing", null if is_null(bad.value) else bad.value), " marks it as missing)")


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
