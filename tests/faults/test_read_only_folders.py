"""Folders in which nothing may be written: they can be read, and one sentence says that nothing was written."""

import os
import sys

import numpy as np
import pytest

import partita as pt
from support import forks
from support.commands import one_sentence

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="capabilities of Linux")

DRAWS = pt.datasets.make_draws(12, 40, 3, rng=1)
#: Root obeys the permissions of files once it has given up its capabilities.
ORDINARY = """
import ctypes, os
if os.geteuid() == 0:
    version, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None, use_errno=True).capset(version, nothing) == 0
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with inputs that may be read only, to which the process belongs."""
    path = tmp_path / "kept"
    path.mkdir()
    pt.write_draws(path / "draws.npy", DRAWS)
    pt.as_sample(DRAWS).save(path / "sample")
    rows = np.random.default_rng(1).normal(size=(12, 2))
    np.savetxt(path / "table.csv", rows, delimiter=",", header="a,b", comments="")
    pt.models.GaussianDPM().sample(rows, draws=5, warmup=2, chains=1, rng=1, path=path / "run")
    folders = [path, path / "sample", path / "run"]
    for one in folders:
        one.chmod(0o555)
    before = sorted(os.listdir(path))
    yield path
    assert sorted(os.listdir(path)) == before
    for one in folders:
        one.chmod(0o755)


def partita(*words, cwd):
    return forks.run(ORDINARY + forks.COMMAND, *words, cwd=cwd)


@pytest.mark.parametrize("source", ["draws.npy", "sample", "run"])
def test_what_is_in_them_is_read(folder, source):
    done = partita("estimate", source, "--json", "--runs", 1, cwd=folder)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("estimate", "draws.npy", "--out", "new", "--runs", 1),
        ("convert", "draws.npy", "--out", "new.csv"),
        ("convert", "draws.npy", "--out", "new.zarr"),
        ("convert", "draws.npy", "--out", "draws.npy", "--force"),
        ("report", "draws.npy", "--out", "new.html", "--runs", 1),
        ("sample", "dpm", "table.csv", "--out", "new", "--draws", 5),
        ("sample", "dpm", "table.csv", "--out", "run", "--resume", "--draws", 7),
        ("demo", "--draws", 5),
    ],
    ids=lambda words: " ".join(map(str, words[:4])),
)
def test_what_cannot_be_written_is_said(folder, words):
    done = partita(*words, cwd=folder)
    assert done.returncode == 2, done
    assert "Permission denied" in one_sentence(done.stderr)


def test_functions_name_the_path(folder):
    code = """
import partita as pt
for call in (
    lambda: pt.write_labels("new.csv", [0, 1]),
    lambda: pt.write_draws("new.npz", [[0, 1]]),
    lambda: pt.as_sample([[0, 1]]).save("new"),
    lambda: pt.report(pt.estimate([[0, 1], [0, 0]], rng=1), path="new.html"),
):
    try:
        call()
    except PermissionError as error:
        print(error.filename)
"""
    done = forks.run(ORDINARY + code, cwd=folder)
    assert done.stdout.split() == ["new.csv", "new.npz", "new", "new.html"], done
