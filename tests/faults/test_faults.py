"""Allocations, threads, writes and renames that fail in turn: an error, nothing half written, no thread left."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from support import forks

HERE = Path(__file__).parent
COMPILER = os.environ.get("CXX", "c++")
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which(COMPILER) is None, reason="needs a C++ compiler and LD_PRELOAD"
)
SEARCHES = ("search", "salso", "greedy", "binder", "similarity", "pairwise_distances")
MODELS = ("GaussianDPM", "StochasticBlockModel", "LatentBlockModel", "maximize")
FOLDERS = ("run", "save", "report", "command")
FILES = (".csv", ".csv.gz", ".npy", ".npz", ".zarr", ".parquet")
CASES = [
    *(("allocation", names) for names in ((*SEARCHES, "as_sample"), MODELS)),
    *(("thread", names) for names in (SEARCHES, MODELS)),
    *((kind, names) for kind in ("write", "rename", "sync") for names in (FOLDERS, FILES)),
]


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    """The library that lets calls fail."""
    library = tmp_path_factory.mktemp("faults") / "faults.so"
    done = forks.command(COMPILER, "-O1", "-shared", "-fPIC", "-o", library, HERE / "faults.cpp", "-ldl")
    assert done.returncode == 0, done.stderr
    return library


@pytest.mark.parametrize(("kind", "names"), CASES, ids=lambda part: part if isinstance(part, str) else part[0])
def test_each_fault_is_an_error_or_is_done_without(tmp_path, shim, kind, names):
    environment = os.environ | {
        "LD_PRELOAD": str(shim),
        "PYTHONPATH": os.pathsep.join(sys.path),
        "OPENBLAS_NUM_THREADS": "1",
    }
    words = [sys.executable, "-X", "faulthandler", HERE / "faulty.py", kind, tmp_path, *names]
    child = forks.command(*words, timeout=900, env=environment)
    assert child.returncode == 0, child.stdout + child.stderr[:3000]
    said = [json.loads(line) for line in child.stdout.splitlines()]
    assert [one["action"] for one in said] == list(names)
    for one in said:
        assert one["faults"] > 0, f"{one['action']}: no call of this kind was met"
        assert kind == "thread" or any(one["errors"]), f"{one['action']}: no fault was told"
