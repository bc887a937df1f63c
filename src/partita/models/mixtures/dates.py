"""Dates as numbers: months since a day."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable

import numpy as np

from partita._support.arrays import Floats
from partita.models.mixtures.raw import RawTable
from partita.models.mixtures.raw_column import RawColumn

DAYS_PER_MONTH = 30.4375
_START = datetime.datetime(1970, 1, 1)
_DAY_FIRST = re.compile(r"(\d\d?)([./])(\d\d?)\2(\d{4}|\d\d)(.*)")


def days(text: str) -> float:
    """Days since 1970 of an ISO date or time; of 31.3.2024 too, where points separate day, month and year.

    >>> days("1970-02-01"), days("1970-01-02T12:00:00+12:00"), days("1.2.1970")
    (31.0, 1.0, 31.0)
    """
    own = _DAY_FIRST.fullmatch(text)
    if own is not None and own[2] == "." and len(own[4]) == 4:
        text = f"{own[4]}-{int(own[3]):02}-{int(own[1]):02}{own[5]}"
    moment = datetime.datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return (moment - _START) / datetime.timedelta(days=1)


def first_date(texts: Iterable[str]) -> str:
    """The earliest of some dates, as it is written."""
    return min(texts, key=days)


def months(table: RawTable, raw: RawColumn, origin: str | None = None) -> Floats:
    """A column of dates as months since `origin`, or since its first date; NaN where it is empty."""
    since = days(first_date(_checked(table, raw)) if origin is None else origin)
    found = [(days(text) - since) / DAYS_PER_MONTH for text in _checked(table, raw)]
    result: Floats = np.append(found, np.nan)[raw.values]
    return result


def _checked(table: RawTable, raw: RawColumn) -> tuple[str, ...]:
    """The dates of a column, all of them readable."""
    for place, text in enumerate(raw.texts):
        try:
            days(text)
        except ValueError:
            row = int(np.flatnonzero(raw.values == place)[0])
            raise ValueError(
                f"{table.place(row, raw.name)}: {text!r} is not a time; times are numbers or dates such as 2026-03-31"
            ) from None
    return raw.texts
