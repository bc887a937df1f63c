"""The form in which results are written: clusters counted from 0 or from 1; tables as csv, tsv or parquet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from partita.cli.given import check_choice, refuse, value_of
from partita.cli.option import opt

FORMATS = ("csv", "tsv", "parquet")
COUNTED = "Count clusters and items without names from 1, or from 0 as Python and --json do."


@dataclass(frozen=True)
class Form:
    """The options of every command that writes labels."""

    one_based: Annotated[bool, opt(COUNTED, "--one-based/--zero-based", shown="from 1")] = True
    table_format: Annotated[str, opt("Format of the tables that are written: csv, tsv or parquet.", "--format")] = "csv"


def check_form() -> None:
    """Refuses a format that is not written, and one for tables that are not written."""
    check_choice("format", value_of("table_format", "csv"), FORMATS)
    if value_of("out", None) is None and value_of("previous", None) is None:
        refuse(["table_format"], "is for the tables that --out writes, and there is no --out")


def first_number() -> int:
    """The number of the first cluster, and of the first item without a name: 1, or 0 if the user asked for it."""
    return int(value_of("one_based", True))


def table_name(name: str) -> str:
    """The name of a table with the ending of its format."""
    return str(Path(name).with_suffix(f".{value_of('table_format', 'csv')}"))
