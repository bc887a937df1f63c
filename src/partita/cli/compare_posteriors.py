"""`partita compare-posteriors`: whether two sets of draws represent the same posterior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import partita as pt
from partita.cli.deliver import print_rows, print_warnings
from partita.cli.form import first_number
from partita.cli.option import arg
from partita.cli.options import AsDraws, Burn, Jobs, Json, LossName, Seed, read_sample
from partita.cli.outputs import print_json
from partita.cli.terminal import print_text

if TYPE_CHECKING:
    from partita.results.tables import Table

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
    a, b = (read_sample([path], as_draws=as_draws, burn=burn) for path in (first, second))
    compared = pt.compare_posteriors(a, b, loss, permutations=permutations, n_jobs=jobs, rng=seed)
    if json:
        print_json(_facts(compared))
        return
    print_warnings(compared.notes)
    print_text(_answer(compared))
    print_rows(_items(compared), ITEMS_PRINTED)


def _facts(compared: pt.PosteriorComparison) -> dict[str, Any]:
    return {
        "answer": _answer(compared),
        "notes": list(compared.notes),
        "p_value": compared.p_value,
        "distance": compared.distance,
        "loss": compared.loss.name,
        "estimates": [{"labels": best.labels.tolist(), "n_clusters": best.n_clusters} for best in compared.estimates],
        "estimate_distance": compared.estimate_distance,
        "items": {
            "names": list(compared.names),
            "difference": compared.items.difference.tolist(),
            "p_value": compared.items.p_value.tolist(),
        },
        "pairs": compared.pairs(),
        "n_blocks": compared.n_blocks,
    }


def _answer(compared: pt.PosteriorComparison) -> str:
    verdict, (first, second) = compared.verdict(), compared.estimates
    near_zero = " (unbiased, so negative near 0)" if compared.distance < 0 else ""
    return (
        f"{verdict[0].upper()}{verdict[1:]}. Energy distance {compared.distance:.4g}{near_zero}; the estimates have"
        f" {first.n_clusters} and {second.n_clusters} clusters and are {compared.estimate_distance:.4g} apart."
    )


def _items(compared: pt.PosteriorComparison) -> Table:
    """The items that differ most."""
    from partita.results.tables import Table, columns

    items, (first, second) = compared.items, compared.estimates
    names = first.sample.names or tuple(str(number + first_number()) for number in range(len(first.labels)))
    rows = [
        (names[i], int(first.labels[i]), int(second.labels[i]), float(items.difference[i]), float(items.p_value[i]))
        for i in items.worst(ITEMS_PRINTED).tolist()
    ]
    header = columns("Item; First:cluster; Second:cluster; Difference:share; P-value:share")
    return Table("items", "Items that differ most", header, rows)
