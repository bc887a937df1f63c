"""Draws that a sampler is still writing: new ones as they appear in a file or in the folder of a run."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from partita._support.validate import check_count, check_positive
from partita.draws.io import MANIFEST, read_draws
from partita.draws.sample import PartitionSample, as_sample

#: A file is read again when it has grown by this share, so that all readings together cost a few of the last one.
GROWTH = 0.1


def growing_draws(
    path: str | PathLike[str], *, burn: int = 0, every: float = 1.0, patience: float = 60.0, **reading: Any
) -> Iterator[PartitionSample]:
    """New draws of a file or of a run that is still growing, until it stops growing.

    Parameters
    ----------
    path : path
        A text file with one line per draw (.csv, .tsv, .txt) to which a sampler appends, or the folder of a run
        (`sample(path=...)`, `partita sample --out`). A last line without its end is left for later.
    burn : int
        Number of draws to drop at the start of each chain.
    every : float
        Seconds between two looks.
    patience : float
        Seconds without growth after which the draws end.
    **reading
        Options of `read_draws`, such as ``missing=-1``.

    Yields
    ------
    PartitionSample
        The draws that are new; of a run, equally many of each chain.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     print("a,b,c\\n0,0,1\\n0,1,1\\n0,1", end="", file=file, flush=True)
    ...     next(growing_draws(file.name))
    PartitionSample(2 draws, 2 distinct, 3 items, 2 clusters per draw)
    """
    source, wait = Path(path), check_positive(every, "every")
    limit, dropped = check_positive(patience, "patience"), check_count(burn, "burn")
    if not source.exists():
        raise FileNotFoundError(f"{source} does not exist")
    if source.is_dir() and not (source / MANIFEST).is_file():
        raise ValueError(f"{source} is not the folder of a run: it has no {MANIFEST}")
    return _new_draws(source, dropped, wait, limit, reading)


def _new_draws(
    path: Path, seen: int, every: float, patience: float, reading: dict[str, Any]
) -> Iterator[PartitionSample]:
    size, grown_at = 0, time.monotonic()
    while True:
        finished, now = _is_finished(path), _size(path)  # before the draws are read, so that none is left out
        waited = time.monotonic() - grown_at
        if now > size and (finished or now >= (1 + GROWTH) * size or waited > patience / 2):
            sample = _read(path, reading)
            size, grown_at = now, time.monotonic()
            if sample is not None and sample.n_draws // sample.n_chains > seen:
                yield as_sample(sample, burn=seen)
                seen = sample.n_draws // sample.n_chains
        if finished or time.monotonic() - grown_at > patience:
            return
        time.sleep(every)


def _size(path: Path) -> int:
    """Bytes of a file, or of the files in a folder."""
    if not path.is_dir():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def _read(path: Path, reading: dict[str, Any]) -> PartitionSample | None:
    """The draws so far; None if there are none yet."""
    if path.is_dir():
        return _read_run(path)
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if whole.count(b"\n") < 2:  # perhaps only a header
        return None
    stream = io.BytesIO(whole)
    stream.name = str(path)
    return read_draws(stream, **reading)


def _read_run(path: Path) -> PartitionSample | None:
    from partita.models.chains.checkpoint import NoDrawsYetError  # here, so that importing partita needs no model

    try:
        return read_draws(path)
    except NoDrawsYetError:
        return None


def _is_finished(path: Path) -> bool:
    """Whether nothing more will be written: only runs say so."""
    from partita.models.chains.checkpoint import open_run

    return path.is_dir() and open_run(path).is_complete()
