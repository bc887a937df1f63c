"""A PartitionSample as a file, with one function per format."""

from __future__ import annotations

import csv
import errno
import gzip
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from partita._support import npy
from partita.draws.export import draws_by_chain, extra_columns, file_columns, to_arrow
from partita.draws.sources.files import CHAIN, DRAWS, NAMES, WEIGHT

if TYPE_CHECKING:
    from partita.draws.sample import PartitionSample

_ZARR_METADATA = ("zarr.json", ".zgroup", ".zarray", ".zattrs", ".zmetadata")  # of versions 3 and 2
_CHUNK = re.compile(r"c|\d+(\.\d+)*")


def write_csv(path: Path, sample: PartitionSample) -> None:
    with path.open("wb") as stream:
        _write_lines(stream, sample)


def write_csv_gz(path: Path, sample: PartitionSample) -> None:
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 5, raw, mtime=0) as stream:
        _write_lines(cast(BinaryIO, stream), sample)


def _write_lines(stream: BinaryIO, sample: PartitionSample) -> None:
    """Writes csv; the header is quoted, so that names that look like numbers are recognised as names."""
    extra = extra_columns(sample)
    header = [*extra, *file_columns(sample)]
    if any("\n" in name or "\r" in name for name in header):
        raise ValueError("names with line breaks cannot be the header of a csv file")
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(header)
    tokens = [*map(str, range(int(sample.n_clusters.max()))), "-1"]  # index -1, a missing label, is the last entry
    lines = [",".join(map(tokens.__getitem__, labels.tolist())) for labels in sample.labels]
    columns = [values.tolist() for values in extra.values()]
    for draw, row in enumerate(sample.index.tolist()):
        text.write("".join(f"{column[draw]!r}," for column in columns) + lines[row] + "\n")
    text.flush()
    text.detach()


def write_npy(path: Path, sample: PartitionSample) -> None:
    if sample.is_weighted:
        raise ValueError("an npy file cannot hold weights; use npz")
    draws = sample.to_numpy()
    npy.write_npy(path, draws if sample.chains is None else draws[draws_by_chain(sample)])


def write_npz(path: Path, sample: PartitionSample) -> None:
    arrays = _arrays(sample)
    if sample.names is not None:
        arrays[NAMES] = np.array(sample.names, dtype=np.str_)
    with path.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **arrays)


def write_zarr(path: Path, sample: PartitionSample) -> None:
    import zarr

    group = zarr.open_group(str(path), mode="w")
    for name, values in _arrays(sample).items():
        group[name] = values
    if sample.names is not None:
        group.attrs[NAMES] = list(sample.names)


def foreign_in_zarr(folder: Path) -> str | None:
    """The name of something in a folder that `write_zarr` did not write; None if there is nothing."""
    if not (folder / DRAWS).is_dir():
        return next((entry.name for entry in sorted(folder.iterdir())), None)
    for entry in sorted(folder.rglob("*")):
        array, *inner = entry.relative_to(folder).parts
        in_array = array in (DRAWS, CHAIN, WEIGHT) and all(_CHUNK.fullmatch(part) for part in inner[:-1])
        is_chunk = in_array and (not inner or _CHUNK.fullmatch(inner[-1]) is not None)
        is_metadata = entry.name in _ZARR_METADATA and entry.is_file() and (in_array or not inner)
        if not (is_chunk or is_metadata) or entry.is_symlink():
            return str(entry.relative_to(folder))
    return None


def _arrays(sample: PartitionSample) -> dict[str, Any]:
    return {DRAWS: sample.to_numpy(), **extra_columns(sample, CHAIN, WEIGHT)}


def write_parquet(path: Path, sample: PartitionSample) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(to_arrow(sample), path)


def write_feather(path: Path, sample: PartitionSample) -> None:
    import pyarrow.feather

    pyarrow.feather.write_feather(to_arrow(sample), path)


def write_netcdf(path: Path, sample: PartitionSample) -> None:
    try:
        sample.to_xarray().to_netcdf(path, group="posterior")
    except RuntimeError as error:  # the netCDF library reports nothing more specific for a full disk
        raise OSError(errno.EIO, f"it could not be written ({error}), as on a full disk", str(path)) from None
