"""`partita relate`: whether the clusters of an analysis are related to a variable that it did not see."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import partita as pt
from partita._support.atomic import atomic_file
from partita._support.text.header import MIXED, Kind
from partita._support.text.table import read_table
from partita.cli.deliver import FILES, print_rows, write_result_table
from partita.cli.form import first_number
from partita.cli.given import refuse
from partita.cli.inputs import named_rows, split_names
from partita.cli.mixture_table import cells_of
from partita.cli.option import arg
from partita.cli.options import Json, MissingCells
from partita.cli.outputs import SUMMARY, check_new_file, print_json
from partita.cli.terminal import print_lines

if TYPE_CHECKING:
    from partita.models.mixtures.raw import RawTable


def run(
    folder: Annotated[Path, arg("Folder that --out of estimate or cluster wrote.")],
    outside: Annotated[
        str,
        arg(
            "CSV with one row per item and the columns of --outcome and --covariates; a column named item, node, name"
            " or id names the items."
        ),
    ],
    outcome: Annotated[
        str | None, "Column that the clusters are to explain. Without it the clusters are the outcome."
    ] = None,
    event: Annotated[str | None, "Column that is 1 for an event and 0 for a censored time (cox)."] = None,
    covariates: Annotated[str | None, "Further predictors, separated by commas."] = None,
    family: Annotated[str, "gaussian, binomial, multinomial, poisson or cox."] = "gaussian",
    missing: MissingCells = None,
    level: Annotated[float, "Level of the intervals."] = 0.95,
    out: Annotated[Path | None, "A file for the coefficients."] = None,
    force: Annotated[bool, "Replace an existing file."] = False,
    json: Json = False,
) -> None:
    """Relate the clusters to a variable that the analysis did not see: an outcome, or covariates.

    Gives three answers: with the clusters taken as observed (naive), averaged over draws, and corrected for
    classification error, which is the one to report: the other two are biased.

    Example: partita relate results outside.csv --outcome income --covariates age,region
    """
    from partita.results.after_clustering import relation_table

    if out is None:
        refuse(["force"], "is for the file that --out writes; give --out too")
    else:
        check_new_file(out, force)
    if (family == "cox") != (event is not None):
        raise ValueError("--event and --family cox go together: times are in --outcome, events in --event")
    if outcome is None and covariates is None:
        raise ValueError("name a column to relate the clusters to: --outcome, --covariates or both")
    found = read_memberships(folder)
    wanted, further = [name for name in (outcome, event) if name is not None], split_names(covariates, "--covariates")
    _refuse_modelled(folder, wanted or further)
    values = None if not wanted else _read_outside(outside, wanted, missing)
    others = None if not further else _read_outside(outside, further, missing)
    related = pt.relate(found, values, others, family, level=level).counted_from(first_number())
    table = relation_table(related)
    if out is not None:
        with atomic_file(out) as temporary:
            write_result_table(temporary, table)
    if json:
        print_json({"answer": related.in_words(), "p_value": related.p_value, "family": related.family}
                   | {"outcome": related.outcome, "n_items": related.n_items, "coefficients": list(related.rows())}
                   | {"classification": related.classification.tolist(), "notes": list(related.notes)})  # fmt: skip
        return
    print_lines(related.in_words())
    for note in related.notes:
        print_lines(f"Note: {note}")
    print_rows(table, len(table.rows))


def read_memberships(folder: Path) -> pt.Memberships:
    """The clusters of an analysis and their probabilities, from its labels.csv."""
    import numpy as np

    from partita.results.memberships import PREFIX

    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder of results: name one that --out wrote")
    path = next((each for each in (folder / FILES["items"], folder / "labels.tsv") if each.exists()), None)
    if path is None:
        raise ValueError(f"{folder} has no labels.csv: name a folder that --out of estimate or cluster wrote")
    table = read_table(str(path), Kind("item", ""), ["cluster"])
    own = [place for place, name in enumerate(table.names) if name.startswith(PREFIX)]
    if not own:
        raise ValueError(
            f"{path} has no probabilities of clusters ({PREFIX}1, {PREFIX}2, ...): it is not of an estimate from draws,"
            " or it has too many clusters"
        )
    cells = np.array([[float(row or "nan") for row in table.columns[place]] for place in own])
    labels = np.array([int(cell) for cell in table.columns[table.column("cluster")]])
    first = int(table.names[own[0]].removeprefix(PREFIX)) if len(own) > 1 else 0
    names = named_rows(labels, table, [], str(path)).distinct_names()
    return pt.Memberships(cells.T, np.where(labels < 0, -1, labels - first), names)


def _refuse_modelled(folder: Path, names: list[str]) -> None:
    """Columns that the clusters were made from, where the summary of the folder lists them."""
    try:
        families = json_format.loads((folder / SUMMARY).read_text(encoding="utf-8")).get("families", {})
    except (OSError, ValueError):
        return
    same = next((name for name in names if families.get(name, "ignore") != "ignore"), None)
    if same is not None:
        raise ValueError(
            f"{same!r} was a column of the model in {folder}: the clusters were made from it, so that any relation to"
            " it is there by construction"
        )


def _read_outside(path: str, wanted: list[str], missing: list[str] | None) -> RawTable:
    """Columns of a file, with the names of its rows."""
    from partita.models.mixtures.raw import from_columns

    table = read_table(path, MIXED, wanted)
    places = [table.column(name) for name in wanted]
    rows = named_rows(places, table, places, path)
    columns = ((table.names[place], cells_of(table, place, set(missing or ()))) for place in places)
    return from_columns(columns, rows.distinct_names())
