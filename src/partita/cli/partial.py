"""`partita partial`: the items that can be clustered with confidence."""

from __future__ import annotations

from typing import Annotated

import partita as pt
from partita.cli.deliver import delivering, presented
from partita.cli.options import DrawsOptions, OutputOptions, Seed
from partita.cli.steps import step


def run(
    reading: DrawsOptions,
    writing: OutputOptions,
    probability: Annotated[float, "Joint probability that the clustered items are clustered in this way."] = 0.9,
    starts: Annotated[int, "Number of first items to try."] = 64,
    complete: Annotated[bool, "Also allocate the other items."] = False,
    seed: Seed = None,
) -> None:
    """Cluster only the items that the draws cluster in the same way with a given joint probability.

    Example: partita partial draws.csv --probability 0.5 --seed 1
    """
    with delivering(writing) as deliver:
        sample = reading.sample()
        with step("partial clustering"):
            found = pt.partial_clustering(sample, probability, starts=starts, complete=complete, rng=seed)
        deliver(presented(found))
