"""The memory that the draws of a run need, checked before a chain starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita._support.memory import free_bytes
from partita.models.chains.run_checks import Plan

if TYPE_CHECKING:
    from partita.models.chains.sampling import Sampler

_STATISTIC_BYTES = 8


def check_room_for_draws(plan: Plan, sampler: Sampler) -> None:
    """Refuses a plan whose draws cannot fit in memory: one byte per label and eight per statistic at least."""
    n_items = sampler.advance(0, plan.warmup, plan.thin)[0].shape[1]
    needed = plan.chains * plan.draws * (n_items + _STATISTIC_BYTES * len(sampler.stat_names))
    free = free_bytes()
    if free is not None and needed > free:
        raise MemoryError(
            f"draws={plan.draws} and chains={plan.chains} with {n_items} items need at least {needed / 2**30:.1f} GiB, "
            f"but {free / 2**30:.1f} GiB are free; use fewer draws, and thin= for longer chains"
        )
