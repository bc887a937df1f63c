"""What makes the clusters, for the page: a table of their profiles, and a picture of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from partita.models.mixtures.schema import CURVE, REGRESSION
from partita.profiling.profiles import ColumnProfile, Profiles
from partita.results.drawings import Drawing, mean_curves, number
from partita.results.parts import drawing, section, subheading
from partita.results.tables import Column, Table

CLUSTERS_SHOWN = 24  # the largest
ROWS_SHOWN = 60  # columns and levels, those that tell most first
NAME_SHOWN = 34  # characters
MAX_DEVIATIONS = 2.0  # standard deviations at which colours end
#: Colours below, at and above a column's mean, and of level shares 0 and 1.
BELOW, MIDDLE, ABOVE = (0, 114, 178), (247, 247, 247), (213, 94, 0)
NONE, ALL = (247, 247, 247), (0, 105, 80)
CELL_WIDTH, CELL_HEIGHT, LETTER, TOP = 52, 20, 7.5, 26  # of the picture

Colour = tuple[int, int, int]
#: A row: the column and its name here, which includes the level, and the place of the level or None.
Row = tuple[ColumnProfile, str, int | None]


def profile_section(profiles: Profiles, first: int = 0) -> dict[str, Any]:
    """A table and a picture of the profiles, the columns that tell most first; clusters are counted from `first`."""
    clusters = np.argsort(-profiles.sizes, kind="stable")[:CLUSTERS_SHOWN]
    rows = list(_rows(profiles))
    shown = rows[:ROWS_SHOWN]
    caption = (
        "One column per cluster, numbered at the top. Numbers: orange above and blue below the mean of the column,"
        " darkest at two standard deviations. Levels: green, darkest if all items of the cluster have the level."
    )
    picture = _picture(profiles, shown, clusters.tolist(), first)
    return section(
        "profiles",
        "Cluster profiles",
        *(
            [
                _words(profiles, len(rows)),
                drawing("profiles", picture, "Means and category shares of the clusters", caption),
                _table(profiles, shown, clusters.tolist(), first),
            ]
            if rows  # none if all columns are curves
            else []
        ),
        *_curves(profiles, clusters.tolist(), first),
    )


def _curves(profiles: Profiles, clusters: list[int], first: int) -> Iterator[Any]:
    """The mean curves of each outcome with their bands, one picture per outcome."""
    for place, own in enumerate(profiles.columns):
        if own.column.family == CURVE:
            caption = f"Mean curve of each cluster with {profiles.level:.0%} bands, numbered at its right end."
            picture = mean_curves(own.column.levels, own.mean, own.low, own.high, clusters, first)
            yield subheading(f"{own.column.name} over time")
            yield drawing(f"curves-{place}", picture, f"Mean curves of {own.column.name}", caption)


def _rows(profiles: Profiles) -> Iterator[Row]:
    for own in sorted(profiles.columns, key=lambda own: -own.information):
        if own.column.family == CURVE:
            continue
        if not own.column.levels:
            yield own, own.column.name, None
        for place, level in enumerate(own.column.levels):
            yield own, f"{own.column.name}: {level}", place


def _words(profiles: Profiles, n_rows: int) -> str:
    told = (
        "Bits say how much a cell of a column tells about the cluster of its row, on average, beyond what chance"
        " alone could tell; columns that tell most come first. Observed cells are those that are not missing."
        f" Intervals are of {profiles.level:.0%} posterior probability."
    )
    if n_rows > ROWS_SHOWN:
        told += f" The first {ROWS_SHOWN} of {n_rows:,} columns and levels are shown."
    if len(profiles.sizes) > CLUSTERS_SHOWN:
        told += f" The {CLUSTERS_SHOWN} largest of {len(profiles.sizes):,} clusters are shown."
    return told


def _table(profiles: Profiles, rows: list[Row], clusters: list[int], first: int) -> Table:
    columns = (
        Column("Column", "text"),
        Column("Family", "text"),
        Column("Bits", "share", "What a cell tells about the cluster of its row, on average"),
        Column("Observed", "number", "Cells of the column that are not missing"),
        *([] if profiles.inclusion is None else [Column("Takes part", "share", "Probability that it takes part")]),
        *(Column(f"Cluster {k + first}", "text") for k in clusters),
    )
    cells = [
        (name, own.column.family, own.information, own.n_observed)
        + (() if profiles.inclusion is None else (profiles.inclusion.get(own.column.name, 0.0),))
        + tuple(_interval(own, k, place) for k in clusters)
        for own, name, place in rows
    ]
    return Table("profiles", "Mean of each cluster, or share of each level", columns, cells)


def _interval(own: ColumnProfile, cluster: int, place: int | None) -> str:
    at = (cluster,) if place is None else (cluster, place)
    mean, low, high = (float(values[at]) for values in (own.mean, own.low, own.high))
    if place is not None and own.column.family != REGRESSION:
        return f"{mean:.0%} ({low:.0%} to {high:.0%})"
    return f"{number(mean)} ({number(low)} to {number(high)})"


def _picture(profiles: Profiles, rows: list[Row], clusters: list[int], first: int) -> dict[str, Any]:
    """One cell per cluster and column or category."""
    start = 16 + LETTER * max((len(_short(name)) for _, name, _ in rows), default=0)
    picture = Drawing(start + len(clusters) * CELL_WIDTH, TOP + len(rows) * CELL_HEIGHT, fits=False)
    for line, (own, name, place) in enumerate(rows):
        y = TOP + line * CELL_HEIGHT
        picture.words.append((start - 8, y + CELL_HEIGHT - 6, "end", _short(name)))
        for column, k in enumerate(clusters):
            told = f"{name}, cluster {k + first}: {_interval(own, k, place)}"
            size = (CELL_WIDTH - 1, CELL_HEIGHT - 1)
            picture.cell(start + column * CELL_WIDTH, y, *size, told, _colour(own, k, place))
    heads = ((start + (column + 0.5) * CELL_WIDTH, str(k + first)) for column, k in enumerate(clusters))
    picture.words += [(x, TOP - 8, "middle", head) for x, head in heads]
    return picture.content()


def _short(name: str) -> str:
    return name if len(name) <= NAME_SHOWN else f"{name[: NAME_SHOWN - 1]}…"


def _colour(own: ColumnProfile, cluster: int, place: int | None) -> str:
    """Blue below and orange above the mean of a column; darker green for a larger share of a level."""
    if place is not None:
        return _between(NONE, ALL, 0.0 if own.column.family == REGRESSION else float(own.mean[cluster, place]))
    deviation = float(np.clip(own.standardized[cluster] / MAX_DEVIATIONS, -1, 1))
    return _between(MIDDLE, ABOVE if deviation > 0 else BELOW, abs(deviation))


def _between(start: Colour, end: Colour, share: float) -> str:
    mixed = (round(a + share * (b - a)) for a, b in zip(start, end, strict=True))
    return "#{:02x}{:02x}{:02x}".format(*mixed)
