"""`partita compare-posteriors`: whether two sets of draws represent the same posterior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from partita.cli.deliver import print_warnings
from partita.cli.form import first_number
from partita.cli.option import arg
from partita.cli.options import AsDraws, Burn, Jobs, Json, LossName, Seed, read_sample

if TYPE_CHECKING:
    from partita.uncertainty.compare import PosteriorComparison

ITEMS_PRINTED = 10


def run(
    first: Annotated[str, arg("Draws of the first posterior.")],
    second: Annotated[str, arg("Draws of the second posterior.")],
    burn: Burn = 0,
    loss: LossName = "vi",
    permutations: Annotated[int, "Number of permutations of the test."] = 999,
    seed: Seed = None,
    jobs: Jobs = -1,
    as_draws: AsDraws = False,
    json: Json = False,
) -> None:
    """Test whether two sets of draws over the same items represent the same posterior, and list the items that differ.

    Items are matched by name if both files have names, otherwise by position.

    Example: partita compare-posteriors draws.csv draws.csv --seed 1
    """
    from partita.cli.outputs import print_json
    from partita.uncertainty.compare import compare_posteriors

    a, b = (read_sample([path], as_draws=as_draws, burn=burn) for path in (first, second))
    compared = compare_posteriors(a, b, loss, permutations=permutations, n_jobs=jobs, rng=seed)
    if json:
        print_json(_facts(compared))
    else:
        _print(compared)


def _facts(compared: PosteriorComparison) -> dict[str, Any]:
    return {
        "p_value": compared.p_value,
        "distance": compared.distance,
        "loss": compared.loss.name,
        "labels": [best.labels.tolist() for best in compared.estimates],
        "n_clusters": [best.n_clusters for best in compared.estimates],
        "estimate_distance": compared.estimate_distance,
        "items": {
            "names": list(compared.names),
            "difference": compared.items.difference.tolist(),
            "p_value": compared.items.p_value.tolist(),
        },
        "pairs": compared.pairs(),
        "n_blocks": compared.n_blocks,
        "notes": list(compared.notes),
    }


def _print(compared: PosteriorComparison) -> None:
    from partita.cli.outputs import print_table

    print_warnings(compared.notes)
    verdict = compared.verdict()
    first, second = compared.estimates
    near_zero = " (unbiased, so negative near 0)" if compared.distance < 0 else ""
    print(
        f"{verdict[0].upper()}{verdict[1:]}. Energy distance {compared.distance:.4g}{near_zero}; the estimates have"
        f" {first.n_clusters} and {second.n_clusters} clusters and are {compared.estimate_distance:.4g} apart."
    )
    items, names = compared.items, compared.names
    rows = [
        (
            names[i],
            *(str(int(best.labels[i]) + first_number()) for best in (first, second)),
            f"{items.difference[i]:.3f}",
            f"{items.p_value[i]:.3g}",
        )
        for i in items.worst(ITEMS_PRINTED).tolist()
    ]
    print_table("Items that differ most", ("item", "first", "second", "difference", "p-value"), rows)
