"""A search whose draws are spread over workers: sums of scores (items × clusters) are transferred, draws are not.

The client finds partitions on some of the draws, and continues with all of them. A sweep handles the items in a few
batches. Each worker sums the scores of a batch over its own draws, the client adds up the sums, and the items of the
batch that gain move at the same time. A sweep that did not lower the expected loss is undone and repeated in smaller
batches; then clusters are merged if that lowers the loss. Scores are whole numbers of a small unit, rounded for fixed
blocks of draws, so that the answer does not depend on which worker holds which draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.arrays import CoreLabels
from partita.distributed.pool import DaskPool, Shared
from partita.draws.sample import PartitionSample, some_rows
from partita.losses.base import Loss
from partita.losses.problem import core_problem
from partita.partitions.labels import canonical, gapless
from partita.search.core import search_runs
from partita.search.deadline import NEVER, Deadline
from partita.search.jobs import run_here
from partita.search.method import SEARCH
from partita.search.multilevel import best_distinct
from partita.search.result import RunRow, SearchResult
from partita.search.settings import Search, cluster_limit

Scores = NDArray[np.int64]

COARSE_DRAWS = 512
CARRIED = 4
#: Scores are rounded for blocks of draws: the maximum number of blocks, and the minimum number of draws per block.
MAX_BLOCKS, MIN_DRAWS = 64, 16
FIRST_BATCHES, MAX_BATCHES = 4, 64
#: Rounding error of scores, relative to their size: in single precision, and in whole units.
ROUGH, PRECISE = _core.SINGLE_ROUNDING, 1e-10
_NEVER = np.iinfo(np.int64).max


# A question has the number of the partition under search (its slot) and its labels, in any unsigned type; `answer` runs
# on the worker, on the shard of the core.


@dataclass(frozen=True, eq=False)
class Value:
    """The shard's part of the expected loss, in units."""

    slot: int
    labels: NDArray[Any]

    def answer(self, shard: Any) -> Any:
        """A whole number."""
        return shard.value(self.slot, self.labels.astype(np.uint32))


@dataclass(frozen=True, eq=False)
class MergeChanges:
    """What each merge of two clusters would change, in units."""

    slot: int
    labels: NDArray[Any]

    def answer(self, shard: Any) -> Any:
        """Whole numbers, (clusters, clusters)."""
        return shard.merge_changes(self.slot, self.labels.astype(np.uint32))


@dataclass(frozen=True, eq=False)
class ItemScores:
    """The scores of some items in each cluster and in a new one, in units; `precise` ones in double precision."""

    slot: int
    labels: NDArray[Any]
    items: NDArray[np.uint32]
    precise: bool

    def answer(self, shard: Any) -> Any:
        """Whole numbers, (items, clusters + 1)."""
        return shard.scores(self.slot, self.labels.astype(np.uint32), self.items, self.precise)


Question = Value | MergeChanges | ItemScores


class ShardOfDraws:
    """Some of the draws on their worker, with the tables of the partitions under search.

    It is sent as labels and weights and builds its tables on the worker; these follow the labels that come with each
    request.
    """

    def __init__(self, sample: PartitionSample, loss: Loss, ends: NDArray[np.uint32], slots: int, unit: float) -> None:
        self._made_from = (sample, loss, ends, slots, unit)
        self._core = _core.Shard(core_problem(sample, loss), ends, slots, unit)

    def __reduce__(self) -> tuple[Any, ...]:
        return ShardOfDraws, self._made_from

    def __sizeof__(self) -> int:
        return 2 * int(self._made_from[0].labels.nbytes)  # so that Dask runs the work where the draws are

    def answer(self, question: Question) -> Any:
        """What the draws here say to a question about one partition."""
        return question.answer(self._core)


def ask_shard(shard: ShardOfDraws, questions: Sequence[Question]) -> list[Any]:
    """The answers of one shard; runs on its worker."""
    return [shard.answer(question) for question in questions]


class _TimeIsUp(Exception):
    """Leaves the descent; the partitions kept so far are the answer."""


@dataclass
class Slot:
    """A partition under search; `kept` is the last one whose expected loss, `value` in units, is known."""

    number: int
    labels: CoreLabels
    start: str
    kept: CoreLabels
    value: int = _NEVER
    batches: int = FIRST_BATCHES
    sweeps: int = 0
    moves: int = 0
    close: list[CoreLabels] = field(default_factory=list)  # items of the last sweep whose scores were too close to call

    def labels_to_send(self) -> NDArray[Any]:
        """The labels in the smallest type that holds them."""
        return self.labels.astype(np.min_scalar_type(int(self.labels.max())))

    def row(self, unit: float) -> RunRow:
        """The reported run; `unit` is the unit of values in terms of the loss."""
        loss = np.nan if self.value == _NEVER else self.value * unit
        return RunRow(self.start, self.sweeps, self.moves, loss, int(self.kept.max()) + 1, 0.0)

    def keep(self, value: int) -> None:
        """Keeps the current partition, which is better than the last, or the first."""
        self.kept, self.value = self.labels, value


def search_shards(
    sample: PartitionSample,
    loss: Loss,
    search: Search,
    rng: np.random.Generator,
    pool: DaskPool,
    shards: int,
) -> SearchResult:
    """The partition found on draws that are split into `shards` parts."""
    until = Deadline.after(search.seconds)
    generator_of_orders = np.random.default_rng(rng.integers(2**63))
    (runs, interrupted, n_runs), group = search_runs(SEARCH, _some_draws(sample, rng), loss, search, rng, run_here)
    slots = []
    for number, run in enumerate(best_distinct(runs, CARRIED)):
        labels = run.labels if group is None else run.labels[group]
        slots.append(Slot(number, labels, run.start, labels))
    unit = 2.0**-36 / sample.n_items
    try:
        held = _Shards(pool, _split(sample, loss, shards, len(slots), unit), until)
        _descend(slots, held, cluster_limit(sample, search), loss.additive is not None, generator_of_orders)
    except _TimeIsUp:
        pass
    except KeyboardInterrupt:
        interrupted = True
    winner = min(slots, key=lambda slot: (slot.value, slot.number))
    rows = tuple(slot.row(unit * loss.unit) for slot in slots)
    return SearchResult(canonical(winner.kept), rows, interrupted=interrupted, n_runs=n_runs)


def _some_draws(sample: PartitionSample, rng: np.random.Generator) -> PartitionSample:
    """At most `COARSE_DRAWS` distinct draws, chosen at random, as a new sample."""
    if sample.n_unique <= COARSE_DRAWS:
        return sample
    chosen = np.sort(rng.choice(sample.n_unique, COARSE_DRAWS, replace=False, p=sample.weights))
    some = some_rows(sample, chosen, np.full(COARSE_DRAWS, 1 / COARSE_DRAWS))
    return replace(some, names=sample.names, noise=sample.noise)


def _split(sample: PartitionSample, loss: Loss, shards: int, slots: int, unit: float) -> list[ShardOfDraws]:
    """Contiguous parts of the draws, each of whole blocks; the blocks depend on the number of draws only."""
    rows = np.flatnonzero(sample.weights > 0)
    size = max(MIN_DRAWS, -(-len(rows) // MAX_BLOCKS))
    blocks = [rows[start : start + size] for start in range(0, len(rows), size)]
    parts = []
    for part in np.array_split(np.arange(len(blocks)), min(shards, len(blocks))):
        own = [blocks[b] for b in part]
        chosen = np.concatenate(own)
        ends = np.cumsum([len(block) for block in own]).astype(np.uint32)
        some = some_rows(sample, chosen, sample.weights[chosen])
        parts.append(ShardOfDraws(some, loss, ends, slots, unit))
    return parts


class _Shards:
    """The shards on their workers: requests go to all of them, and the answers are summed."""

    def __init__(self, pool: DaskPool, shards: list[ShardOfDraws], until: Deadline = NEVER) -> None:
        self._pool, self._until = pool, until
        self._shards: list[Shared] = [pool.share(shard, worker=place) for place, shard in enumerate(shards)]

    def ask(self, questions: Sequence[Question]) -> list[Any]:
        if self._until.is_past:
            raise _TimeIsUp
        answers = self._pool.map(ask_shard, [(shard, questions) for shard in self._shards])
        return [sum(parts[1:], start=parts[0]) for parts in zip(*answers, strict=True)]

    def values(self, slots: Sequence[Slot]) -> list[int]:
        return self.ask([Value(slot.number, slot.labels_to_send()) for slot in slots]) if slots else []

    def merge_changes(self, slots: Sequence[Slot]) -> list[Scores]:
        return self.ask([MergeChanges(slot.number, slot.labels_to_send()) for slot in slots])

    def scores(self, asked: Sequence[tuple[Slot, CoreLabels]], *, precise: bool = False) -> list[Scores]:
        return self.ask([ItemScores(slot.number, slot.labels_to_send(), items, precise) for slot, items in asked])


def _descend(slots: list[Slot], held: _Shards, limit: int, linear: bool, rng: np.random.Generator) -> None:
    """Sweeps and merges until neither helps any partition.

    A partition is kept only if its value, a whole number of units, is below the previous one: so this ends.
    """
    for slot, value in zip(slots, held.values(slots), strict=True):
        slot.keep(value)
    active = slots
    while active:
        _sweep_to_the_end(active, held, limit, linear, rng)
        active = _merge(active, held)


def _sweep_to_the_end(slots: list[Slot], held: _Shards, limit: int, linear: bool, rng: np.random.Generator) -> None:
    active = list(slots)
    while active:
        before = {slot.number: slot.moves for slot in active}
        _sweep(active, held, limit, ROUGH if linear else PRECISE, rng)
        if linear:
            _decide_close_calls([slot for slot in active if slot.moves == before[slot.number]], held, limit)
        moved = [slot for slot in active if slot.moves > before[slot.number]]
        active = []
        for slot, value in zip(moved, held.values(moved), strict=True):
            if value < slot.value:
                slot.keep(value)
                active.append(slot)
            else:
                slot.labels = slot.kept
                slot.batches *= 4
                if slot.batches <= MAX_BATCHES:
                    active.append(slot)


def _sweep(slots: list[Slot], held: _Shards, limit: int, tolerance: float, rng: np.random.Generator) -> None:
    orders = [np.array_split(rng.permutation(len(slot.labels)).astype(np.uint32), slot.batches) for slot in slots]
    for slot in slots:
        slot.close, slot.sweeps = [], slot.sweeps + 1
    for batch in range(max(slot.batches for slot in slots)):
        asked = [(slot, order[batch]) for slot, order in zip(slots, orders, strict=True) if batch < slot.batches]
        for (slot, items), scores in zip(asked, held.scores(asked), strict=True):
            slot.close.append(_move(slot, items, scores, limit, tolerance))


def _decide_close_calls(slots: list[Slot], held: _Shards, limit: int) -> None:
    """Items whose scores were too close to call, in double precision."""
    asked = [(slot, np.concatenate(slot.close)) for slot in slots if any(map(len, slot.close))]
    if not asked:
        return
    for (slot, items), scores in zip(asked, held.scores(asked, precise=True), strict=True):
        _move(slot, items, scores, limit, PRECISE)


def _move(slot: Slot, items: CoreLabels, scores: Scores, limit: int, tolerance: float) -> CoreLabels:
    """Moves the items that gain; returns those whose scores are too close to call."""
    rows, own = np.arange(len(items)), slot.labels[items]
    clusters = scores.shape[1] - 1
    sizes = np.bincount(slot.labels, minlength=clusters)
    stay = scores[rows, own]
    others = scores.copy()
    others[rows, own] = _NEVER
    others[(sizes[own] == 1) | (clusters >= limit), clusters] = _NEVER
    target = others.argmin(axis=1)
    best = others[rows, target]
    possible = best != _NEVER
    gain = np.where(possible, stay - np.where(possible, best, 0), np.iinfo(np.int64).min)
    rounding = tolerance * np.maximum(np.abs(stay), np.abs(np.where(possible, best, 0)))
    moving = possible & (gain > rounding)
    founders = np.flatnonzero(moving & (target == clusters))
    if len(founders) > 1:  # they would share one new cluster: one at a time
        moving[np.delete(founders, gain[founders].argmax())] = False
    slot.labels = slot.labels.copy()
    slot.labels[items[moving]] = target[moving]
    slot.labels = gapless(slot.labels)
    slot.moves += int(moving.sum())
    return np.asarray(items[possible & ~moving & (np.abs(gain) <= rounding)])


def _merge(slots: list[Slot], held: _Shards) -> list[Slot]:
    """Merges the best pairs of clusters; returns the partitions that changed."""
    changed: dict[int, Slot] = {}
    active = [slot for slot in slots if slot.labels.max() > 0]
    while active:
        merged = []
        for slot, changes in zip(active, held.merge_changes(active), strict=True):
            upper = np.where(np.triu(np.ones(changes.shape, np.bool_), 1), changes, _NEVER)
            keep, gone = np.unravel_index(int(upper.argmin()), upper.shape)
            if upper[keep, gone] < -ROUGH * abs(slot.value):
                slot.labels = gapless(np.where(slot.labels == gone, keep, slot.labels).astype(np.uint32))
                merged.append(slot)
        active = []
        for slot, value in zip(merged, held.values(merged), strict=True):
            if value < slot.value:
                slot.keep(value)
                slot.batches = FIRST_BATCHES
                changed[slot.number] = slot
                active.append(slot)
            else:
                slot.labels = slot.kept
        active = [slot for slot in active if slot.labels.max() > 0]
    return list(changed.values())
