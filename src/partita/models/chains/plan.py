"""How long chains run: the settings that users give, and the checked plan made from them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from partita._support.memory import free_bytes
from partita._support.settings import SettingsGroup
from partita._support.validate import check_count, check_rng
from partita.models.chains.checkpoint import Plan

if TYPE_CHECKING:
    from partita.models.chains.sampling import Sampler

#: The settings of a run, and the smallest value of each.
MINIMUM = {"draws": 1, "warmup": 0, "thin": 1, "chains": 1}
#: Each chain has a sampler, and a folder of the run.
MAX_CHAINS = 100_000
STATISTIC_BYTES = 8
#: The number of the chain to sample, if it is only one of those that are planned.
ONLY: ContextVar[int | None] = ContextVar("ONLY", default=None)


@dataclass(frozen=True, repr=False)
class Sampling(SettingsGroup):
    """How long the chains of `fit` run.

    Parameters
    ----------
    draws : int
        Number of draws kept of each chain.
    warmup : int
        Number of sweeps to discard first.
    thin : int
        Keep every `thin`-th sweep after the warm-up.
    chains : int
        Number of independent chains.
    n_jobs : int
        Number of threads; −1 uses all cores. The result does not depend on it.

    Examples
    --------
    >>> from partita.models import GaussianDPM, Sampling
    >>> GaussianDPM(sampling=Sampling(draws=200, chains=2))
    GaussianDPM(sampling=Sampling(draws=200, chains=2))
    """

    draws: int = 1000
    warmup: int = 1000
    thin: int = 1
    chains: int = 4
    n_jobs: int = -1


def make_plan(draws: int, warmup: int, thin: int, chains: int, rng: Any) -> Plan:
    """A plan with every number checked, and a seed drawn from None, an int or a NumPy generator.

    >>> make_plan(100, 50, 1, 4, rng=1).chains
    4
    """
    given = {"draws": draws, "warmup": warmup, "thin": thin, "chains": chains}
    checked = {name: check_count(value, name, minimum=MINIMUM[name]) for name, value in given.items()}
    if chains > MAX_CHAINS:
        raise ValueError(f"chains must be at most {MAX_CHAINS:,}, but it is {chains}")
    return Plan(**checked, seed=int(check_rng(rng).integers(2**63)))


@contextmanager
def only_chain(number: int) -> Iterator[None]:
    """Within it, a model's `sample` gives one of its chains: the one that it gives at this place without it.

    >>> from partita.models import GaussianDPM
    >>> settings = {"draws": 5, "warmup": 0, "chains": 3, "rng": 1}
    >>> with only_chain(2):
    ...     last = GaussianDPM().sample([[0.0], [0.1], [5.0]], **settings)
    >>> last.labels.tolist() == GaussianDPM().sample([[0.0], [0.1], [5.0]], **settings).labels[2:].tolist()
    True
    """
    token = ONLY.set(number)
    try:
        yield
    finally:
        ONLY.reset(token)


def check_room_for_draws(plan: Plan, sampler: Sampler) -> None:
    """Raises an error if the draws cannot fit in memory: one byte per label and eight per statistic at least."""
    n_items = sampler.advance(0, plan.warmup, plan.thin)[0].shape[1]
    needed = plan.chains * plan.draws * (n_items + STATISTIC_BYTES * len(sampler.stat_names))
    free = free_bytes()
    if free is not None and needed > free:
        raise MemoryError(
            f"draws={plan.draws} and chains={plan.chains} with {n_items} items need at least {needed / 2**30:.1f} GiB, "
            f"but {free / 2**30:.1f} GiB are free; use fewer draws, and thin= for longer chains"
        )
