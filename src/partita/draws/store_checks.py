"""Checks of the folder of a stored sample, which may come from anywhere, before any of it is used.

The labels are read once, to compare their checksum and to check that each draw is canonical, so that no label exceeds
the range for which the search allocates memory. What was checked is kept in memory, because the core may not be shown
labels that change: it reads them several times, first to count and then to fill, so that even a label within its range
would make it write elsewhere. Only labels that take much of the free memory are mapped instead. Another program that
changes their file then ends the process at worst (SIGSEGV, SIGBUS). `check_unchanged` raises an error then, and is
called wherever a sample is passed in, passed to the core or copied.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita import _core
from partita._support.memory import free_bytes
from partita._support.npy import Header, read_header
from partita._support.validate import check_weights

_BYTES_AT_A_TIME = 1 << 20  # fits the caches: hashed, then checked
_ALWAYS_READ = 1 << 28
_SHARE_OF_MEMORY = 4  # labels, the copy that a search makes, and as much again for its tables
_IDENTITY = "_partita_identity"  # of the file that is mapped, kept with the array


def file_facts(path: Path) -> dict[str, Any]:
    """The size and the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while content := stream.read(_BYTES_AT_A_TIME):
            digest.update(content)
    return {"bytes": path.stat().st_size, "sha256": digest.hexdigest()}


def load_labels(path: Path, facts: Mapping[str, Any], *, check: bool) -> NDArray[Any]:
    """The labels of a file, checked: in memory, or mapped if they are large. `check=False` maps them unchecked."""
    identity = _identity(path)
    if _fits_in_memory(path.stat().st_size):
        return _read_checked(path, facts, keep=True)
    if check:
        _read_checked(path, facts, keep=False)
    labels: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    setattr(labels, _IDENTITY, identity)
    check_unchanged(labels)
    return labels


def check_unchanged(labels: NDArray[Any]) -> None:
    """Raises an error for labels whose file has changed since it was checked; to read them might end the process."""
    known = getattr(labels, _IDENTITY, None)
    if known is None or not isinstance(labels, np.memmap) or labels.filename is None:
        return
    path = Path(os.fspath(labels.filename))
    if not path.exists() or _identity(path)[:2] != known[:2]:  # the name now belongs to another file; ours still exists
        return
    if _identity(path) != known:
        raise ValueError(f"{path} has changed while it was open as a sample: open it again")


def _fits_in_memory(size: int) -> bool:
    return size <= max(_ALWAYS_READ, (free_bytes() or 0) // _SHARE_OF_MEMORY)


def _identity(path: Path) -> tuple[int, int, int, int]:
    facts = path.stat()
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def _read_checked(path: Path, facts: Mapping[str, Any], *, keep: bool) -> NDArray[Any]:
    """The labels of a file, in memory if they are kept; else only a block of them.

    Checks the checksum, the type and the shape, and that draws are canonical.
    """
    size = path.stat().st_size
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        header = read_header(stream, size)
        _check_header(header, size)
        stream.seek(0)
        digest.update(stream.read(header.offset))
        n_rows, n_items = header.shape
        step = max(1, _BYTES_AT_A_TIME // (n_items * header.dtype.itemsize))
        labels = np.empty((n_rows if keep else min(step, n_rows), n_items), header.dtype)
        for start in range(0, n_rows, step):
            rows = labels[start : start + step] if keep else labels[: n_rows - start]
            if stream.readinto(rows.reshape(-1).data) != rows.nbytes:
                raise ValueError(f"{path.name} was truncated while it was read")
            digest.update(rows.reshape(-1).data)
            bad = _core.first_not_canonical(rows)
            if bad is not None:
                raise ValueError(f"draw {start + bad} of {path.name} has labels that are not canonical")
    if facts.get("sha256") != digest.hexdigest() or facts.get("bytes") != size:
        raise ValueError(f"{path.name} is damaged: its checksum does not match its content")
    labels.flags.writeable = False
    return labels


def _check_header(header: Header, size: int) -> None:
    good = len(header.shape) == 2 and min(header.shape) >= 1 and not header.fortran_order
    good = good and header.dtype.kind in "iu" and header.dtype.itemsize <= 4 and header.dtype.isnative
    if not good or size != header.offset + np.prod(header.shape, dtype=object) * header.dtype.itemsize:
        raise ValueError(f"labels.npy has {header.dtype.str} of shape {header.shape}, which cannot be labels of draws")


def check_arrays(arrays: Mapping[str, Any], names: Any) -> None:
    """Checks weights, index, chains and names: their lengths and their ranges."""
    n_unique, n_items = arrays["labels"].shape
    for name in ("weights", "index"):
        if arrays[name] is None:
            raise ValueError(f"{name}.npy is missing")
    if arrays["weights"].dtype != np.float64 or arrays["weights"].shape != (n_unique,):
        raise ValueError(f"weights.npy does not have {n_unique} weights, one per draw of labels.npy")
    check_weights(arrays["weights"], n_unique)
    if abs(float(arrays["weights"].sum()) - 1.0) > 1e-6:
        raise ValueError("the weights of weights.npy do not sum to 1")
    _check_places(arrays["index"], n_unique, "index.npy")
    if np.bincount(arrays["index"], minlength=n_unique).min() < 1:
        raise ValueError("a draw of labels.npy is not in index.npy")
    if arrays["chains"] is not None:
        _check_places(arrays["chains"], len(arrays["index"]), "chains.npy")
        if len(arrays["chains"]) != len(arrays["index"]):
            raise ValueError(f"chains.npy has {len(arrays['chains'])} draws, but index.npy {len(arrays['index'])}")
    if (noise := arrays["noise"]) is not None:
        if noise.dtype != np.float64 or noise.shape != (n_items,):
            raise ValueError(f"noise.npy does not have {n_items} shares, one per item")
        if ((noise < 0) | (noise > 1)).any():
            raise ValueError("noise.npy has shares outside 0 to 1")
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise ValueError("its names are not a list of texts")
    if names is not None and len(names) != n_items:
        raise ValueError(f"it names {len(names)} items, but labels.npy has {n_items}")


def _check_places(places: NDArray[Any], count: int, name: str) -> None:
    good = places.ndim == 1 and places.size > 0 and places.dtype.kind in "iu" and places.dtype.itemsize == 8
    if not good or int(places.min()) < 0 or int(places.max()) >= count:
        raise ValueError(f"{name} has numbers outside 0 to {count - 1}")
