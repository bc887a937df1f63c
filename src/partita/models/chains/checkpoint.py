"""Runs on disk: checkpoints that are whole or not there. The format is described in docs/formats.md.

A run may come from anywhere, so nothing in its files is taken on trust.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from partita._support.atomic import atomic_folder, write_bytes
from partita._support.checked_json import from_checked_json, to_checked_json
from partita._support.errors import Resume, Sentence
from partita._support.folder_lock import RunInUseError, lock_folder
from partita._support.npy import read_npy

FORMAT = "partita-run"
VERSION = 2
_LARGEST = 1 << 62  # sweeps are counted in 64 bits
_LARGEST_STATISTIC = 1e150  # far above what hyperparameters in their ranges give; squares are finite


class NoDrawsYetError(ValueError):
    """The chains of a run do not all have draws yet."""


class RunFormatError(ValueError):
    """A file of a run is damaged, or was not written by partita."""


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

    def draws_after(self, sweeps: int) -> int:
        """Draws that a chain has after this many sweeps."""
        return max(0, sweeps - self.warmup) // self.thin


def check_version(manifest: Mapping[str, Any], path: Path) -> None:
    """A newer library may write what this one can read, and says so by `oldest_reader`."""
    if manifest.get("format") != FORMAT:
        raise RunFormatError(f"{path} has format {manifest.get('format')!r}, not {FORMAT!r}")
    version, reader = manifest.get("version"), manifest.get("oldest_reader")
    if not (is_count(version) and is_count(reader)) or version < VERSION or reader > VERSION:
        raise RunFormatError(
            f"{path} has version {version!r} of the format, written by partita {manifest.get('library')!s:.30}; "
            f"this partita reads version {VERSION}"
        )


def check_manifest(manifest: Mapping[str, Any], path: Path) -> Plan:
    """The plan of a manifest, every entry of which has the type and the range that it must have."""
    try:
        plan = Plan(**manifest["plan"])
        numbers = (plan.draws, plan.warmup, plan.thin, plan.chains, plan.seed)
        names = manifest.get("names")
        good = (
            all(is_count(number) for number in numbers)
            and min(plan.draws, plan.thin, plan.chains) >= 1
            and max(plan.sweeps, plan.draws, plan.thin) < _LARGEST
            and plan.seed < 1 << 63
            and isinstance(manifest["model"], str)
            and isinstance(manifest["params"], dict)
            and _are_texts(manifest["stat_names"])
            and (names is None or _are_texts(names))
            and all(_is_input(name, entry) for name, entry in manifest["inputs"].items())
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise RunFormatError(f"{path} is not a valid run manifest: {error!r}") from None
    if not good:
        raise RunFormatError(f"{path} is not a valid run manifest: an entry has a value out of range")
    return plan


def part_name(sweeps: int) -> str:
    """The file of the checkpoint that ends at this sweep."""
    return f"part-{sweeps:012d}.npz"


def check_parts(entries: Any, plan: Plan, path: Path) -> list[dict[str, Any]]:
    """The checkpoints of a chain: in order, without a gap, each in the file that its last sweep names."""
    if not isinstance(entries, list):
        raise RunFormatError(f"{path} lists no parts")
    before = 0
    for place, entry in enumerate(entries):
        good = isinstance(entry, dict) and all(is_count(entry.get(name)) for name in ("sweeps", "draws"))
        if not good or entry.get("file") != part_name(entry["sweeps"]) or not isinstance(entry.get("sha256"), str):
            raise RunFormatError(f"{path}: part {place} is not described as a part of a run is")
        sweeps = entry["sweeps"]
        if not before < sweeps <= plan.sweeps:
            raise RunFormatError(f"{path}: part {place} ends at sweep {sweeps}, out of order")
        if entry["draws"] != plan.draws_after(sweeps) - plan.draws_after(before):
            raise RunFormatError(
                f"{path}: part {place} has {entry['draws']} draws of sweeps {before + 1} to {sweeps}, "
                f"which have {plan.draws_after(sweeps) - plan.draws_after(before)}: the chain is not complete"
            )
        before = sweeps
    return entries


def check_draws(labels: NDArray[Any], stats: NDArray[Any], draws: int, stat_names: Sequence[str], path: Path) -> None:
    """Labels and statistics of a part: as many as are listed, and such as a sampler gives."""
    good = labels.ndim == 2 and labels.dtype.kind == "u" and labels.dtype.isnative and len(labels) == draws
    good = good and stats.dtype == np.float64 and stats.shape == (draws, len(stat_names))
    if good and draws:
        good = labels.shape[1] > 0 and int(labels.max()) < labels.shape[1]
        good = good and bool((np.abs(stats) <= _LARGEST_STATISTIC).all())
    if not good:
        raise RunFormatError(f"{path} is damaged: its labels and statistics are not those of {draws} draws")


def is_count(value: Any) -> TypeGuard[int]:
    """Whether this is a whole number that is not negative."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _is_input(name: str, entry: Any) -> bool:
    """An input is in the run's folder, under its own name."""
    return name.isidentifier() and entry["file"] == f"{name}.npy" and isinstance(entry["sha256"], str)


__all__ = ["Part", "Plan", "Run", "RunFormatError", "RunInUseError", "create_run", "open_run"]


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
    names: tuple[str, ...] | None = None

    def inputs(self) -> dict[str, NDArray[Any]]:
        """The data the run was started with, by name."""
        listed = _read_json(self.path / "manifest.json")["inputs"]
        return {name: _load_npy(self.path / entry["file"], entry["sha256"]) for name, entry in listed.items()}

    def locked(self) -> AbstractContextManager[None]:
        """Keeps other processes from writing to the run meanwhile."""
        return lock_folder(self.path)

    def is_complete(self) -> bool:
        """Whether every chain is at its end: nothing will be written to the run any more."""
        listed = [self._listed(chain) for chain in range(self.plan.chains)]
        return all(entries and entries[-1]["sweeps"] == self.plan.sweeps for entries in listed)

    def extended(self, draws: int) -> Run:
        """The run with a plan for more draws, which is also written to its directory; nothing else changes."""
        if draws < self.plan.draws:
            raise ValueError(f"{self.path} is a run of {self.plan.draws} draws per chain: it cannot end at {draws}")
        if draws == self.plan.draws:
            return self
        longer = replace(self, plan=replace(self.plan, draws=draws))
        manifest = _read_json(self.path / "manifest.json")
        _write_json(self.path / "manifest.json", {**manifest, "plan": asdict(longer.plan)})
        return longer

    def parts(self, chain: int) -> list[Part]:
        """Every checkpoint of a chain, in order."""
        return [self._load_part(chain, entry) for entry in self._listed(chain)]

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
            "file": part_name(part.sweeps),
            "sha256": _digest(content),
            "draws": len(part.labels),
            "sweeps": part.sweeps,
        }
        entries = check_parts([*kept, entry], self.plan, folder / "parts.json")
        write_bytes(folder / entry["file"], content)
        _write_json(folder / "parts.json", {"parts": entries})
        for old in superseded:
            if old["file"] != entry["file"]:
                (folder / old["file"]).unlink(missing_ok=True)

    def _folder(self, chain: int) -> Path:
        folder = self.path / f"chain-{chain:03d}"
        if folder.is_symlink() or not folder.is_dir():
            raise RunFormatError(f"{folder} is not a folder of the run")
        return folder

    def _listed(self, chain: int) -> list[dict[str, Any]]:
        path = self._folder(chain) / "parts.json"
        return check_parts(_read_json(path).get("parts"), self.plan, path)

    def _load_part(self, chain: int, entry: Mapping[str, Any]) -> Part:
        path = self._folder(chain) / entry["file"]
        labels, stats, state = _load_npz(path, entry["sha256"], ("labels", "stats", "state"))
        check_draws(labels, stats, entry["draws"], self.stat_names, path)
        return Part(labels, stats, state.tobytes(), entry["sweeps"])


def create_run(
    path: str | os.PathLike[str],
    model: str,
    params: Mapping[str, Any],
    plan: Plan,
    stat_names: tuple[str, ...],
    inputs: Mapping[str, NDArray[Any]],
    names: tuple[str, ...] | None = None,
) -> Run:
    """Makes a run's directory in one step: it is built beside its place and then renamed."""
    from partita import __version__

    target = Path(path)
    if target.exists() or target.is_symlink():
        problem = f"{target} is already there and nothing was written; "
        raise FileExistsError(Sentence(problem, Resume(str(target)), " continues a run"))
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_folder(target) as building:
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "oldest_reader": VERSION,
            "library": __version__,
            "model": model,
            "params": dict(params),
            "plan": asdict(plan),
            "stat_names": list(stat_names),
            "names": None if names is None else list(names),
            "inputs": {name: _save_npy(building, name, array) for name, array in inputs.items()},
        }
        for chain in range(plan.chains):
            (building / f"chain-{chain:03d}").mkdir()
            _write_json(building / f"chain-{chain:03d}" / "parts.json", {"parts": []})
        _write_json(building / "manifest.json", manifest)
    return Run(target, model, params, plan, stat_names, names)


def open_run(path: str | os.PathLike[str]) -> Run:
    """Opens a run's directory; raises an error that names what is damaged or foreign."""
    target = Path(path)
    if not target.exists():
        raise FileNotFoundError(f"{target} does not exist: there is no run to continue")
    if not target.is_dir():
        raise RunFormatError(f"{target} is a file; a run is a directory with a manifest.json")
    if not (target / "manifest.json").is_file():
        raise RunFormatError(f"{target} has no manifest.json: it is not a partita run")
    manifest = _read_json(target / "manifest.json")
    check_version(manifest, target / "manifest.json")
    plan = check_manifest(manifest, target / "manifest.json")
    names = manifest.get("names")
    own = None if names is None else tuple(names)
    run = Run(target, manifest["model"], manifest["params"], plan, tuple(manifest["stat_names"]), own)
    for chain in range(plan.chains):  # ends at the first that is missing, whatever number the plan has
        run._folder(chain)
    return run


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write_json(path: Path, body: Mapping[str, Any]) -> None:
    write_bytes(path, to_checked_json(body))


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return from_checked_json(path.read_bytes())
    except FileNotFoundError:
        raise RunFormatError(f"{path} is missing from the run") from None
    except ValueError as error:
        raise RunFormatError(f"{path}: {error}") from error


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
    write_bytes(folder / f"{name}.npy", buffer.getvalue())
    return {"file": f"{name}.npy", "sha256": _digest(buffer.getvalue())}


def _load_npy(path: Path, digest: str) -> NDArray[Any]:
    content = _read_checked(path, digest)
    try:
        return _array_of(content)
    except ValueError as error:
        raise RunFormatError(f"{path} is damaged: {error}") from error


def _load_npz(path: Path, digest: str, names: tuple[str, ...]) -> list[NDArray[Any]]:
    content = _read_checked(path, digest)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [archive.getinfo(f"{name}.npy") for name in names]
            if any(member.file_size > len(content) for member in members):
                raise ValueError("its members are larger than the file")
            return [_array_of(archive.read(member)) for member in members]
    except (KeyError, ValueError, EOFError, OSError, RuntimeError, zipfile.BadZipFile) as error:
        raise RunFormatError(f"{path} is damaged: {error}") from error


def _array_of(content: bytes) -> NDArray[Any]:
    """The array of an npy file, whose header promises no more than is there."""
    return read_npy(io.BytesIO(content), len(content))


def _part_bytes(part: Part) -> bytes:
    buffer = io.BytesIO()
    state = np.frombuffer(part.state, dtype=np.uint8)
    np.savez(buffer, labels=part.labels, stats=part.stats, state=state)
    return buffer.getvalue()
