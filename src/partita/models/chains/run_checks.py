"""What a run's files must say before any of it is used. A run may come from anywhere, so nothing is taken on trust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

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
