"""The form in which results are written: clusters counted from 0 or from 1; tables as csv, tsv or parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

FORMATS = ("csv", "tsv", "parquet")


@dataclass(frozen=True)
class Form:
    """How results are written."""

    one_based: Annotated[
        bool,
        typer.Option("--one-based", help="Number clusters, and items without names, from 1 as R does, not from 0."),
    ] = False
    table_format: Annotated[
        str, typer.Option("--format", help="Format of the tables that are written: csv, tsv or parquet.")
    ] = "csv"

    def check(self) -> None:
        """Refuses a format that is not written."""
        if self.table_format not in FORMATS:
            raise ValueError(f"--format must be one of {', '.join(FORMATS)}, but it is {self.table_format}")


_form: ContextVar[Form] = ContextVar("form", default=Form())  # noqa: B039  a frozen value


@contextmanager
def written_in(form: Form) -> Iterator[None]:
    """Makes the form of the running command the one in which results are written."""
    form.check()
    token = _form.set(form)
    try:
        yield
    finally:
        _form.reset(token)


def one_based() -> bool:
    """Whether clusters are counted from 1."""
    return _form.get().one_based


def cluster_numbers(labels: Any) -> Any:
    """Labels, or lists of labels, as the user counts them; -1, no label, stays."""
    if isinstance(labels, list):
        return [cluster_numbers(label) for label in labels]
    if not isinstance(labels, int):
        return cluster_numbers(labels.tolist())
    return labels + one_based() if labels >= 0 else labels


def item_numbers(n_items: int) -> Sequence[int]:
    """Numbers for items without names."""
    return range(int(one_based()), n_items + int(one_based()))


def table_name(name: str) -> str:
    """The name of a table with the ending of its format."""
    return str(Path(name).with_suffix(f".{_form.get().table_format}"))


def all_names(name: str) -> tuple[str, ...]:
    """The names that a file may have: a table may be in any of the formats."""
    path = Path(name)
    return tuple(str(path.with_suffix(f".{ending}")) for ending in FORMATS) if path.suffix == ".csv" else (name,)
