"""Runs on disk: checkpoints that are whole or not there. The format is described in docs/formats.md."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = "partita-run"
VERSION = 1


class RunFormatError(ValueError):
    """A file of a run is damaged, or is not one of ours."""


@dataclass(frozen=True)
class Plan:
    """How long a run is. Draw t of a chain is its state after warmup + t * thin sweeps, t = 1, 2, ..."""

    draws: int
    warmup: int
    thin: int
    chains: int
    seed: int

    @property
    def sweeps(self) -> int:
        """Sweeps of one chain, from first to last."""
        return self.warmup + self.draws * self.thin


@dataclass(frozen=True, eq=False)
class Part:
    """One checkpoint of one chain: the draws since the last one, and the sampler's state after them."""

    labels: NDArray[Any]  # (draws, items)
    stats: NDArray[np.float64]  # (draws, statistics)
    state: bytes
    sweeps: int


@dataclass(frozen=True, eq=False)
class Run:
    """A run's directory, opened and checked."""

    path: Path
    model: str
    params: Mapping[str, Any]
    plan: Plan
    stat_names: tuple[str, ...]

    def inputs(self) -> dict[str, NDArray[Any]]:
        """The data the run was started with, by name."""
        listed = _read_json(self.path / "manifest.json")["inputs"]
        return {name: _load_npy(self.path / entry["file"], entry["sha256"]) for name, entry in listed.items()}

    def parts(self, chain: int) -> list[Part]:
        """Every checkpoint of a chain, in order."""
        return [_load_part(self._folder(chain), entry) for entry in self._listed(chain)]

    def append(self, chain: int, part: Part) -> None:
        """Adds a checkpoint: until the last rename the run is as it was, after it the checkpoint is there."""
        folder = self._folder(chain)
        listed = self._listed(chain)
        # a checkpoint of the warmup holds no draws: only its state counts, and a newer one replaces it
        superseded = [entry for entry in listed if entry["draws"] == 0]
        kept = [entry for entry in listed if entry["draws"] > 0]
        content = _part_bytes(part)
        # named by the sweep it ends at; one that a killed run left unlisted may be met again, and is replaced
        entry: dict[str, Any] = {
            "file": f"part-{part.sweeps:012d}.npz",
            "sha256": _digest(content),
            "draws": len(part.labels),
            "sweeps": part.sweeps,
        }
        _write_atomically(folder / entry["file"], content)
        _write_json(folder / "parts.json", {"parts": [*kept, entry]})
        for old in superseded:
            if old["file"] != entry["file"]:
                (folder / old["file"]).unlink(missing_ok=True)

    def _folder(self, chain: int) -> Path:
        return self.path / f"chain-{chain:03d}"

    def _listed(self, chain: int) -> list[dict[str, Any]]:
        parts: list[dict[str, Any]] = _read_json(self._folder(chain) / "parts.json")["parts"]
        return parts


def create_run(
    path: str | os.PathLike[str],
    model: str,
    params: Mapping[str, Any],
    plan: Plan,
    stat_names: tuple[str, ...],
    inputs: Mapping[str, NDArray[Any]],
) -> Run:
    """Makes a run's directory in one step: it is built beside its place and then renamed."""
    target = Path(path)
    if target.exists() or target.is_symlink():
        raise FileExistsError(
            f"{target} is already there and nothing was written; partita.resume({str(target)!r}) goes on with a run"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "model": model,
            "params": dict(params),
            "plan": asdict(plan),
            "stat_names": list(stat_names),
            "inputs": {name: _save_npy(building, name, array) for name, array in inputs.items()},
        }
        for chain in range(plan.chains):
            (building / f"chain-{chain:03d}").mkdir()
            _write_json(building / f"chain-{chain:03d}" / "parts.json", {"parts": []})
        _write_json(building / "manifest.json", manifest)
        building.rename(target)
        _sync(target.parent)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    return Run(target, model, params, plan, stat_names)


def open_run(path: str | os.PathLike[str]) -> Run:
    """Opens a run's directory; refuses, by name, what is damaged or foreign."""
    target = Path(path)
    if not target.exists():
        raise FileNotFoundError(f"{target} is not there: no run to go on with")
    if not target.is_dir():
        raise RunFormatError(f"{target} is a file; a run is a directory with a manifest.json")
    if not (target / "manifest.json").is_file():
        raise RunFormatError(f"{target} has no manifest.json: it is not a partita run")
    manifest = _read_json(target / "manifest.json")
    if manifest.get("format") != FORMAT:
        raise RunFormatError(f"{target / 'manifest.json'} has format {manifest.get('format')!r}, not {FORMAT!r}")
    if manifest.get("version") != VERSION:
        raise RunFormatError(
            f"{target / 'manifest.json'} has version {manifest.get('version')!r}; this partita reads {VERSION}"
        )
    names = tuple(manifest["stat_names"])
    return Run(target, manifest["model"], manifest["params"], Plan(**manifest["plan"]), names)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write_atomically(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    _sync(path.parent)


def _sync(folder: Path) -> None:
    """Makes a rename last through a power cut, where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_json(path: Path, body: Mapping[str, Any]) -> None:
    text = json.dumps(body, sort_keys=True, allow_nan=False)
    document = {"body": body, "sha256": _digest(text.encode())}
    _write_atomically(path, json.dumps(document, sort_keys=True, indent=1, allow_nan=False).encode())


def _read_json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
        body: dict[str, Any] = document["body"]
        intact = _digest(json.dumps(body, sort_keys=True).encode()) == document["sha256"]
    except FileNotFoundError:
        raise RunFormatError(f"{path} is missing from the run") from None
    except (ValueError, KeyError, TypeError) as error:
        raise RunFormatError(f"{path} is damaged or not a partita file: {error}") from error
    if not intact:
        raise RunFormatError(f"{path} is damaged: its checksum does not fit its content")
    return body


def _read_checked(path: Path, digest: str) -> bytes:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise RunFormatError(f"{path} is missing from the run") from None
    if _digest(content) != digest:
        raise RunFormatError(f"{path} is damaged: its checksum does not fit its content")
    return content


def _save_npy(folder: Path, name: str, array: NDArray[Any]) -> dict[str, str]:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    _write_atomically(folder / f"{name}.npy", buffer.getvalue())
    return {"file": f"{name}.npy", "sha256": _digest(buffer.getvalue())}


def _load_npy(path: Path, digest: str) -> NDArray[Any]:
    array: NDArray[Any] = np.load(io.BytesIO(_read_checked(path, digest)), allow_pickle=False)
    return array


def _part_bytes(part: Part) -> bytes:
    buffer = io.BytesIO()
    state = np.frombuffer(part.state, dtype=np.uint8)
    np.savez(buffer, labels=part.labels, stats=part.stats, state=state)
    return buffer.getvalue()


def _load_part(folder: Path, entry: Mapping[str, Any]) -> Part:
    path = folder / entry["file"]
    try:
        with np.load(io.BytesIO(_read_checked(path, entry["sha256"])), allow_pickle=False) as arrays:
            return Part(arrays["labels"], arrays["stats"], arrays["state"].tobytes(), entry["sweeps"])
    except (KeyError, zipfile.BadZipFile) as error:
        raise RunFormatError(f"{path} is damaged: {error}") from error
