"""`--together`, `--apart`, `--one-per` and `--max-size`: what the partition must obey."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import partita as pt
from partita._support.errors import Argument, ArgumentError, Part, sentence_of
from partita.cli.inputs import read_partition
from partita.cli.option import opt

if TYPE_CHECKING:
    from partita._support.names import Names


@dataclass(frozen=True)
class ConstraintOptions:
    """What the partition must obey."""

    together: Annotated[str | None, "Items that must be together: a csv file, one pair or group per line."] = None
    apart: Annotated[str | None, "Pairs of items that must be apart: a csv file, one pair per line."] = None
    one_per: Annotated[
        str | None, "At most one item of each source in a cluster: a csv file of sources, file.csv:column."
    ] = None

    max_size: Annotated[int | None, opt("Largest number of items in a cluster.", shown="no limit", min=1)] = None

    def constraints(self, names: Names | None, n_items: int, whose: str) -> pt.Constraints | None:
        """The constraints of the files on the items of `whose`, free of contradictions; None without files."""
        from partita.search.constraints import resolve

        if all(given is None for given in (self.together, self.apart, self.one_per, self.max_size)):
            return None
        sources = None
        if self.one_per is not None:
            sources = read_partition(self.one_per).in_order_of(names, n_items, whose)
        lines, groups = {}, {}
        for option, path in (("together", self.together), ("apart", self.apart)):
            lines[option], groups[option] = ([], []) if path is None else _read_groups(path, names, n_items)
        found = pt.Constraints(groups["together"], groups["apart"], sources, self.max_size)
        try:
            resolve(found, names, n_items, whose)
        except ArgumentError as error:
            paths = {"together": self.together, "apart": self.apart}
            raise ArgumentError(*(_in_file(part, paths, lines) for part in sentence_of(error).parts)) from None
        return found


def _read_groups(path: str, names: Names | None, n_items: int) -> tuple[list[int], list[list[Any]]]:
    """The numbers of the lines that have items, and their items; a first line without any item is a header."""
    from partita.pairs.sources.text import csv_rows

    known = {str(number) for number in range(n_items)} if names is None else set(names)
    lines, groups = [], []
    for line, row in csv_rows(path):
        cells = [cell for cell in row if cell]
        is_header = line == 1 and known.isdisjoint(cells)
        if not cells or is_header:
            continue
        unknown = next((cell for cell in cells if cell not in known), None)
        if unknown is not None:
            raise ValueError(f"{path}, line {line}: {unknown!r} is not an item")
        lines.append(line)
        groups.append([int(cell) for cell in cells] if names is None else cells)
    return lines, groups


def _in_file(part: str | Part, paths: dict[str, str | None], lines: dict[str, list[int]]) -> str | Part:
    """`apart[3]` as a file and its line."""
    if isinstance(part, Argument) and part.name in paths and part.place is not None:
        return f"{paths[part.name]}, line {lines[part.name][part.place]},"
    return part
