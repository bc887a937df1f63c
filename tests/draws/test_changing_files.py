"""Files that change while they are read: a sample, or one sentence with the file's name; never a crash."""

import json

import numpy as np
import pytest

import partita as pt
from support import forks

SECONDS = 0.6
#: Reads a file again and again while a thread cuts it, changes bytes, appends, and restores it.
CHANGING = """
import json, sys, threading, time, warnings
import numpy as np, partita as pt
warnings.simplefilter("ignore")
path, seconds = sys.argv[1], float(sys.argv[2])
whole, rng, until = open(path, "rb").read(), np.random.default_rng(1), time.monotonic() + float(sys.argv[2])

def change():
    while time.monotonic() < until:
        with open(path, "r+b") as file:
            kind, place = rng.integers(4), int(rng.integers(len(whole)))
            if kind == 0:
                file.truncate(place)
            elif kind == 1:
                file.seek(place); file.write(rng.bytes(50))
            elif kind == 2:
                file.seek(0, 2); file.write(whole[:1000])
            else:
                file.truncate(0); file.write(whole)
        time.sleep(rng.random() * 0.01)

threading.Thread(target=change).start()
counts = {"read": 0, "refused": 0, "other": []}
while time.monotonic() < until:
    try:
        pt.read_draws(path)
        counts["read"] += 1
    except (ValueError, OSError) as error:
        if path in str(error):
            counts["refused"] += 1
        else:
            counts["other"].append(repr(error))
    except Exception as error:
        counts["other"].append(repr(error))
print(json.dumps(counts))
"""


@pytest.mark.parametrize(
    "name", ["draws.csv", "draws.csv.gz", "draws.npy", "fortran.npy", "draws.npz", "draws.parquet"]
)
def test_a_file_that_changes_while_it_is_read(tmp_path, name):
    draws = np.random.default_rng(0).integers(0, 9, (3000, 200))
    if name == "fortran.npy":
        np.save(tmp_path / name, np.asfortranarray(draws))
    else:
        pt.write_draws(tmp_path / name, draws)
    done = forks.run(CHANGING, tmp_path / name, SECONDS)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert counts["other"] == []
    assert counts["read"] + counts["refused"] > 0


def test_a_file_in_fortran_order_that_is_cut_after_it_was_opened(tmp_path):
    """NumPy mapped it, and the first look at a row ended the process with SIGBUS."""
    np.save(tmp_path / "draws.npy", np.asfortranarray(np.ones((300, 200), int)))
    code = """
import os, sys
from pathlib import Path
from partita.draws.sources.files import open_npy
rows = open_npy(Path(sys.argv[1]))
os.truncate(sys.argv[1], 200)
print(int(rows[0:300].sum()))
"""
    done = forks.run(code, tmp_path / "draws.npy")
    assert (done.returncode, done.stdout) == (0, "60000\n")
