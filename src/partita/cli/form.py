"""The form in which results are written: clusters counted from 0 or from 1; tables as csv, tsv or parquet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

FORMATS = ("csv", "tsv", "parquet")


@dataclass(frozen=True)
class Form:
    """How results are written."""

    one_based: Annotated[
        bool,
        typer.Option(
            "--one-based/--zero-based",
            help="Count clusters and items without names from 1, or from 0 as Python and --json do.",
            show_default="from 1",
        ),
    ] = True
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


def first_number() -> int:
    """The number of the first cluster, and of the first item without a name: 1, or 0 if the user asked for it."""
    return int(_form.get().one_based)


def table_name(name: str) -> str:
    """The name of a table with the ending of its format."""
    return str(Path(name).with_suffix(f".{_form.get().table_format}"))
