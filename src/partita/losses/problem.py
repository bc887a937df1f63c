"""Draws, and draws under a loss, as objects of the core: made once, and kept as long as the sample."""

from __future__ import annotations

from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from partita import _core
from partita.draws.sample import PartitionSample
from partita.draws.store import check_unchanged
from partita.losses.base import Loss


@dataclass(frozen=True)
class _Made:
    sample: _core.Sample
    problems: dict[Loss, _core.Problem] = field(default_factory=dict)


_made: WeakKeyDictionary[PartitionSample, _Made] = WeakKeyDictionary()


def core_sample(sample: PartitionSample) -> _core.Sample:
    """The sample as an object of the core."""
    return _of(sample).sample


def core_problem(sample: PartitionSample, loss: Loss) -> _core.Problem:
    """The sample under the loss as an object of the core, with the tables of the loss."""
    made = _of(sample)
    if loss not in made.problems:
        made.problems[loss] = _core.Problem(made.sample, loss._native(sample.n_items))
    return made.problems[loss]


def _of(sample: PartitionSample) -> _Made:
    check_unchanged(sample.labels)
    made = _made.get(sample)
    if made is None:
        made = _made[sample] = _Made(_core.Sample(sample.labels, sample.weights))
    return made
