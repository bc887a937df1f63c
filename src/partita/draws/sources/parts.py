"""Many files that are parts of one: a folder or a pattern, read in order, one file at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from partita.draws.sources.blocks import Block, Source, in_order_of

Open = Callable[[Path, ExitStack], Source]


def find_parts(path: Path, suffixes: list[str]) -> list[Path]:
    """The parts that a folder or a pattern names, sorted by their numbers and names; none for a plain file."""
    if path.name.lower().endswith(tuple(suffixes)) and not _is_pattern(path):
        return []
    if path.is_dir():
        parts = [part for part in path.iterdir() if part.name.lower().endswith(tuple(suffixes))]
    elif _is_pattern(path):
        parts = list(path.parent.glob(path.name))
    else:
        return []
    if not parts:
        raise ValueError(f"{path} has no files of draws; they end in one of {', '.join(suffixes)}")
    return sorted(parts, key=_by_number)


def _is_pattern(path: Path) -> bool:
    return not path.exists() and any(sign in path.name for sign in "*?[")


def _by_number(path: Path) -> list[tuple[int, str]]:
    return [(int(piece), "") if piece.isdigit() else (-1, piece) for piece in re.split(r"(\d+)", path.name)]


def parts_source(parts: list[Path], open_part: Open) -> Source:
    """The parts as one source; each must have the items of the first."""
    with ExitStack() as opened:
        first = open_part(parts[0], opened)
        return replace(first, blocks=_blocks(parts, first, open_part))


def _blocks(parts: list[Path], first: Source, open_part: Open) -> Iterator[Block]:
    for part in parts:
        with ExitStack() as opened:
            yield from in_order_of(first, open_part(part, opened), str(part), str(parts[0])).blocks
