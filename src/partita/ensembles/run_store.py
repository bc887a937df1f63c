"""The runs of `repeat` in a folder, so that they can be continued: one npy file per run, and the plan in JSON."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from partita._support.atomic import write_bytes
from partita._support.checked_json import from_checked_json, to_checked_json
from partita.ensembles.base_clusterings import LEFT_OUT, Labels

PLAN = "repeat.json"
FORMAT, VERSION = "partita repeat", 1


class RunStore:
    """The runs that were made so far, in a folder; those of another plan raise an error.

    The plan is what determines a run: data, clusterer, seed, resampling, settings. A seed of None is that of the
    folder.
    """

    def __init__(self, folder: Path, plan: dict[str, Any]) -> None:
        self._folder, self._n_items = folder, plan["n_items"]
        if (folder / PLAN).exists():
            self.seed = self._checked(plan)
            return
        if folder.exists() and any(folder.iterdir()):
            raise ValueError(f"path {folder} contains files, but no runs of repeat")
        self.seed = int(np.random.SeedSequence().generate_state(1)[0]) if plan["seed"] is None else plan["seed"]
        folder.mkdir(parents=True, exist_ok=True)
        body = {"format": FORMAT, "version": VERSION, **plan, "seed": self.seed}
        write_bytes(folder / PLAN, to_checked_json(body))

    def _checked(self, plan: dict[str, Any]) -> int:
        try:
            known = from_checked_json((self._folder / PLAN).read_bytes())
        except ValueError as error:
            raise ValueError(f"path {self._folder}: {PLAN}: {error}") from None
        if known.get("format") != FORMAT or known.get("version") != VERSION:
            raise ValueError(f"path {self._folder} does not contain runs that this version of partita can continue")
        for name, value in plan.items():
            if known.get(name) != value and not (name == "seed" and value is None):
                if name == "data":
                    raise ValueError(f"path {self._folder} contains runs on other data")
                raise ValueError(f"path {self._folder} contains runs with {name}={known.get(name)!r}, not {value!r}")
        return int(known["seed"])

    def read(self, run: int) -> Labels | None:
        """The labels of a run; None if it was not made, or its file is damaged."""
        try:
            with self._name(run).open("rb") as stream:
                labels = np.load(stream, allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return None
        if labels.shape != (self._n_items,) or labels.dtype.kind != "i" or labels.min() < LEFT_OUT:
            return None
        return np.asarray(labels, np.intp)

    def write(self, run: int, labels: Labels) -> None:
        """Writes a run; the file appears when it is complete."""
        stream = io.BytesIO()
        np.save(stream, labels.astype(np.int32), allow_pickle=False)
        write_bytes(self._name(run), stream.getvalue())

    def _name(self, run: int) -> Path:
        return self._folder / f"run-{run:05d}.npy"
