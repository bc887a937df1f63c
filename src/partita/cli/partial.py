"""`partita partial`: the items that can be clustered with confidence."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from partita.cli.form import cluster_numbers
from partita.cli.options import DrawsOptions, Json, Seed


def run(
    reading: DrawsOptions,
    probability: Annotated[
        float, typer.Option(help="Joint probability that the clustered items are clustered in this way.")
    ] = 0.9,
    starts: Annotated[int, typer.Option(help="Number of first items to try.")] = 64,
    complete: Annotated[bool, typer.Option("--complete", help="Also allocate the other items.")] = False,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Cluster only the items that the draws cluster in the same way with a given joint probability.

    Example: partita partial draws.csv --probability 0.5 --seed 1
    """
    from partita.cli.outputs import print_json, print_table
    from partita.cli.results import item_names
    from partita.uncertainty.partial import partial_clustering

    sample = reading.sample()
    found = partial_clustering(sample, probability, starts=starts, complete=complete, rng=seed)
    names = item_names(sample)
    if json:
        facts: dict[str, Any] = {"labels": cluster_numbers(found.labels), "probability": found.probability}
        facts |= {"n_items": found.n_items, "area": found.area, "curve": found.curve.tolist()}
        facts |= {"names": None if sample.names is None else list(sample.names)}
        print_json(facts | {"completed": None if found.completed is None else cluster_numbers(found.completed)})
        return
    print(
        f"{found.n_items} of {sample.n_items} items are clustered in the same way, with"
        f" probability {found.probability:.3f}."
    )
    members = [
        [names[i] for i in range(sample.n_items) if found.labels[i] == k] for k in range(int(found.labels.max()) + 1)
    ]
    rows = [
        (str(cluster_numbers(k)), str(len(own)), " ".join(own[:12]) + (" ..." if len(own) > 12 else ""))
        for k, own in enumerate(members)
    ]
    print_table("Clusters", ("cluster", "items", "members"), rows)
