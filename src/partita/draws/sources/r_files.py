"""Files of R (saveRDS or save: a matrix or data frame of draws, or a list of them, one per chain), and CODA files."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from partita._support.errors import ArgumentError, Setting
from partita._support.optional import optional
from partita.draws.sources.long import Names
from partita.draws.sources.source import Source, array_source, joined
from partita.draws.sources.tables import is_table, table_source
from partita.draws.sources.text import text_source

MAX_COUNTED = 1 << 27  # numbers of a sequence such as 1:n, which R writes as three numbers


def rds_source(path: Path, variable: str | None, long: Names | None = None) -> Source:
    """The one object of an .rds file; of a list with names, the matrix that `variable` names, as in nmix$zdraw."""
    import rdata

    return _found(_read(rdata.read_rds, path), variable, long)


def rdata_source(path: Path, variable: str | None, long: Names | None = None) -> Source:
    """The only object of an .RData file that may hold draws, or the one that `variable` names."""
    import rdata

    objects = _read(rdata.read_rda, path)
    if variable in objects:
        return _found(objects[variable], None, long)
    usable = [name for name, value in objects.items() if _may_be_draws(value)]
    if len(usable) == 1 and not (variable is not None and _places(objects, variable)):
        return _source(objects[usable[0]], variable, long)
    if len(usable) > 1 and variable is None:
        found = f": {', '.join(usable)}"
        raise ArgumentError("it has several objects of draws; name one with ", Setting("variable"), found)
    return _found(objects, variable, long)


def _found(value: Any, variable: str | None, long: Names | None) -> Source:
    """Draws as they are, or the only matrix of whole numbers in a sampler's whole result, a list with names."""
    if not isinstance(value, Mapping):
        return _source(value, variable, long)
    places = _places(value, variable)
    usable = places if variable is not None else {name: x for name, x in places.items() if _has_whole_numbers(x)}
    if len(usable) == 1:
        return _source(next(iter(usable.values())), None, long)
    every = usable or _places(value, None)
    if len(every) == 1 and variable is not None:  # the name may be that of its columns, as in z[1], z[2], ...
        return _source(next(iter(every.values())), variable, long)
    if not every:
        raise ValueError(f"it is a list without a matrix of draws; it has {', '.join(map(str, value))}")
    count = "several matrices" if usable else "no matrix of whole numbers" if variable is None else f"no {variable!r}"
    raise ArgumentError(f"it has {count}; name one with ", Setting("variable"), f": {', '.join(map(repr, every))}")


def _places(value: Mapping[str, Any], variable: str | None, above: str = "") -> dict[str, Any]:
    """What may be draws in a list with names and in lists in it, by its place, as in nmix$zdraw; by name, if given.

    The name may be the whole place or its end.
    """
    found: dict[str, Any] = {}
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            found |= _places(inner, None, f"{above}{name}$")
        elif _may_be_draws(inner):
            found[f"{above}{name}"] = inner
    if variable is None:
        return found
    return {place: inner for place, inner in found.items() if f"${place}".endswith(f"${variable}")}


def _has_whole_numbers(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_has_whole_numbers, value))
    cells = np.asarray(value.to_numpy() if is_table(value) else _cells(value))
    return cells.dtype.kind in "iub" or (cells.dtype.kind == "f" and bool((cells == np.rint(cells)).all()))


def _read(read: Callable[..., Any], path: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes such as mcmc.list are read as the plain lists and matrices they are
        return read(path, altrep_constructor_dict=_compact_vectors())


def _compact_vectors() -> Mapping[bytes, Callable[[Any], Any]]:
    """How vectors that R writes in a few bytes are made; sequences of any length raise an error."""
    from rdata.parser import DEFAULT_ALTREP_MAP

    def checked(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def make_checked(state: Any) -> Any:
            count = state.value[0]
            if not 0 <= count <= MAX_COUNTED:
                raise ValueError(f"it has a sequence of {count:,.0f} numbers; at most {MAX_COUNTED:,} are read")
            return make(state)

        return make_checked

    sequences = (b"compact_intseq", b"compact_realseq")
    return {name: checked(make) if name in sequences else make for name, make in DEFAULT_ALTREP_MAP.items()}


def _may_be_draws(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_may_be_draws, value))
    return is_table(value) or getattr(value, "ndim", 0) in (2, 3)


def _source(value: Any, variable: str | None, long: Names | None) -> Source:
    if isinstance(value, list) and _may_be_draws(value):
        return joined([_source(chain, variable, long) for chain in value])
    if is_table(value):
        return table_source(value, variable, long)
    if not _may_be_draws(value):
        raise ValueError("it must hold a matrix or a data frame of draws, or a list of them, one per chain")
    if value.ndim == 3:
        raise ValueError("it holds an array of three dimensions, in no certain order; save a list of matrices instead")
    named = hasattr(value, "coords") and value.dims[1] in value.coords
    names = list(value.coords[value.dims[1]].values) if named else None
    cells = _cells(value)
    return array_source(cells) if names is None else _named_source(cells, names, variable, long)


def _cells(value: Any) -> Any:
    """The matrix as numbers or texts; NA, which has a mask, becomes NaN."""
    array = getattr(value, "values", value)
    return np.ma.filled(array.astype(np.float64), np.nan) if isinstance(array, np.ma.MaskedArray) else np.asarray(array)


def _named_source(cells: Any, names: list[Any], variable: str | None, long: Names | None) -> Source:
    pd = optional("pandas", "tables of results need pandas", "io")
    return table_source(pd.DataFrame(cells, columns=[str(name) for name in names]), variable, long)


_CHAIN = re.compile(r"(.*)chain\d+\.txt", re.IGNORECASE)


def coda_index(path: Path) -> Path | None:
    """The index beside a chain: CODAindex.txt for CODAchain1.txt; None if the file has another name, or no index."""
    match = _CHAIN.fullmatch(path.name)
    if match is None or not path.parent.is_dir():
        return None
    wanted = f"{match[1]}index.txt".lower()
    return next((other for other in sorted(path.parent.iterdir()) if other.name.lower() == wanted), None)


def coda_source(path: Path, index: Path, variable: str | None) -> Source:
    """The draws of one chain, as a table with one column per variable of the index."""
    values = _values(path)
    columns = {name: values[first - 1 : last] for name, first, last in _entries(index, len(values))}
    if len({column.size for column in columns.values()}) != 1:
        raise ValueError(f"{index}: its variables have different numbers of draws")
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(columns)
    rows = np.column_stack(list(columns.values()))
    writer.writerows([int(cell) if cell == int(cell) else cell for cell in row] for row in rows.tolist())
    return text_source(io.BytesIO(text.getvalue().encode()), str(path), variable, header=True, index=False)


def _values(path: Path) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The second number of each line; the first is the iteration."""
    try:
        lines = np.loadtxt(path, np.float64, ndmin=2)
    except ValueError as error:
        raise ValueError(f"{path} is not a CODA file of iterations and values: {error}") from None
    if lines.shape[1:] != (2,) or not np.isfinite(lines).all():
        raise ValueError(f"{path} is not a CODA file: its lines must be an iteration and a finite value")
    return lines[:, 1]


def _entries(index: Path, n_lines: int) -> list[tuple[str, int, int]]:
    """Name, first and last line of each variable."""
    found = []
    for number, line in enumerate(index.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        words = line.rsplit(maxsplit=2)
        if len(words) != 3 or not (words[1].isdecimal() and words[2].isdecimal()):
            raise ValueError(f"{index}, line {number}: it must be a name, its first line and its last, not {line!r}")
        first, last = int(words[1]), int(words[2])
        if not 1 <= first <= last <= n_lines:
            raise ValueError(f"{index}, line {number}: lines {first} to {last} of a chain that has {n_lines}")
        found.append((words[0].strip('"'), first, last))
    if not found:
        raise ValueError(f"{index} is empty")
    return found
