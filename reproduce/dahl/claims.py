"""The paper's claims: in how many pairs of a set and a loss each of them holds here, and where it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import frame
from dahl.contest import FOUR, FREE, GREEDY, GREEDY_EPL, GREEDY_FREE, LOSSES, NOT_SEQUENTIAL, NOT_ZEALOUS, ONE, Contest
from dahl.runs import Contests
from dahl.samples import Design
from dahl.tables import lead, over_models

Models = dict[int, list[Contest]]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper; `advantage` is positive where it holds, and comes with its standard error."""

    sentence: str
    advantage: Callable[[Models], tuple[float, float | None]]
    losses: Iterable[str] = tuple(LOSSES)


def fewer_clusters(models: Models) -> tuple[float, float | None]:
    """Clusters of the unconstrained search less those of the constrained one."""
    return over_models(models, lambda found: found[FREE].clusters - found[ONE].clusters, FREE, ONE)


def faster(slow: str, fast: str) -> Callable[[Models], tuple[float, float | None]]:
    return lambda models: over_models(models, lambda found: found[slow].seconds - found[fast].seconds, slow, fast)


CLAIMS = (
    Claim(
        "One run of SALSO is better than one run of Rastelli & Friel", lambda m: lead(m, FREE, GREEDY_FREE), GREEDY_EPL
    ),
    Claim("One run of SALSO is faster than one run of Rastelli & Friel", faster(GREEDY_FREE, FREE), GREEDY_EPL),
    Claim("The limit on clusters limits them", fewer_clusters),
    Claim("The limit on clusters makes the search faster", faster(FREE, ONE)),
    Claim("Four runs are better than one", lambda models: lead(models, FOUR, ONE)),
    Claim("SALSO is better than Rastelli & Friel in equal time", lambda models: lead(models, FOUR, GREEDY)),
    Claim("Zealous updates help in equal time", lambda models: lead(models, FOUR, NOT_ZEALOUS)),
    Claim("Sequential allocation helps in equal time", lambda models: lead(models, FOUR, NOT_SEQUENTIAL)),
)


def write_claims(page: frame.Page, runs: dict[Design, Contests]) -> None:
    page.section(
        "The paper's claims",
        "Each claim was checked for every set and loss: it holds, or its reverse does, where the difference is more "
        "than two standard errors over models; between them the samples do not decide.",
    )
    lines = [[claim.sentence, *map(str, verdict(claim, runs))] for claim in CLAIMS]
    page.text(frame.table(["claim", "holds", "not decided", "reverse holds", "where the reverse holds"], lines))


def verdict(claim: Claim, runs: dict[Design, Contests]) -> tuple[int, int, int, str]:
    """Pairs of set and loss in which the claim holds, is not decided, and is wrong, and the last ones' names."""
    holds, open_, wrong = 0, 0, []
    for design, contests in runs.items():
        for loss in claim.losses:
            mean, error = claim.advantage(contests[loss])
            decided = error is not None and abs(mean) > 2 * error
            holds += decided and mean > 0
            open_ += not decided
            wrong += [f"{design.name}, {loss}"] if decided and mean < 0 else []
    return holds, open_, len(wrong), "; ".join(wrong)
