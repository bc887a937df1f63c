"""`partita link`: from pair probabilities of records to entities with lasting identifiers, today and tomorrow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import partita as pt
from partita._support.errors import Argument, ArgumentError, Setting
from partita._support.text.table import split_column
from partita.cli.answer import ExtraOptions
from partita.cli.constraints import ConstraintOptions
from partita.cli.deliver import REPORT, Delivery, delivering
from partita.cli.form import FORMATS, first_number
from partita.cli.given import check_choice, refuse
from partita.cli.inputs import in_order, split_names
from partita.cli.option import arg
from partita.cli.options import OutputOptions, PairSearchOptions
from partita.cli.pairs import Unlisted, searched_pairs
from partita.cli.steps import step

if TYPE_CHECKING:
    from partita.results.presentation import Presentation

RECORDS = "the records"
#: Names of a first column that is a header and no record.
HEADERS = frozenset({"record", "records", "record_id", "rec_id", "unique_id", "id", "item", "name", "key"})
#: What the folder of --previous says.
OF_FIRST = ("loss", "method", "default", "a", "b", "runs", "seconds", "seed", "jobs")
QUESTIONS_PRINTED = 10
TABLES = ("all", "changed")
#: Tables of an update, and those of all records.
UPDATED, LISTS = ("reasons", "changes", "moved"), ("labels", "clusters", "pairs", "reasons", "changes", "moved")

#: A linkage and how it is shown.
Found = tuple["pt.PairEstimate", "Presentation"]


@dataclass(frozen=True)
class LinkOptions(ExtraOptions):
    """The pairs and the records, the linkage that they update if there is one, and what goes with them."""

    data: ClassVar[None] = None  # type: ignore[misc]
    columns: Annotated[str | None, "Columns of the two records and the probability, as in left,right,p."] = None
    pairs: Annotated[
        str | None,
        arg("Pairs with their probabilities: csv, csv.gz or parquet; three columns, those of Splink, or --columns."),
    ] = None
    records: Annotated[str | None, "All records, or with --previous the new ones: a csv file, file.csv:column."] = None
    previous: Annotated[Path | None, "Folder of an earlier `partita link`, to be updated."] = None
    removed: Annotated[str | None, "Records that have left, or pairs that no longer count: a csv file."] = None
    step_back: Annotated[bool, "Begin at the state before the last one of --previous."] = False
    default: Unlisted = None
    tables: Annotated[
        str,
        "all, or changed: an update then writes only what it changed, and removes older tables and pages of all items.",
    ] = "all"

    @cached_property
    def names(self) -> list[str] | None:
        """The records, or None if only the pairs name them."""
        return None if self.records is None else read_names(self.records)

    def first(self, constraining: ConstraintOptions, searching: PairSearchOptions) -> Found:
        """A linkage from its start."""

        def read() -> pt.Similarity:
            columns = split_names(self.columns) or None
            return pt.as_similarity(self.pairs, self.names, self.default or 0.0, columns=columns)

        files, best = searched_pairs(read, RECORDS, constraining, searching, self)
        return best, self.presented(best, files)

    def update(self, before: pt.PairEstimate, constraining: ConstraintOptions) -> Found:
        """A linkage with the new pairs, records and constraints, and without what has left."""
        from partita.pairs.sources.text import csv_rows
        from partita.results.pairs import ChangePresentation

        files = self.read(with_data=False)
        rows = (
            [] if self.removed is None else [list(filter(None, row)) for _, row in csv_rows(self.removed) if any(row)]
        )
        if rows and len(rows[0]) == 1 and rows[0][0].lower() in HEADERS:
            rows = rows[1:]
        leave = None if self.removed is None else [row[0] if len(row) == 1 else tuple(row) for row in rows]
        columns = split_names(self.columns) or None
        with step("updated"):
            best = pt.update(before, self.pairs, self.names, leave, columns=columns)
            if self.pairs is not None and self.names is None and leave is None:
                _check_same_data(before, best, self.pairs)
            more = constraining.constraints(best.similarity.names, best.similarity.n_items, RECORDS)
            if more is not None:
                best = _over_both(best, pt.update(best, constraints=more))
        if self.tables == "changed":
            return best, ChangePresentation(best, first=first_number())
        return best, self.presented(best, in_order(files, best.similarity.names, best.similarity.n_items, RECORDS))


def run(
    constraining: ConstraintOptions, searching: PairSearchOptions, writing: OutputOptions, linking: LinkOptions
) -> None:
    """Find which records refer to the same entity, from the probabilities of pairs.

    Every entity has a lasting identifier. --out keeps what tomorrow's update needs beside labels.csv, reasons.csv (what
    to show a reviewer) and report.html. --previous updates such a folder with new pairs, records and constraints: only
    what they touch is solved again, and changes.csv says what became of each identifier.

    Example: partita link pairs.csv --records records.csv:id --out linked

    Example: partita link more.csv --previous linked --apart reviewed.csv
    """
    from partita.estimation.linkage_store import store_first

    check_choice("tables", linking.tables, TABLES)
    previous, _ = linking.previous, linking.names
    if previous is None:
        refuse(["removed", "step_back", "tables"], "is for updates: give --previous too")
        if linking.pairs is None:
            raise ValueError("give a file of pairs, or --previous")
    else:
        refuse(OF_FIRST, "is that of the first link, which --previous has")
        if linking.tables == "changed":
            refuse(["truth"], "is for all records, not for --tables changed")
        writing.refuse_unused()
        if writing.out is None or writing.out.absolute() == previous.absolute():
            _update_in_place(previous, constraining, writing, linking)
            return
    with delivering(writing) as deliver:
        if previous is None:
            best, shown = linking.first(constraining, searching)
        else:
            best, shown = linking.update(pt.read_linkage(previous, step_back=linking.step_back), constraining)
        _deliver(deliver, shown, linking.truth)
        if deliver.folder is not None:
            with step("stored the linkage"):
                store_first(deliver.folder, best)


def _over_both(first: pt.PairEstimate, second: pt.PairEstimate) -> pt.PairEstimate:
    """The second of two updates, with a ledger from what was before the first; no record came or left in the second."""
    import numpy as np

    from partita.estimation.pair_estimate import ledger_of

    one, two = ledger_of(first), ledger_of(second)
    touched = np.union1d(one.touched, two.touched)
    ledger = replace(one, ids=two.ids, next_id=two.next_id, touched=touched)
    return replace(second, _ledger=ledger)


def _check_same_data(before: pt.PairEstimate, after: pt.PairEstimate, pairs: str) -> None:
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
    folder: Path, constraining: ConstraintOptions, writing: OutputOptions, linking: LinkOptions
) -> None:
    """Updates a folder while no other process can: its state changes with one rename, then its tables."""
    from partita.estimation.linkage_store import locked_linkage, store_next

    with locked_linkage(folder):
        with step("read the linkage"):
            before = pt.read_linkage(folder, step_back=linking.step_back)
        best, shown = linking.update(before, constraining)
        delivery = Delivery(None)

        def results(place: Path) -> None:
            delivery.folder = place
            _deliver(delivery, shown, linking.truth)

        with step("stored the linkage"):
            store_next(folder, best, results, [f"{name}.{ending}" for name in LISTS for ending in FORMATS] + [REPORT])
    delivery.finish(folder, json=writing.json)


def _deliver(deliver: Delivery, shown: Presentation, truth: str | None) -> None:
    own = {name: shown.tables[name] for name in UPDATED if name in shown.tables}
    deliver(shown, tables=own, truth=truth, printed={"changes": QUESTIONS_PRINTED, "reasons": QUESTIONS_PRINTED})


def read_names(source: str) -> list[str]:
    """The records of a file: the column that is named, the only one, or the only one with a usual name."""
    from partita.pairs.sources.text import csv_rows

    path, column = split_column(source)
    rows = [row for _, row in csv_rows(path) if any(row)]
    if not rows:
        raise ValueError(f"{path} has no records")
    header = rows[0]
    usual = [place for place, name in enumerate(header) if name.lower() in HEADERS]
    if column is not None:
        if header.count(column) != 1:
            raise ValueError(f"{path} has no column {column!r}; its columns are {', '.join(header)}")
        at = header.index(column)
    elif len(header) > 1 and len(usual) != 1:
        found = ", ".join(header)
        raise ValueError(f"{path} has several columns ({found}): name that of the records, as in {path}:{header[0]}")
    else:
        at = usual[0] if len(header) > 1 else 0
    return [row[at] for row in rows[column is not None or bool(usual) :]]
