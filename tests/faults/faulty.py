"""Run in a child process with the library of faults.cpp loaded first: calls again and again, each time another fault.

``python faulty.py KIND FOLDER ACTION...`` prints one line of JSON for each action. A fault must end in an error of the
right kind, or in the answer that there is without it; either way no thread stays, and files are as before or as they
should be.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import partita as pt

KINDS = {"allocation": 1, "thread": 2, "write": 3, "rename": 4, "sync": 5}
ERRORS = {
    "allocation": (MemoryError,),
    "thread": (RuntimeError,),
    "write": (OSError,),
    "rename": (OSError,),
    "sync": (OSError,),
}
RNG = np.random.default_rng(1)
DRAWS = pt.as_sample(pt.datasets.make_draws(30, 40, 4, rng=1), names=[f"x{i}" for i in range(30)])
WIDE = pt.as_sample(pt.datasets.make_draws(200, 20, 4, rng=1))  # wide enough for several threads
X = RNG.normal(size=(12, 2))
GRAPH = np.triu((RNG.random((12, 12)) < 0.3).astype(int), 1)
CHAIN = {"draws": 6, "warmup": 2, "chains": 2, "n_jobs": 3, "rng": 1}


@dataclass(frozen=True)
class Action:
    """What is done, given a path; and what was written there, read again, as an array to be compared."""

    do: Callable[[Path], Any]
    read: Callable[[Path], Any] | None = None


def estimate(method, loss="vi"):
    return Action(lambda path: pt.estimate(DRAWS, loss, method, pt.Search(runs=3, n_jobs=3), rng=1).labels)


def chain(model, data):
    return Action(lambda path: model.sample(data, **CHAIN).labels)


def run(path):
    return pt.models.GaussianDPM().sample(X, **CHAIN, path=path).labels


def written(suffix):
    return Action(
        lambda path: pt.write_draws(path.with_name(f"out{suffix}"), DRAWS),
        lambda path: pt.read_draws(path.with_name(f"out{suffix}")).to_numpy(),
    )


def report(path):
    best = pt.estimate(DRAWS, search=pt.Search(runs=1, n_jobs=1), rng=1)
    pt.report(best, path=path.with_suffix(".html"))


def command(path):
    from typer.testing import CliRunner

    from partita.cli import app

    words = ["estimate", str(INPUT), "--out", str(path), "--runs", "1", "--seed", "1"]
    result = CliRunner().invoke(app, words)
    if result.exit_code:
        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1), result.output
        raise OSError(result.stderr)


ACTIONS = {
    "search": estimate("search"),
    "salso": estimate("salso"),
    "greedy": estimate("greedy", "nid"),
    "binder": estimate("search", "binder"),
    "as_sample": Action(lambda path: pt.as_sample(DRAWS.to_numpy()).labels),
    "similarity": Action(lambda path: pt.similarity(WIDE, n_jobs=3)),
    "pairwise_distances": Action(lambda path: pt.pairwise_distances(DRAWS, n_jobs=3)),
    "GaussianDPM": chain(pt.models.GaussianDPM(), X),
    "MixtureDPM": chain(pt.models.MixtureDPM(), [[None, 1.0], ["a", 2.0], ["b", None]] * 4),
    "StochasticBlockModel": chain(pt.models.StochasticBlockModel(), GRAPH),
    "LatentBlockModel": chain(pt.models.LatentBlockModel(), GRAPH),
    "maximize": Action(
        lambda path: pt.models.StochasticBlockModel().maximize(GRAPH, restarts=4, n_jobs=3, rng=1).labels
    ),
    "run": Action(run, lambda path: pt.resume(path, n_jobs=1).labels),
    "save": Action(DRAWS.save, lambda path: np.array(pt.open_sample(path).labels)),
    "report": Action(report, lambda path: np.array(path.with_suffix(".html").read_text().endswith("</html>\n"))),
    "command": Action(command, lambda path: np.array(sorted(entry.name for entry in path.iterdir()))),
    **{suffix: written(suffix) for suffix in (".csv", ".csv.gz", ".npy", ".npz", ".zarr", ".parquet")},
}


def calls():
    """Which call fails: each of the first, then ever fewer."""
    at = 1
    while True:
        yield at
        at += 1 + at // 12


def threads():
    return len(os.listdir("/proc/self/task"))


def some_stay(before):
    """Whether there are more threads than before; one that was joined may be in the list for a moment."""
    for _ in range(20):
        if threads() <= before:
            return False
        time.sleep(0.05)
    return True


def attempt(shim, kind, action, path, call):
    """What became of the action when that call failed: its answer, its error, and whether there was such a call."""
    answer, said = None, ""
    shim.fault_arm(KINDS[kind], call)
    try:
        answer = action.do(path)
    except ERRORS[kind] as error:
        said = f"{type(error).__name__}: {error}".replace(str(path.parent), "FOLDER")
    finally:
        fired = shim.fault_disarm()
    return answer, said, bool(fired)


def check_files(folder, wanted, action, said):
    """Nothing is half written: what is there is whole, and without an error it is there."""
    left = [entry.name for entry in folder.rglob("*") if entry.name.startswith(".partita-")]
    assert not left, f"left behind: {left}"
    there = any(folder.iterdir())
    assert there or said, "nothing was written and nothing was said"
    assert not there or np.array_equal(action.read(folder / "out"), wanted), "something else was written"


def suffer(shim, kind, name, place):
    """Lets one call after the other fail in an action, until it has no more such calls."""
    action = ACTIONS[name]
    place.mkdir()
    wanted = action.do(place / "out")
    on_disk = action.read(place / "out") if action.read else None
    before = threads() if not name.startswith(".") else 10**6  # libraries of file formats have threads of their own
    errors = []
    for call in calls():
        folder = place / f"call-{call}"
        folder.mkdir()
        answer, said, fired = attempt(shim, kind, action, folder / "out", call)
        assert not some_stay(before), f"{name}, call {call}: threads stay"
        assert said or np.array_equal(answer, wanted), f"{name}, call {call}: another answer"
        if action.read:
            check_files(folder, on_disk, action, said)
        if not fired:
            break
        errors.append(said)
    return {"action": name, "faults": len(errors), "errors": sorted(set(errors))}


def main(kind, place, *names):
    shim = ctypes.CDLL(None)
    shim.fault_disarm.restype = ctypes.c_long
    shim.fault_arm.argtypes = (ctypes.c_int, ctypes.c_long)
    warnings.simplefilter("ignore")
    INPUT.write_text("a,b,c\n0,0,1\n0,1,1\n0,0,1\n")
    for name in names:
        print(json.dumps(suffer(shim, kind, name, Path(place, name))), flush=True)


if __name__ == "__main__":
    INPUT = Path(sys.argv[2], "input.csv")
    main(*sys.argv[1:])
