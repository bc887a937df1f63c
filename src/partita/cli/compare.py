"""`partita compare`: partitions compared with a truth, under every loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import partita as pt
from partita._support.hints import plural
from partita.cli.given import refuse
from partita.cli.inputs import DRAWS, read_partition, unplaced_as_numbers
from partita.cli.option import arg, opt
from partita.cli.options import AsDraws, Json, read_sample
from partita.cli.outputs import print_json, print_table

if TYPE_CHECKING:
    from partita._support.names import Named

#: How the table calls measures that have several definitions.
NAMES = {"nmi": "nmi (by the larger entropy)", "f1": "f1 (Wang et al. 2010)"}


def run(
    truth: Annotated[str, arg("Labels of the truth; file.csv:column selects a column.")],
    partitions: Annotated[list[str], arg("Labels to compare with it.", metavar="LABELS")],
    draws: Annotated[
        list[str] | None, opt("Draws, to compute expected losses too; may be repeated.", rich_help_panel="Input")
    ] = None,
    as_draws: AsDraws = False,
    json: Json = False,
) -> None:
    """Compare partitions with a truth under every loss, and by adjusted Rand index, NMI and F1.

    NMI is divided by the larger entropy; F1 is that of Wang et al. (2010), over clusters.

    Items are matched by name if the files have a column named item, node, name or id, or row names; otherwise by
    position.

    Example: partita compare species.csv labels.csv other.csv --draws draws.csv
    """
    if draws is None:
        refuse(["as_draws"], "is for the files of --draws")
    reference = read_partition(truth)
    others = {name: read_partition(name) for name in partitions}
    against, left_out = {}, {}
    for name, labels in others.items():
        found = labels.in_order_of(reference.names, len(reference.values), truth)
        placed = [i for i, cell in enumerate(found) if str(cell) != "-1"]
        if len(placed) < len(found):
            left_out[name] = len(found) - len(placed)
        against[name] = pt.compare_partitions(reference.values[placed], found[placed])
    expected = {} if draws is None else _expected(draws, {truth: reference, **others}, as_draws)
    if json:
        print_json({"truth": truth, "against_truth": against, "left_out": left_out, "expected_losses": expected})
        return
    for name, count in left_out.items():
        print(f"Note: {name} has {plural(count, 'item')} in no cluster (-1), left out here.")
    _print(f"Against {truth}", against)
    if expected:
        _print("Expected loss", expected)


def _expected(files: list[str], partitions: dict[str, Named], as_draws: bool) -> dict[str, dict[str, float]]:
    from partita.losses.losses import LOSSES

    sample = read_sample(files, as_draws=as_draws)
    ordered = {
        name: unplaced_as_numbers(labels.in_order_of(sample.names, sample.n_items, DRAWS))
        for name, labels in partitions.items()
    }
    return {
        name: {loss: pt.expected_loss(list(labels), sample, loss) for loss in LOSSES}
        for name, labels in ordered.items()
    }


def _print(title: str, values: dict[str, dict[str, float]]) -> None:
    columns = list(values)
    measures = list(values[columns[0]])
    rows = [
        (NAMES.get(measure, measure), *(f"{values[column][measure]:.6g}" for column in columns)) for measure in measures
    ]
    print_table(title, ("measure", *columns), rows)
