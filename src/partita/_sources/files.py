"""Files of draws that are not text: npy, npz, zarr, parquet, netCDF."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from partita._sources.blocks import Block, Source, array_source
from partita._sources.chunks import CELLS_A_BLOCK
from partita._sources.npy import open_npy
from partita._sources.tables import table_source, tables_source
from partita._sources.xarrays import xarray_source

_CLASSIC, _HDF5 = b"CDF", b"\x89HDF"  # how netCDF files begin; classic ones have no groups
_NETCDF_ENGINES = {_CLASSIC: {"netcdf4", "scipy"}, _HDF5: {"netcdf4", "h5netcdf"}}
DRAWS, CHAIN, WEIGHT, NAMES = "draws", "draw_chain", "draw_weight", "item_names"


@contextmanager
def _pickles_refused() -> Iterator[None]:
    """One message, where NumPy has another for each way to come upon a pickle."""
    try:
        yield
    except ValueError as error:
        if re.search("pickle|[Oo]bject", str(error)):
            raise ValueError("it holds pickled objects, which are never loaded") from None
        raise


@_pickles_refused()
def npy_source(path: Path, variable: str | None) -> Source:
    """An array that is read as it is used."""
    if variable is not None:
        raise ValueError(f"variable={variable!r}: an npy file holds one array, without a name")
    return array_source(open_npy(path))


@_pickles_refused()
def npz_source(path: Path, variable: str | None) -> Source:
    if not zipfile.is_zipfile(path):
        raise ValueError("it is not a whole zip file, which an npz file is")
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        name = _choose(arrays, variable)
        wanted = {name, CHAIN, WEIGHT, NAMES}
        return _arrays_source({key: arrays[key] for key in arrays if key in wanted}, name)


def zarr_source(path: Path, variable: str | None) -> Source:
    """An array, a group that we wrote, or the posterior of an ArviZ store."""
    import zarr

    root: Any = zarr.open(str(path), mode="r")
    if hasattr(root, "shape"):
        return array_source(_complete(root))
    group = root.get("posterior", root)
    arrays = dict(group.arrays())
    name = _choose(arrays, variable)
    own = {key: arrays[key][:] for key in (CHAIN, WEIGHT) if key in arrays}
    names = group.attrs.get(NAMES)
    return _arrays_source({name: _complete(arrays[name]), **own, **({} if names is None else {NAMES: names})}, name)


def _complete(array: Any) -> Any:
    """Zarr reads a chunk that is not there as zeros, which would be labels."""
    missing = array.nchunks - array.nchunks_initialized
    if missing:
        raise ValueError(f"{missing} of its {array.nchunks} chunks are missing: it was not written to its end")
    return array


def _choose(arrays: Mapping[str, Any], variable: str | None) -> str:
    if variable is not None:
        if variable not in arrays:
            raise ValueError(f"it has no array {variable!r}; its arrays: {', '.join(arrays)}")
        return variable
    candidates = [key for key in arrays if len(arrays[key].shape) in (2, 3)]
    if DRAWS in candidates:
        return DRAWS
    if len(candidates) == 1:
        return candidates[0]
    found = ", ".join(candidates or arrays)
    raise ValueError(f"it has {'several' if candidates else 'no'} arrays of draws; name one with variable=: {found}")


def _arrays_source(arrays: Mapping[str, Any], name: str) -> Source:
    source = array_source(arrays[name], arrays.get(NAMES))
    chains, weights = arrays.get(CHAIN), arrays.get(WEIGHT)
    if name != DRAWS or (chains is None and weights is None):
        return source
    return replace(source, blocks=_with_columns(source.blocks, chains, weights))


def _with_columns(blocks: Iterator[Block], chains: Any, weights: Any) -> Iterator[Block]:
    start = 0
    for block in blocks:
        rows = slice(start, start + len(block.cells))
        start = rows.stop
        yield replace(
            block,
            chains=block.chains if chains is None else np.asarray(chains[rows], np.int64),
            weights=None if weights is None else np.asarray(weights[rows], np.float64),
        )


def parquet_source(path: Path, variable: str | None) -> Source:
    """A table that is read some rows at a time."""
    import pyarrow.parquet

    if path.is_dir():
        return table_source(pyarrow.parquet.read_table(path), variable)
    file = pyarrow.parquet.ParquetFile(path)
    return tables_source(_batches(file), file.schema_arrow.empty_table(), variable)


def _batches(file: Any) -> Iterator[Any]:
    import pyarrow

    rows = max(1, CELLS_A_BLOCK // max(1, len(file.schema_arrow)))
    with file:
        for batch in file.iter_batches(batch_size=rows):
            yield pyarrow.Table.from_batches([batch])


def netcdf_source(path: Path, variable: str | None) -> Source:
    """The group `posterior` of an ArviZ file, or the root where there is none; read as it is used."""
    dataset = _open_netcdf(path)
    try:
        source = xarray_source(dataset, variable)
    except ValueError:
        dataset.close()
        raise
    return replace(source, blocks=_closing(source.blocks, dataset.close))


def _open_netcdf(path: Path) -> Any:
    import xarray as xr

    with path.open("rb") as stream:
        start = stream.read(4)
    magic = next((magic for magic in _NETCDF_ENGINES if start.startswith(magic)), None)
    if magic is None:
        raise ValueError("it is not a netCDF file")
    try:
        return xr.open_dataset(path, group=None if magic == _CLASSIC else "posterior")
    except ValueError:  # where no engine fits, a page about those that there are
        if _NETCDF_ENGINES[magic] & set(xr.backends.list_engines()):
            raise
        raise ImportError("nothing that reads this kind of netCDF is installed") from None
    except (OSError, KeyError) as error:
        if "group" not in str(error).lower():
            raise
        return xr.open_dataset(path)


def _closing(blocks: Iterator[Block], close: Callable[[], None]) -> Iterator[Block]:
    try:
        yield from blocks
    finally:
        close()
