"""Runs that are killed at random moments and resumed in fresh processes, and runs that two processes resume at once.

Each fresh process goes on with what the last one left, is killed in its turn, and the chain at the end is bit for bit
that of a run that nothing happened to. Of two processes on one run, one writes and the other is told who does.
"""

import json
import re
import sys
import time

import numpy as np
import pytest

from partita.models import resume
from support import forks

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills with SIGKILL")

#: How each kind of run is started: a function of the path and the seed, in a process of its own.
START = {
    "full": "GaussianDPM().sample(X, draws=4000, warmup=500, thin=2, chains=2, rng=seed, path=path)",
    "diag": "GaussianDPM('diag').sample(X, draws=4000, warmup=500, thin=2, chains=2, rng=seed, path=path)",
    "table": "MixtureDPM().sample(table, draws=4000, warmup=500, thin=2, chains=2, rng=seed, path=path)",
    "sbm": "StochasticBlockModel().sample(A, draws=4000, warmup=500, chains=2, rng=seed, path=path)",
    "lbm": "LatentBlockModel().sample(A[:20], draws=4000, warmup=500, chains=2, rng=seed, path=path)",
    "nbce": "NBCE(sampling=Sampling(4000, 500, chains=2), random_state=seed).fit(base, path=path).chain_",
}

PRELUDE = """
import os, sys, warnings
import numpy as np
import partita as pt
from partita.models.chains import sampling
warnings.simplefilter("ignore")

def write_often():
    sampling.CHECKPOINT_SECONDS, sampling.TURN_SECONDS = 0.05, 0.01

def start(kind, path, seed):
    from partita.models import GaussianDPM, LatentBlockModel, MixtureDPM, Sampling, StochasticBlockModel
    from partita.ensembles import NBCE
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(-2, 1, (40, 2)), rng.normal(2, 1, (40, 2))])
    table = {"x": [None, *X[1:, 0]], "y": X[:, 1], "z": ["a", "b", None, "b"] * 20}
    A = (rng.random((40, 40)) < 0.2).astype(int)
    np.fill_diagonal(A, 0)
    base = np.where(rng.random((60, 6)) < 0.7, np.arange(60)[:, None] % 4, rng.integers(4, size=(60, 6)))
    return {calls}[kind]()

def said(line):
    print(line, flush=True)

def digest(chain):
    import hashlib
    content = chain.labels.tobytes() + b"".join(values.tobytes() for values in chain.stats.values())
    return hashlib.sha256(content).hexdigest()
"""

GO_ON = """
kind, path, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
said("ready")
if sys.stdin.readline() == "often\\n":
    write_often()
try:
    chain = pt.resume(path) if os.path.exists(path) else start(kind, path, seed)
    said(f"done: {digest(chain)}")
except pt.models.RunInUseError as error:
    said(f"in use: {error}")
"""


def script(body):
    calls = "{" + ", ".join(f"{kind!r}: lambda: {call}" for kind, call in START.items()) + "}"
    return PRELUDE.replace("{calls}", calls) + body


def process(*words, body=GO_ON):
    child = forks.Talking(script(body), *words)
    if body is GO_ON:
        assert child.stdout.readline() == "ready\n"
    return child


def go(child, *, often=False):
    """Lets a process go on with its run; one that will be killed writes often."""
    child.stdin.write("often\n" if often else "\n")
    child.stdin.flush()


def end_of(child):
    """What a process says before it ends."""
    said, _ = child.communicate(timeout=300)
    return said.strip()


def uninterrupted(kind, folder, seed):
    body = "said(digest(start(sys.argv[1], sys.argv[2], int(sys.argv[3]))))"
    return end_of(process(kind, folder / f"whole-{kind}-{seed}", seed, body=body))


def kill_once(kind, path, seed, moment):
    """Goes on with a run in a fresh process and kills it; False if it was done before."""
    child = process(kind, path, seed)
    go(child, often=True)
    time.sleep(moment)
    child.kill()
    end_of(child)
    return child.returncode == -9


def begin(kind, path, seed):
    """A run that was killed as soon as it had its lock."""
    child = process(kind, path, seed)
    go(child, often=True)
    lock = path / "lock"
    while not (lock.exists() and lock.read_text()) and child.poll() is None:
        time.sleep(0.005)
    child.kill()
    end_of(child)
    assert child.returncode == -9


def kill_and_compare(kind, folder, kills, longest):
    """Runs until there were that many kills; the kills of a run are followed by a fresh process that ends it."""
    moments = np.random.default_rng(kills).uniform(0, longest, size=10 * kills)
    done, seed = 0, 0
    while done < kills:
        seed += 1
        expected, path = uninterrupted(kind, folder, seed), folder / f"run-{seed}"
        while done < kills and kill_once(kind, path, seed, moments[done]):
            done += 1
        last = process(kind, path, seed)
        go(last)
        found = end_of(last)
        assert found == f"done: {expected}", (kind, seed, done, found)
    return done


@pytest.mark.parametrize("kind", START)
def test_killed_twice_and_resumed_in_fresh_processes(tmp_path, kind):
    assert kill_and_compare(kind, tmp_path, 2, 0.4) == 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", START)
def test_killed_fifty_times_and_resumed_in_fresh_processes(tmp_path, kind):
    assert kill_and_compare(kind, tmp_path, 50, 0.8) == 50


def resume_twice_at_once(kind, folder, seed):
    """Two processes go on with one run at the same moment; returns what they say and what is right."""
    expected, path = uninterrupted(kind, folder, seed), folder / f"run-{seed}"
    begin(kind, path, seed)
    both = [process(kind, path, seed) for _ in range(2)]
    for child in both:
        go(child, often=True)
    said = [end_of(child) for child in both]
    last = process(kind, path, seed)
    go(last)
    assert end_of(last) == f"done: {expected}"
    return said, [f"process {child.pid} on " for child in both], f"done: {expected}"


def check_double_resumes(folder, kinds):
    told = 0
    for seed, kind in enumerate(kinds):
        said, names, expected = resume_twice_at_once(kind, folder, seed)
        assert expected in said, (kind, seed, said)
        for place, answer in enumerate(said):
            assert answer == expected or (answer.startswith("in use: ") and names[1 - place] in answer), said
            told += answer != expected
    return told


def test_two_processes_on_one_run_never_give_a_wrong_chain(tmp_path):
    assert check_double_resumes(tmp_path, ["full", "nbce"]) > 0


@pytest.mark.slow
def test_twenty_double_resumes_never_give_a_wrong_chain(tmp_path):
    assert check_double_resumes(tmp_path, list(START) * 4) > 10


def test_a_second_call_of_the_same_process_is_refused_too(tmp_path):
    path = tmp_path / "run"
    begin("full", path, 1)
    from partita.models import RunInUseError
    from partita.models.chains.checkpoint import open_run

    with open_run(path).locked(), pytest.raises(RunInUseError, match=r"process \d+ on .* is writing to this run"):
        resume(path)
    assert resume(path).attrs["complete"]  # the lock is gone with its holder
    with open_run(path).locked():
        assert resume(path).attrs["complete"]  # a finished run is only read


def test_the_lock_of_a_killed_process_is_no_lock(tmp_path):
    path = tmp_path / "run"
    begin("full", path, 1)
    owner = json.loads((path / "lock").read_text())
    assert set(owner) == {"pid", "host", "since"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", owner["since"])
    assert resume(path).attrs["complete"]


def test_a_lock_that_is_another_file_is_refused(tmp_path):
    path, victim = tmp_path / "run", tmp_path / "victim"
    begin("full", path, 1)
    victim.write_text("precious")
    (path / "lock").unlink()
    (path / "lock").symlink_to(victim)
    with pytest.raises(OSError, match="lock"):
        resume(path)
    (path / "lock").unlink()
    (path / "lock").hardlink_to(victim)
    with pytest.raises(ValueError, match="not a plain file"):
        resume(path)
    assert victim.read_text() == "precious"


def test_nbce_runs_resume_where_nothing_was_imported(tmp_path):
    expected = uninterrupted("nbce", tmp_path, 5)
    words = [sys.executable, "-c", script("said(digest(pt.resume(sys.argv[1])))"), tmp_path / "whole-nbce-5"]
    assert forks.command(*words).stdout.strip() == expected
