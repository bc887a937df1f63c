"""`partita link`: from pair probabilities of records to entities with lasting identifiers, today and tomorrow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from partita._support.errors import Argument, ArgumentError, Setting
from partita._support.text.table import split_column
from partita.cli.answer import ExtraOptions
from partita.cli.constraints import ConstraintOptions
from partita.cli.deliver import REPORT, Delivery, delivering
from partita.cli.form import FORMATS, first_number
from partita.cli.given import check_choice, refuse
from partita.cli.inputs import in_order, split_names
from partita.cli.option import arg, opt
from partita.cli.options import OutputOptions, PairSearchOptions
from partita.cli.pairs import Unlisted, searched_pairs
from partita.cli.steps import step

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._support.names import Named
    from partita.estimation.pair_estimate import PairEstimate
    from partita.pairs.probabilities import Similarity
    from partita.results.presentation import Presentation
    from partita.results.tables import Table

RECORDS = "the records"
#: Names of a first column that is a header and no record.
HEADERS = frozenset({"record", "records", "record_id", "rec_id", "unique_id", "id", "item", "name", "key"})
#: What the folder of --previous says.
OF_FIRST = ("loss", "method", "default", "a", "b", "runs", "seconds", "seed", "jobs")
QUESTIONS_PRINTED = 10
TABLES = ("all", "changed")
#: Tables of an update, and those of all records.
UPDATED, LISTS = ("reasons", "changes", "moved"), ("labels", "clusters", "pairs", "reasons", "changes", "moved")

PairsFile = Annotated[
    str | None,
    arg("Pairs with their probabilities: csv, csv.gz or parquet; three columns, those of Splink, or --columns."),
]
RecordsFile = Annotated[str | None, "All records, or with --previous the new ones: a csv file, file.csv:column."]
PreviousFolder = Annotated[Path | None, "Folder of an earlier `partita link`, to be updated."]
RemovedFile = Annotated[str | None, "Records that have left, or pairs that no longer count: a csv file."]
StepBack = Annotated[bool, "Begin at the state before the last one of --previous."]
Tables = Annotated[
    str,
    opt(
        "all, or changed: an update then writes only what it changed, and removes older tables and pages of all items."
    ),
]


@dataclass(frozen=True)
class LinkExtras(ExtraOptions):
    """What goes with pairs of records."""

    data: ClassVar[None] = None  # type: ignore[misc]
    columns: Annotated[str | None, "Columns of the two records and the probability, as in left,right,p."] = None


def run(
    constraining: ConstraintOptions,
    searching: PairSearchOptions,
    writing: OutputOptions,
    extras: LinkExtras,
    pairs: PairsFile = None,
    records: RecordsFile = None,
    previous: PreviousFolder = None,
    removed: RemovedFile = None,
    step_back: StepBack = False,
    default: Unlisted = None,
    tables: Tables = "all",
) -> None:
    """Find which records refer to the same entity, from the probabilities of pairs.

    Every entity has a lasting identifier. --out keeps what tomorrow's update needs beside labels.csv, reasons.csv (what
    to show a reviewer) and report.html. --previous updates such a folder with new pairs, records and constraints: only
    what they touch is solved again, and changes.csv says what became of each identifier.

    Example: partita link pairs.csv --records records.csv:id --out linked

    Example: partita link more.csv --previous linked --apart reviewed.csv
    """
    check_choice("tables", tables, TABLES)
    names = None if records is None else read_names(records)
    if previous is None:
        refuse(["removed", "step_back", "tables"], "is for updates: give --previous too")
        if pairs is None:
            raise ValueError("give a file of pairs, or --previous")
        with delivering(writing) as deliver:
            best, shown = _first(pairs, names, default, constraining, searching, extras)
            _deliver(deliver, shown, extras)
            if deliver.folder is not None:
                from partita.estimation.linkage_store import store_first

                with step("stored the linkage"):
                    store_first(deliver.folder, best)
        return
    refuse(OF_FIRST, "is that of the first link, which --previous has")

    if tables == "changed":
        refuse(["truth"], "is for all records, not for --tables changed")

    def update(before: PairEstimate) -> tuple[PairEstimate, Presentation]:
        best, files = _update(before, pairs, names, removed, constraining, extras)
        if tables == "changed":
            from partita.results.pairs import ChangePresentation

            return best, ChangePresentation(best, first=first_number())
        return best, extras.presented(best, files)

    writing.refuse_unused()
    if writing.out is None or writing.out.absolute() == previous.absolute():
        _update_in_place(previous, step_back, update, writing, extras)
        return
    from partita.estimation.linkage_store import read_linkage, store_first

    with delivering(writing) as deliver:
        best, shown = update(read_linkage(previous, step_back=step_back))
        _deliver(deliver, shown, extras)
        if deliver.folder is not None:
            store_first(deliver.folder, best)


def _first(
    pairs: str,
    names: list[str] | None,
    default: float | None,
    constraining: ConstraintOptions,
    searching: PairSearchOptions,
    extras: ExtraOptions,
) -> tuple[PairEstimate, Presentation]:
    def read() -> Similarity:
        columns = split_names(extras.columns) or None
        return as_similarity(pairs, names, default or 0.0, columns=columns)

    from partita.pairs.probabilities import as_similarity

    files, best = searched_pairs(read, RECORDS, constraining, searching, extras)
    return best, extras.presented(best, files)


def _update(
    before: PairEstimate,
    pairs: str | None,
    names: list[str] | None,
    removed: str | None,
    constraining: ConstraintOptions,
    extras: ExtraOptions,
) -> tuple[PairEstimate, dict[str, Named]]:
    import partita
    from partita.pairs.sources.text import csv_rows

    files = extras.read(with_data=False)
    gone = None if removed is None else [tuple(filter(None, row)) for _, row in csv_rows(removed) if any(row)]
    if gone and len(gone[0]) == 1 and gone[0][0].lower() in HEADERS:
        gone = gone[1:]
    leave = None if gone is None else [row[0] if len(row) == 1 else row for row in gone]
    columns = split_names(extras.columns) or None
    with step("updated"):
        best = partita.update(before, pairs, names, leave, columns=columns)
        if pairs is not None and names is None and leave is None:
            _check_same_data(before, best, pairs)
        more = constraining.constraints(best.similarity.names, best.similarity.n_items, RECORDS)
        if more is not None:
            best = _over_both(best, partita.update(best, constraints=more))
    return best, in_order(files, best.similarity.names, best.similarity.n_items, RECORDS)


def _over_both(first: PairEstimate, second: PairEstimate) -> PairEstimate:
    """The second of two updates, with a ledger from what was before the first; no record came or left in the second."""
    import numpy as np

    from partita.estimation.pair_estimate import ledger_of

    one, two = ledger_of(first), ledger_of(second)
    touched = np.union1d(one.touched, two.touched)
    ledger = replace(one, ids=two.ids, next_id=two.next_id, touched=touched)
    return replace(second, _ledger=ledger)


def _check_same_data(before: PairEstimate, after: PairEstimate, pairs: str) -> None:
    """Pairs of which no record was known before are those of other data, unless --records lists them."""
    from partita.estimation.pair_estimate import ledger_of

    touched, n_before = ledger_of(after).touched, before.similarity.n_items
    if touched.size and touched.min() >= n_before:
        raise ArgumentError(
            f"none of the records of {pairs} is among those of ",
            Argument("previous"),
            ": are they other data? New records are listed with ",
            Setting("records"),
        )


def _update_in_place(
    folder: Path,
    step_back: bool,
    update: Callable[[PairEstimate], tuple[PairEstimate, Presentation]],
    writing: OutputOptions,
    extras: ExtraOptions,
) -> None:
    """Updates a folder while no other process can: its state changes with one rename, then its tables."""
    from partita.cli.errors import INTERRUPTED
    from partita.estimation.linkage_store import locked_linkage, read_linkage, store_next

    with locked_linkage(folder):
        with step("read the linkage"):
            before = read_linkage(folder, step_back=step_back)
        best, shown = update(before)
        delivery = Delivery(None)

        def results(place: Path) -> None:
            delivery.folder = place
            _deliver(delivery, shown, extras)

        with step("stored the linkage"):
            store_next(folder, best, results, [f"{name}.{ending}" for name in LISTS for ending in FORMATS] + [REPORT])
    delivery.print(folder, json=writing.json)
    if shown.interrupted:
        raise typer.Exit(INTERRUPTED)


def _deliver(deliver: Delivery, shown: Presentation, extras: ExtraOptions) -> None:
    own: dict[str, Table] = {name: shown.tables[name] for name in UPDATED if name in shown.tables}
    printed = {"changes": QUESTIONS_PRINTED, "reasons": QUESTIONS_PRINTED}
    deliver(shown, tables=own, truth=extras.truth, printed=printed)


def read_names(source: str) -> list[str]:
    """The records of a file: the column that is named, the only one, or the only one with a usual name."""
    from partita.pairs.sources.text import csv_rows

    path, column = split_column(source)
    rows = [row for _, row in csv_rows(path) if any(row)]
    if not rows:
        raise ValueError(f"{path} has no records")
    at = 0
    if column is not None:
        if rows[0].count(column) != 1:
            raise ValueError(f"{path} has no column {column!r}; its columns are {', '.join(rows[0])}")
        at = rows[0].index(column)
    usual = [place for place, name in enumerate(rows[0]) if name.lower() in HEADERS]
    if column is None and len(rows[0]) > 1:
        if len(usual) != 1:
            found = ", ".join(rows[0])
            raise ValueError(
                f"{path} has several columns ({found}): name that of the records, as in {path}:{rows[0][0]}"
            )
        at = usual[0]
    has_header = column is not None or bool(usual)
    return [row[at] for row in rows[has_header:]]
