"""Pair probabilities at size: records of small groups of people, pairs of theirs and of strangers.

    python -m benchmarks.pairs [RECORDS] [PAIRS] [LOSS...]     # by default 1000000 5000000 binder pear

Prints wall and CPU seconds of reading and of the estimate, the components that are proven, and the peak memory.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

import partita as pt

GROUP_SIZES = (0.5, 0.25, 0.13, 0.07, 0.05)  # of 1 to 5 records


def persons(n_records: int, rng: np.random.Generator):
    """The person of each record."""
    sizes = rng.choice(np.arange(1, 6), size=n_records, p=GROUP_SIZES)
    return np.repeat(np.arange(n_records), sizes)[:n_records]


def linkage_table(n_records: int, n_pairs: int, rng: np.random.Generator):
    """All pairs of one person's records, mostly sure, and pairs of strangers, mostly not, in random order."""
    import pandas as pd

    person = persons(n_records, rng)
    own = [np.flatnonzero(person[:-step] == person[step:]) for step in range(1, 5)]
    left, right = np.concatenate(own), np.concatenate([items + step for step, items in enumerate(own, 1)])
    others = _strangers(person, n_pairs - left.size, rng)
    chance = np.concatenate([rng.beta(8, 1.5, left.size), rng.beta(0.5, 6, others[0].size)])
    order = rng.permutation(n_pairs)
    columns = {"left": np.concatenate([left, others[0]]), "right": np.concatenate([right, others[1]])}
    return pd.DataFrame({name: column[order] for name, column in (columns | {"probability": chance}).items()})


def _strangers(person, count: int, rng: np.random.Generator):
    n = person.size
    one, other = rng.integers(n, size=(2, int(count * 1.05)))
    key = np.unique(np.minimum(one, other) * n + np.maximum(one, other))
    one, other = key // n, key % n
    apart = np.flatnonzero(person[one] != person[other])
    chosen = rng.choice(apart, count, replace=False)
    return one[chosen], other[chosen]


@dataclass
class Spent:
    """Seconds of a step."""

    wall: float = 0.0
    cpu: float = 0.0


@contextmanager
def timed(what: str) -> Iterator[Spent]:
    """Prints the seconds of a step, which are then in what it gives."""
    spent, wall, cpu = Spent(), time.perf_counter(), time.process_time()
    yield spent
    spent.wall, spent.cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{what}: {spent.wall:.1f} s, {spent.cpu:.1f} CPU s", flush=True)


def main(n_records: int = 1_000_000, n_pairs: int = 5_000_000, losses: tuple[str, ...] = ("binder", "pear")) -> None:
    table = linkage_table(n_records, n_pairs, np.random.default_rng(1))
    with timed("as_similarity"):
        pairs = pt.as_similarity(table)
    del table
    for loss in losses:
        with timed(loss):
            best = pt.estimate(pairs, loss, rng=1)
        parts = best.components
        print(f"  {parts.count:,} components, largest {parts.sizes.max():,}, {parts.proven / parts.count:.2%} proven")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(*map(int, given[:2]), **({"losses": tuple(given[2:])} if len(given) > 2 else {}))
