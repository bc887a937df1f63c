"""Runs on disk: killed, stopped, damaged, out of room. What was written is never lost and never wrong."""

import errno
import json
import os
import shutil
import signal
import sys
import time
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from partita.models import GaussianDPM, RunFormatError, resume
from partita.models.chains import checkpoint, sampling
from support import forks
from support.interrupts import signal_when_in

RNG = np.random.default_rng(3)
X = np.concatenate([RNG.normal(-2, 1, (40, 2)), RNG.normal(2, 1, (40, 2))])
SETTINGS = {"draws": 3000, "warmup": 600, "thin": 2, "chains": 2, "rng": 11}

CHILD = """
import sys, numpy as np
from partita.models.chains import sampling
from partita.models import GaussianDPM, resume
sampling.CHECKPOINT_SECONDS, sampling.TURN_SECONDS = 0.01, 0.005
path, data = sys.argv[1], np.load(sys.argv[2])
print("ready", flush=True)
try:
    resume(path)
except FileNotFoundError:
    GaussianDPM().sample(data, path=path, **{settings})
"""


def same(one, other):
    assert one.labels.dtype == other.labels.dtype
    np.testing.assert_array_equal(one.labels, other.labels)
    for name, values in one.stats.items():
        np.testing.assert_array_equal(values, other.stats[name])


@pytest.fixture(scope="module")
def uninterrupted():
    return GaussianDPM().sample(X, **SETTINGS)


@pytest.fixture
def frequent(monkeypatch):
    monkeypatch.setattr(sampling, "CHECKPOINT_SECONDS", 0.01)
    monkeypatch.setattr(sampling, "TURN_SECONDS", 0.005)


def test_same_chain_on_any_number_of_threads(uninterrupted):
    same(GaussianDPM().sample(X, **SETTINGS, n_jobs=1), uninterrupted)


def test_writing_changes_nothing(tmp_path, uninterrupted, frequent):
    same(GaussianDPM().sample(X, **SETTINGS, path=tmp_path / "run.partita"), uninterrupted)
    same(resume(tmp_path / "run.partita"), uninterrupted)


def kill_and_resume(folder, moments, uninterrupted):
    """Starts (or resumes) a run for each moment, kills it that many seconds later; then resumes to the end."""
    np.save(folder / "X.npy", X)
    path = folder / "run.partita"
    for moment in moments:
        code = CHILD.replace("{settings}", repr(SETTINGS))
        child = forks.Talking(code, path, folder / "X.npy")
        child.stdout.readline()
        time.sleep(moment)
        child.kill()
        child.communicate()
    chain = resume(path) if path.exists() else GaussianDPM().sample(X, path=path, **SETTINGS)
    same(chain, uninterrupted)


def test_killed_at_random_moments(tmp_path, uninterrupted):
    kill_and_resume(tmp_path, np.random.default_rng(8).uniform(0, 0.15, size=4), uninterrupted)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_killed_fifty_times(tmp_path, uninterrupted, seed):
    kill_and_resume(tmp_path, np.random.default_rng(seed).uniform(0, 0.4, size=1), uninterrupted)


def test_stopped_in_the_warmup_and_in_the_draws(tmp_path, uninterrupted, frequent, monkeypatch):
    """A checkpoint that cannot be written ends the run; what is there goes on. Tried at every tenth write."""
    monkeypatch.setattr(sampling, "CHECKPOINT_SECONDS", 0.0)  # a write every turn: enough of them on any machine
    monkeypatch.setattr(sampling, "TURN_SECONDS", 0.001)
    write = checkpoint.write_bytes
    for last in (9, 20, 40):
        count = iter(range(10**6))

        def fails(path, content, count=count, last=last):
            if next(count) >= last:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            write(path, content)

        path = tmp_path / f"{last}.partita"
        monkeypatch.setattr(checkpoint, "write_bytes", fails)
        with pytest.raises(OSError, match=r"checkpoint of chain .* could not be written \(No space left"):
            GaussianDPM().sample(X, **SETTINGS, path=path)
        monkeypatch.setattr(checkpoint, "write_bytes", write)
        same(resume(path), uninterrupted)


@pytest.mark.skipif(sys.platform == "win32", reason="needs file size limits")
def test_full_disk_ends_with_a_clear_error(tmp_path, uninterrupted):
    """A limit on file sizes stands for the full disk: the system refuses the write half-way."""
    np.save(tmp_path / "X.npy", X)
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))\n" + CHILD
    code = code.replace("{settings}", repr(SETTINGS)).replace("0.01, 0.005", "1e9, 0.005")
    path = tmp_path / "run.partita"
    child = forks.run(code, path, tmp_path / "X.npy")
    assert child.returncode == 1
    assert "could not be written (File too large)" in child.stderr
    assert not list(path.rglob(".partita-*"))
    same(resume(path), uninterrupted)


@pytest.fixture
def ctrl_c():
    """SIGINT raises KeyboardInterrupt, also where a shell started the tests with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_keeps_what_there_is(tmp_path, ctrl_c):
    path = tmp_path / "run.partita"
    signal_when_in("sample_model")
    with pytest.warns(UserWarning, match=r"stopped by Ctrl-C after \d+ draws per chain; partita.resume"):
        chain = GaussianDPM().sample(X, draws=10**7, warmup=0, chains=2, rng=1, path=path)
    assert 0 < chain.n_draws < 10**7
    assert not chain.attrs["complete"]
    assert "stopped early" in repr(chain)
    shorter = GaussianDPM().sample(X, draws=chain.n_draws, warmup=0, chains=2, rng=1)
    same(chain, shorter)


def test_a_sweep_that_is_given_up_is_made_again(tmp_path, ctrl_c, monkeypatch):
    """Ctrl-C was answered only after the sweep, which takes half a minute on large tables."""
    monkeypatch.setattr(sampling, "SLOW_SECONDS", -1.0)
    monkeypatch.setattr(sampling, "TURN_SECONDS", 0.0)  # one sweep per turn
    take_turn, turns, given_up = sampling._Job.take_turn, count(), []

    def interrupted(job, stop):
        if next(turns) == 5:
            signal.raise_signal(signal.SIGINT)
            while not stop.requested:
                time.sleep(0.001)
        take_turn(job, stop)
        given_up.append(job.given_up_at is not None)

    monkeypatch.setattr(sampling._Job, "take_turn", interrupted)
    settings = {"draws": 20, "warmup": 0, "chains": 1, "rng": 1}
    with pytest.warns(UserWarning, match="stopped by Ctrl-C after 5 draws"):
        GaussianDPM().sample(X, **settings, path=tmp_path / "run.partita")
    assert given_up == [False] * 5 + [True]
    same(resume(tmp_path / "run.partita"), GaussianDPM().sample(X, **settings))


def test_ctrl_c_in_the_warmup_raises(ctrl_c):
    signal_when_in("sample_model")
    with pytest.raises(KeyboardInterrupt, match="before every chain had a draw"):
        GaussianDPM().sample(X, draws=1, warmup=10**9, chains=1, rng=1)


@pytest.fixture
def finished(tmp_path, frequent):
    path = tmp_path / "run.partita"
    GaussianDPM().sample(X, **{**SETTINGS, "draws": 500}, path=path)
    return path


def snapshot(path):
    return {file: file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


def damage_last_byte(file):
    content = bytearray(file.read_bytes())
    content[-30] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("name", ["manifest.json", "X.npy", "chain-000/parts.json", "chain-001/part-*.npz"])
@pytest.mark.parametrize("damage", [damage_last_byte, lambda file: file.write_bytes(b""), Path.unlink])
def test_damaged_run_is_refused_by_name(finished, name, damage):
    file = next(iter(finished.glob(name)))
    damage(file)
    before = snapshot(finished)
    with pytest.raises(RunFormatError, match=file.name.replace(".", r"\.")):
        resume(finished)
    assert snapshot(finished) == before


def test_foreign_things_are_refused(tmp_path, finished):
    (tmp_path / "file").write_text("hello")
    (tmp_path / "folder").mkdir()
    with pytest.raises(RunFormatError, match="file is a file"):
        resume(tmp_path / "file")
    with pytest.raises(RunFormatError, match="not a partita run"):
        resume(tmp_path / "folder")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        resume(tmp_path / "nowhere")
    (tmp_path / "folder" / "manifest.json").write_text('{"name": "a web app"}')
    with pytest.raises(RunFormatError, match=r"manifest\.json"):
        resume(tmp_path / "folder")


def change_manifest(path, **changes):
    body = {**json.loads((path / "manifest.json").read_text())["body"], **changes}
    checkpoint._write_json(path / "manifest.json", body)


def test_other_versions_and_models_are_refused(finished):
    change_manifest(finished, model="Oracle")
    with pytest.raises(RunFormatError, match="'Oracle'"):
        resume(finished)
    change_manifest(finished, version=99, oldest_reader=99)
    with pytest.raises(RunFormatError, match="version 99"):
        resume(finished)
    change_manifest(finished, version=1, oldest_reader=1)
    with pytest.raises(RunFormatError, match=r"version 1 of the format"):
        resume(finished)
    change_manifest(finished, format="zarr")
    with pytest.raises(RunFormatError, match="format 'zarr'"):
        resume(finished)


def test_no_part_is_added_beyond_the_end(finished):
    """States that do not fit are in test_hostile_runs."""
    run = checkpoint.open_run(finished)
    part = run.parts(0)[-1]
    before = snapshot(finished)
    with pytest.raises(RunFormatError, match="out of order"):
        run.append(0, checkpoint.Part(part.labels, part.stats, part.state, part.sweeps + 1))
    assert snapshot(finished) == before


def test_nothing_is_overwritten(finished):
    before = snapshot(finished)
    with pytest.raises(FileExistsError, match=r"already there and nothing was written"):
        GaussianDPM().sample(X, **SETTINGS, path=finished)
    assert snapshot(finished) == before


def test_bad_arguments_leave_no_directory(tmp_path):
    with pytest.raises(ValueError, match="nu0"):
        GaussianDPM(nu0=0.5).sample(X, path=tmp_path / "run.partita")
    assert not list(tmp_path.iterdir())


def test_every_setting_survives_the_disk(tmp_path):
    from partita.models import FiniteMixture, GammaAlpha, PowerAlpha, WishartGrid

    models = [
        GaussianDPM(alpha=GammaAlpha(2.0, 3.0), discount=0.2, scale=np.eye(2), nu0=5, mu0=[0, 1]),
        GaussianDPM(hyperprior=WishartGrid(size=4), alpha=PowerAlpha(size=5), standardize=True),
        GaussianDPM(covariance="diag", components=FiniteMixture(0.5, 2.0), a=[2, 3], b=1.0),
    ]
    for number, model in enumerate(models):
        chain = model.sample(X, draws=5, warmup=3, chains=1, rng=2, path=tmp_path / f"{number}")
        same(resume(tmp_path / f"{number}"), chain)
        shutil.rmtree(tmp_path / f"{number}" / "chain-000")
        (tmp_path / f"{number}" / "chain-000").mkdir()
        checkpoint._write_json(tmp_path / f"{number}" / "chain-000" / "parts.json", {"parts": []})
        same(resume(tmp_path / f"{number}"), chain)
