"""Files of draws that are not text: npy, npz, zarr, parquet, netCDF."""

from __future__ import annotations

import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from partita._support.errors import ArgumentError, Setting
from partita._support.memory import check_fits
from partita._support.npy import Header, read_header, read_npy
from partita.draws.sources.long import Names
from partita.draws.sources.source import CELLS_PER_BLOCK, Block, Source, array_source
from partita.draws.sources.tables import table_source, tables_source
from partita.draws.sources.xarrays import GROUPS, groups_source

# HDF5 follows the references of a damaged file in endless circles, and nothing can stop it inside this process: another
# process opens the file first, with a limit on its processor time. It takes a quarter of a second.
SECONDS = 5  # of a processor: sound metadata take milliseconds
_OPEN = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]), int(sys.argv[2]) + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except ImportError:
    pass
try:
    from netCDF4 import Dataset
except ImportError:
    try:
        from h5py import File as Dataset
    except ImportError:
        sys.exit()
try:
    Dataset(sys.argv[1], "r").close()
except Exception:
    pass
"""


def check_metadata_end(path: Path) -> None:
    """Raises an error for a file that makes the library hang or crash; opening the file reports other damage."""
    words = [sys.executable, "-c", _OPEN, str(path), str(SECONDS)]
    try:
        code = subprocess.run(words, capture_output=True, timeout=100 * SECONDS, check=False).returncode
    except subprocess.TimeoutExpired:
        code = -signal.SIGTERM
    except OSError:  # there is no interpreter to start, or no room for a process
        return
    if code < 0:
        raise ValueError("it is damaged: its metadata cannot be read to their end")


@dataclass(frozen=True)
class NpyRows:
    """A C-ordered array from byte `offset` of a file; an integer selects a chain, a slice reads rows."""

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int

    def __getitem__(self, which: int | slice) -> Any:
        row_bytes = self.dtype.itemsize * prod(self.shape[1:])
        if isinstance(which, int):
            return replace(self, shape=self.shape[1:], offset=self.offset + which * row_bytes)
        begin, end, _ = which.indices(self.shape[0])
        cells = self._cells(self.offset + begin * row_bytes, (end - begin) * prod(self.shape[1:]))
        return cells.reshape(end - begin, *self.shape[1:])

    def _cells(self, offset: int, count: int) -> NDArray[Any]:
        return np.fromfile(self.path, self.dtype, count, offset=offset)


@dataclass(frozen=True)
class ZippedRows(NpyRows):
    """The same of a member of a zip file, whose rows are best read in their order."""

    stream: BinaryIO

    def _cells(self, offset: int, count: int) -> NDArray[Any]:
        self.stream.seek(offset)
        content = self.stream.read(count * self.dtype.itemsize)
        if len(content) < count * self.dtype.itemsize:
            raise ValueError("it is truncated")
        return np.frombuffer(content, self.dtype)


def open_npy(path: Path) -> Any:
    """The array of a file; one in Fortran order, whose rows are scattered, is read as a whole.

    A file that is mapped and loses bytes meanwhile would end the process.
    """
    with path.open("rb") as stream:
        header = read_header(stream, path.stat().st_size)
        if header.fortran_order:
            check_fits(path.stat().st_size, f"the numbers of {path}, in Fortran order,")
            stream.seek(0)
            return read_npy(stream, path.stat().st_size)
    return NpyRows(path, header.shape, header.dtype, header.offset)


_CLASSIC, _HDF5 = b"CDF", b"\x89HDF"  # how netCDF files begin; classic ones have no groups
_NETCDF_ENGINES = {_CLASSIC: {"netcdf4", "scipy"}, _HDF5: {"netcdf4", "h5netcdf"}}
DRAWS, CHAIN, WEIGHT, NAMES = "draws", "draw_chain", "draw_weight", "item_names"


def npy_source(path: Path, variable: str | None) -> Source:
    """An array that is read on demand."""
    if variable is not None:
        raise ArgumentError(Setting("variable", variable), ": an npy file holds one array, without a name")
    return array_source(open_npy(path))


def npz_source(path: Path, variable: str | None) -> Source:
    """Arrays in a zip file; only those needed are read, and their headers first."""
    if not zipfile.is_zipfile(path):
        raise ValueError("it is not a complete zip file, which an npz file must be")
    with zipfile.ZipFile(path) as archive:
        headers = {info.filename.removesuffix(".npy"): _member_header(archive, info) for info in archive.infolist()}
        name = _choose(headers, variable)
        arrays = {key: _member_array(archive, key) for key in headers if key in (CHAIN, WEIGHT, NAMES)}
        return _arrays_source({**arrays, name: _member_rows(path, archive, name, headers[name])}, name)


def _member_header(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Header:
    with archive.open(info) as stream:
        return read_header(cast(BinaryIO, stream), info.file_size)


def _member_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    check_fits(archive.getinfo(f"{name}.npy").file_size, f"the numbers of {name} in {archive.filename}")
    with archive.open(f"{name}.npy") as stream:
        return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))


def _member_rows(path: Path, archive: zipfile.ZipFile, name: str, header: Header) -> Any:
    """An array whose rows are read on demand; one in Fortran order, whose rows are scattered, as a whole."""
    if header.fortran_order:
        return _member_array(archive, name)
    stream = zipfile.ZipFile(path).open(f"{name}.npy")  # noqa: SIM115 - open as long as rows are read
    return ZippedRows(path, header.shape, header.dtype, header.offset, cast(BinaryIO, stream))


def zarr_source(path: Path, variable: str | None) -> Source:
    """An array, a group written by partita, or the posterior of an ArviZ store."""
    import zarr

    root: Any = zarr.open(str(path), mode="r")
    if hasattr(root, "shape"):
        return array_source(_complete(root))
    group = root.get(GROUPS[0], root)
    if variable is not None and variable not in group and variable in root.get(GROUPS[1], ()):
        group = root[GROUPS[1]]
    arrays = dict(group.arrays())
    name = _choose(arrays, variable)
    own = {key: arrays[key][:] for key in (CHAIN, WEIGHT) if key in arrays}
    names = group.attrs.get(NAMES)
    return _arrays_source({name: _complete(arrays[name]), **own, **({} if names is None else {NAMES: names})}, name)


def _complete(array: Any) -> Any:
    """Raises an error for missing chunks: Zarr reads them as zeros, which would be labels."""
    missing = array.nchunks - array.nchunks_initialized
    if missing:
        raise ValueError(f"{missing} of its {array.nchunks} chunks are missing: it was not written completely")
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
    problem = f"it has {'several' if candidates else 'no'} arrays of draws; name one with "
    raise ArgumentError(problem, Setting("variable"), f": {', '.join(candidates or arrays)}")


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


def parquet_source(path: Path, variable: str | None, long: Names | None = None) -> Source:
    """A table that is read some rows at a time; a long table is read as a whole."""
    import pyarrow.parquet

    if path.is_dir():
        return table_source(pyarrow.parquet.read_table(path), variable, long)
    file = pyarrow.parquet.ParquetFile(path)
    return tables_source(_batches(file), file.schema_arrow.empty_table(), variable, long)


def _batches(file: Any) -> Iterator[Any]:
    import pyarrow

    rows = max(1, CELLS_PER_BLOCK // max(1, len(file.schema_arrow)))
    with file:
        for batch in file.iter_batches(batch_size=rows):
            yield pyarrow.Table.from_batches([batch])


def feather_source(path: Path, variable: str | None, long: Names | None = None) -> Source:
    """A table of Arrow's file format."""
    import pyarrow.feather

    return table_source(pyarrow.feather.read_table(path), variable, long)


def netcdf_source(path: Path, variable: str | None) -> Source:
    """The group `posterior` of an ArviZ file, or the root if there is none; read on demand.

    A variable that is not there is looked for in the group `posterior_predictive`.
    """
    groups = {GROUPS[0]: _open_netcdf(path)}
    if variable not in groups[GROUPS[0]].data_vars and (other := _open_group(path, GROUPS[1])) is not None:
        groups[GROUPS[1]] = other

    def close() -> None:
        for dataset in groups.values():
            dataset.close()

    try:
        source = groups_source(groups, variable)
    except ValueError:
        close()
        raise
    return replace(source, blocks=_closing(source.blocks, close))


def _open_group(path: Path, group: str) -> Any:
    """A further group of a file that has been opened before; None if there is none."""
    import xarray as xr

    try:
        return xr.open_dataset(path, group=group)
    except (OSError, KeyError, ValueError):
        return None


def _open_netcdf(path: Path) -> Any:
    import xarray as xr

    with path.open("rb") as stream:
        start = stream.read(4)
    magic = next((magic for magic in _NETCDF_ENGINES if start.startswith(magic)), None)
    if magic is None:
        raise ValueError("it is not a netCDF file")
    if magic == _HDF5:
        check_metadata_end(path)
    try:
        return xr.open_dataset(path, group=None if magic == _CLASSIC else "posterior")
    except ValueError:  # if no engine fits, xarray's message is a page about all engines
        if _NETCDF_ENGINES[magic] & set(xr.backends.list_engines()):
            raise
        raise ImportError("no package that reads this kind of netCDF is installed") from None
    except (OSError, KeyError) as error:
        if "group" not in str(error).lower():
            raise
        return xr.open_dataset(path)


def _closing(blocks: Iterator[Block], close: Callable[[], None]) -> Iterator[Block]:
    try:
        yield from blocks
    finally:
        close()
