"""Many files that are parts of one: a folder or a pattern, read in order, one file at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from partita._sources.blocks import Block, Source

Open = Callable[[Path, ExitStack], Source]


def find_parts(path: Path, suffixes: list[str]) -> list[Path]:
    """The parts that a folder or a pattern names, in the order of their numbers and names; none for a plain file."""
    if path.name.lower().endswith(tuple(suffixes)) and not _is_pattern(path):
        return []
    if path.is_dir():
        _refuse_run(path)
        parts = [part for part in path.iterdir() if part.name.lower().endswith(tuple(suffixes))]
    elif _is_pattern(path):
        parts = list(path.parent.glob(path.name))
    else:
        return []
    if not parts:
        raise ValueError(f"{path} has no files of draws; they end in one of {', '.join(suffixes)}")
    return sorted(parts, key=_by_number)


def _refuse_run(folder: Path) -> None:
    """The folder of a run holds its data too, which must not be taken for draws."""
    if (folder / "manifest.json").is_file():
        draws = folder / "draws.npy"
        where = f"its draws are in {draws}" if draws.is_file() else f"partita.resume({str(folder)!r}) gives its chain"
        raise ValueError(f"{folder} is the folder of a sampler's run: {where}")


def _is_pattern(path: Path) -> bool:
    return not path.exists() and any(sign in path.name for sign in "*?[")


def _by_number(path: Path) -> list[tuple[int, str]]:
    return [(int(piece), "") if piece.isdigit() else (-1, piece) for piece in re.split(r"(\d+)", path.name)]


def parts_source(parts: list[Path], open_part: Open) -> Source:
    """The parts as one source; each must have the items of the first."""
    with ExitStack() as opened:
        first = open_part(parts[0], opened)
        return replace(first, blocks=_blocks(parts, first.n_items, first.names, open_part))


def _blocks(parts: list[Path], n_items: int, names: tuple[str, ...] | None, open_part: Open) -> Iterator[Block]:
    for part in parts:
        with ExitStack() as opened:
            source = open_part(part, opened)
            if source.n_items != n_items:
                raise ValueError(f"{part} has {source.n_items} items, but {parts[0]} has {n_items}")
            if source.names != names:
                raise ValueError(f"{part} has other item names than {parts[0]}")
            yield from source.blocks
