"""A PartitionSample as a file, one function a format."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from partita._export import column_names, draws_by_chain, extra_columns, to_arrow
from partita._sources.files import CHAIN, DRAWS, NAMES, WEIGHT
from partita.sample import PartitionSample


def write_csv(path: Path, sample: PartitionSample) -> None:
    with path.open("wb") as stream:
        _write_lines(stream, sample)


def write_csv_gz(path: Path, sample: PartitionSample) -> None:
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 5, raw, mtime=0) as stream:
        _write_lines(cast(BinaryIO, stream), sample)


def _write_lines(stream: BinaryIO, sample: PartitionSample) -> None:
    """The header is quoted, so that names that look like numbers are known for names."""
    extra = extra_columns(sample)
    header = [*extra, *column_names(sample)]
    if any("\n" in name or "\r" in name for name in header):
        raise ValueError("names with line breaks cannot be the header of a csv file")
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(header)
    tokens = [*map(str, range(int(sample.n_clusters.max()))), "-1"]  # a gap, -1, is the last from the end
    lines = [",".join(map(tokens.__getitem__, labels.tolist())) for labels in sample.labels]
    columns = [values.tolist() for values in extra.values()]
    for draw, row in enumerate(sample.index.tolist()):
        text.write("".join(f"{column[draw]!r}," for column in columns) + lines[row] + "\n")
    text.flush()
    text.detach()


def write_npy(path: Path, sample: PartitionSample) -> None:
    if sample.is_weighted:
        raise ValueError("an npy file has no room for weights; use npz")
    draws = sample.to_numpy()
    with path.open("wb") as stream:
        np.save(stream, draws if sample.chains is None else draws[draws_by_chain(sample)], allow_pickle=False)


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


def _arrays(sample: PartitionSample) -> dict[str, Any]:
    arrays = {DRAWS: sample.to_numpy()}
    if sample.chains is not None:
        arrays[CHAIN] = sample.chains
    if sample.is_weighted:
        arrays[WEIGHT] = sample.draw_weights
    return arrays


def write_parquet(path: Path, sample: PartitionSample) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(to_arrow(sample), path)


def write_netcdf(path: Path, sample: PartitionSample) -> None:
    sample.to_xarray().to_netcdf(path, group="posterior")
