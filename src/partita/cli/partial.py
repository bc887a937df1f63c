"""`partita partial`: the items that can be clustered with confidence."""

from __future__ import annotations

from typing import Annotated, Any

from partita.cli.form import first_number
from partita.cli.options import DrawsOptions, Json, Seed
from partita.cli.steps import step


def run(
    reading: DrawsOptions,
    probability: Annotated[float, "Joint probability that the clustered items are clustered in this way."] = 0.9,
    starts: Annotated[int, "Number of first items to try."] = 64,
    complete: Annotated[bool, "Also allocate the other items."] = False,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Cluster only the items that the draws cluster in the same way with a given joint probability.

    Example: partita partial draws.csv --probability 0.5 --seed 1
    """
    from partita.cli.outputs import print_json, print_table
    from partita.results.presentation import first_names, members_of
    from partita.uncertainty.partial import partial_clustering

    sample, first = reading.sample(), first_number()
    with step("partial clustering"):
        found = partial_clustering(sample, probability, starts=starts, complete=complete, rng=seed)
    if json:
        facts: dict[str, Any] = {"labels": found.labels.tolist(), "probability": found.probability}
        facts |= {"n_items": found.n_items, "area": found.area, "curve": found.curve.tolist()}
        facts |= {"names": None if sample.names is None else list(sample.names)}
        print_json(facts | {"completed": None if found.completed is None else found.completed.tolist()})
        return
    print(
        f"{found.n_items} of {sample.n_items} items are clustered in the same way, with"
        f" probability {found.probability:.3f}."
    )
    names = sample.names or tuple(map(str, range(first, sample.n_items + first)))
    rows = [(str(k + first), str(len(own)), first_names(names, own)) for k, own in enumerate(members_of(found.labels))]
    print_table("Clusters", ("cluster", "items", "members"), rows)
