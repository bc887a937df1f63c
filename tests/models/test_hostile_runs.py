"""Runs that others made or changed, with every checksum right: refused by name, or harmless; never a crash."""

import hashlib
import io
import json
import os
import shutil
import zipfile

import numpy as np
import pytest

import partita as pt
from partita.models import GaussianDPM, LatentBlockModel, MixtureDPM, RunFormatError, StochasticBlockModel, resume
from partita.models.chains import checkpoint, sampling
from support import forks

RNG = np.random.default_rng(3)
X = np.concatenate([RNG.normal(-2, 1, (6, 2)), RNG.normal(2, 1, (6, 2))])
A = (RNG.random((9, 9)) < 0.4).astype(int)
np.fill_diagonal(A, 0)
BASE = RNG.integers(3, size=(10, 4))
TABLE = {
    "x": X[:, 0],
    "y": X[:, 1],
    "size": [None, *X[1:, 0]],
    "visits": [3, None, *range(10)],
    "colour": ["red", "blue", None] * 4,
    "p": X[:, 1] ** 2,
}
SHORT = {"draws": 3, "warmup": 2, "chains": 1, "n_jobs": 1}
SAMPLING = pt.models.Sampling(**SHORT)
START = {
    "full": lambda path: GaussianDPM().sample(X, rng=1, path=path, **SHORT),
    "grid": lambda path: GaussianDPM(hyperprior=pt.models.WishartGrid(size=3), alpha=pt.models.PowerAlpha()).sample(
        X, rng=1, path=path, **SHORT
    ),
    "finite": lambda path: GaussianDPM(components=pt.models.FiniteMixture()).sample(X[:4], rng=1, path=path, **SHORT),
    "diag": lambda path: GaussianDPM("diag").sample(X, rng=1, path=path, **SHORT),
    "table": lambda path: MixtureDPM({"visits": "count"}, full=[["x", "y"]]).sample(TABLE, rng=1, path=path, **SHORT),
    "sbm": lambda path: StochasticBlockModel().sample(A, rng=1, path=path, **SHORT),
    "lbm": lambda path: LatentBlockModel().sample(A[:5], rng=1, path=path, **SHORT),
    "fsd": lambda path: pt.ensembles.NBCE(random_state=1, sampling=SAMPLING).fit(BASE, path=path),
    "tsb": lambda path: pt.ensembles.NBCE("gibbs", "tsb", 9, random_state=1, sampling=SAMPLING).fit(BASE, path=path),
}


def read_body(path):
    return json.loads(path.read_text())["body"]


def lengthen(path, draws):
    body = read_body(path / "manifest.json")
    body["plan"]["draws"] = draws
    checkpoint._write_json(path / "manifest.json", body)


def replace_state(path, state):
    """Puts another state into the last checkpoint; all checksums are right."""
    listing = path / "chain-000" / "parts.json"
    body = read_body(listing)
    entry = body["parts"][-1]
    with np.load(path / "chain-000" / entry["file"]) as arrays:
        part = checkpoint.Part(arrays["labels"], arrays["stats"], bytes(state), entry["sweeps"])
    content = checkpoint._part_bytes(part)
    entry["sha256"] = hashlib.sha256(content).hexdigest()
    (path / "chain-000" / entry["file"]).write_bytes(content)
    checkpoint._write_json(listing, body)


def state_of(path):
    return checkpoint.open_run(path).parts(0)[-1].state


#: Each byte of the state is changed in turn, in a child process that would take a crash with it.
FLIP = """
import sys, warnings, numpy as np
sys.path.insert(0, {tests!r})
warnings.simplefilter("ignore")
from test_hostile_runs import START, checkpoint, lengthen, resume, state_of
from pathlib import Path
path = Path({path!r})
START[{kind!r}](path)
lengthen(path, 10)
run = checkpoint.open_run(path)
model = __import__("partita").models.chains.sampling.Registry.find(run.model).from_params(run.params)
state, inputs, refused = state_of(path), run.inputs(), 0
for place in range({first}, len(state), {step}):
    for change in (0x01, 0x80, 0xff):
        changed = bytearray(state)
        changed[place] ^= change
        sampler = model.samplers(inputs, run.plan)[0]
        try:
            sampler.restore(bytes(changed))
        except ValueError:
            refused += 1
            continue
        if sampler.sweeps == 5:
            labels, stats = sampler.advance(5, 2, 1)
            assert labels.max() < labels.shape[1]
print("refused", refused, "of", 3 * len(range({first}, len(state), {step})))
"""


def flip_bytes(kind, path, first, step):
    code = FLIP.format(tests=os.path.dirname(__file__), path=str(path), kind=kind, first=first, step=step)
    done = forks.run(code, timeout=600)
    assert done.returncode == 0, (kind, done.returncode, done.stderr[-2000:])
    return int(done.stdout.split()[1])


@pytest.mark.parametrize("kind", START)
def test_a_changed_byte_of_a_state_is_refused_or_harmless(tmp_path, kind):
    assert flip_bytes(kind, tmp_path / "run", 1, 7) > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", START)
def test_every_changed_byte_of_a_state_is_refused_or_harmless(tmp_path, kind):
    assert flip_bytes(kind, tmp_path / "run", 0, 1) > 0


@pytest.mark.parametrize("kind", START)
def test_a_state_that_is_cut_off_or_all_zero_is_refused(tmp_path, kind):
    START[kind](tmp_path / "run")
    lengthen(tmp_path / "run", 10)
    state = state_of(tmp_path / "run")
    for changed in (state[:-1], state + b"\0", b"", bytes(len(state)), b"\xff" * len(state)):
        replace_state(tmp_path / "run", changed)
        with pytest.raises(RunFormatError, match="state"):
            resume(tmp_path / "run")
    replace_state(tmp_path / "run", state)
    assert resume(tmp_path / "run").n_draws == 10


@pytest.mark.parametrize("name", START)
def test_draws_that_cannot_fit_in_memory_are_refused(name, tmp_path):
    """They were sampled, for ever."""
    START[name](tmp_path / "run")
    lengthen(tmp_path / "run", 2**40)
    with pytest.raises(MemoryError, match=r"draws=1099511627776 and chains=1 with \d+ items need at least .* GiB"):
        resume(tmp_path / "run")


def test_more_draws_and_chains_than_fit_are_refused_before_anything_is_written(tmp_path):
    with pytest.raises(MemoryError, match="use fewer draws"):
        GaussianDPM().sample(X, draws=2**45, chains=2, rng=1, path=tmp_path / "run")
    with pytest.raises(ValueError, match="chains must be at most 100,000, but it is 1099511627776"):
        GaussianDPM().sample(X, chains=2**40, rng=1, path=tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_plan_with_more_chains_than_the_run_has_is_refused(tmp_path):
    """With more draws wanted, a sampler was made for each of them first."""
    START["full"](tmp_path / "run")
    body = read_body(tmp_path / "run" / "manifest.json")
    body["plan"]["chains"] = 2**40
    checkpoint._write_json(tmp_path / "run" / "manifest.json", body)
    with pytest.raises(RunFormatError, match="chain-001 is not a folder of the run"):
        resume(tmp_path / "run", 10)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run of several parts that is not at its end."""
    monkeypatch.setattr(sampling, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(sampling, "TURN_SECONDS", 1e-9)
    path = tmp_path / "run"
    GaussianDPM().sample(X, draws=8, warmup=2, thin=2, chains=2, rng=1, path=path)
    lengthen(path, 9)
    return path


def change_parts(path, change):
    listing = path / "chain-000" / "parts.json"
    body = read_body(listing)
    body["parts"] = change(body["parts"])
    checkpoint._write_json(listing, body)


@pytest.mark.parametrize(
    "change",
    [
        lambda parts: parts[::-1],
        lambda parts: [*parts, parts[-1]],
        lambda parts: [parts[0], *parts[2:]],
        lambda parts: [parts[-1]],
        lambda parts: [{**parts[0], "draws": 2}, *parts[1:]],
        lambda parts: [*parts, {**parts[-1], "sweeps": 10**6, "file": "part-000001000000.npz"}],
        lambda parts: "none",
        lambda parts: [*parts, 5],
        lambda parts: [{name: value for name, value in part.items() if name != "sha256"} for part in parts],
    ],
)
def test_parts_out_of_order_or_with_gaps_are_refused(run, change):
    assert len(checkpoint.open_run(run).parts(0)) > 3
    change_parts(run, change)
    with pytest.raises(RunFormatError, match=r"parts\.json"):
        resume(run)


def test_only_files_of_the_run_are_read_and_deleted(run, tmp_path):
    """A run that names a file elsewhere as a superseded checkpoint had that file deleted."""
    victim = tmp_path / "victim.npz"
    shutil.copy(next((run / "chain-000").glob("part-*.npz")), victim)
    for name in (str(victim), "../../victim.npz"):
        change_parts(run, lambda parts, name=name: [{**parts[0], "file": name, "draws": 0}, *parts[1:]])
        with pytest.raises(RunFormatError, match=r"parts\.json: part 0"):
            resume(run)
        assert victim.exists()
    body = read_body(run / "manifest.json")
    for name in (str(victim), "../victim.npz"):
        body["inputs"]["X"]["file"] = name
        checkpoint._write_json(run / "manifest.json", body)
        with pytest.raises(RunFormatError, match=r"manifest\.json"):
            resume(run)


def test_a_chain_elsewhere_is_refused(run, tmp_path):
    (run / "chain-000").rename(tmp_path / "elsewhere")
    (run / "chain-000").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunFormatError, match="chain-000 is not a folder of the run"):
        resume(run)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("plan", {"draws": 9, "warmup": 2, "thin": 0, "chains": 2, "seed": 1}),
        ("plan", {"draws": 9, "warmup": 2, "thin": 2, "chains": 10**9, "seed": 1}),
        ("plan", {"draws": 1 << 62, "warmup": 2, "thin": 2, "chains": 2, "seed": 1}),
        ("plan", {"draws": 9.5, "warmup": 2, "thin": 2, "chains": 2, "seed": 1}),
        ("plan", {"draws": 9}),
        ("plan", None),
        ("params", {"covariance": "round"}),
        ("params", {"nonsense": 1}),
        ("params", [1]),
        ("params", {"alpha": {"prior": "os.system"}}),
        ("stat_names", ["log_density"]),
        ("stat_names", 3),
        ("names", 3),
        ("inputs", {}),
        ("inputs", {"X": 1}),
        ("model", 7),
        ("model", "StochasticBlockModel"),
    ],
)
def test_a_manifest_that_makes_no_sense_is_refused(run, name, value):
    body = {**read_body(run / "manifest.json"), name: value}
    checkpoint._write_json(run / "manifest.json", body)
    with pytest.raises(RunFormatError, match="run"):
        resume(run)


def replace_input(path, name, array):
    body = read_body(path / "manifest.json")
    body["inputs"][name] = checkpoint._save_npy(path, name, array)
    checkpoint._write_json(path / "manifest.json", body)


HOSTILE_INPUTS = {
    ("full", "X"): [np.zeros((0, 2)), np.full((12, 2), np.nan), np.zeros(5), np.zeros((12, 0)), np.array(["a"])],
    ("sbm", "edges"): [np.array([[0], [99], [1]]), np.array([[0], [-1], [1]]), np.array([[0], [1], [-5]]), np.zeros(2)],
    ("sbm", "shape"): [np.array([0, 0, 0]), np.array([9, 8, 0]), np.array([9, 9, 1]), np.array([-1, 9, 0])],
    ("sbm", "missing"): [np.array([[0], [1], [7]])],
    ("lbm", "shape"): [np.array([0, 9, 1]), np.array([5, 9, 0])],
    ("fsd", "codes"): [np.full((10, 4), 9, np.int8), np.full((10, 4), -1, np.int8), np.full((10, 4), -2, np.int8),
                       np.zeros((10, 3), np.int8), np.zeros((10, 4), np.int64), np.zeros((0, 4), np.int8)],
    ("fsd", "n_labels"): [np.array([0, 0, 0, 0]), np.array([1, 1, 1, 1]), np.array([2**40] * 4), np.zeros(4)],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), HOSTILE_INPUTS)
def test_data_of_a_run_are_checked_again(tmp_path, kind, name):
    START[kind](tmp_path / "run")
    lengthen(tmp_path / "run", 10)
    for array in HOSTILE_INPUTS[kind, name]:
        replace_input(tmp_path / "run", name, array)
        with pytest.raises(RunFormatError):
            resume(tmp_path / "run")


def test_draws_of_a_run_are_checked_again(run):
    listing = run / "chain-000" / "parts.json"
    entry = read_body(listing)["parts"][-1]
    part = checkpoint.open_run(run).parts(0)[-1]
    nan, large = part.stats.copy(), part.labels.copy()
    nan[0, 0], large[0, 0] = np.nan, 200
    for labels, stats in [(large, part.stats), (part.labels, nan), (part.labels[:, :3], part.stats),
                          (part.labels.astype(float), part.stats), (part.labels[:0], part.stats[:0])]:  # fmt: skip
        content = checkpoint._part_bytes(checkpoint.Part(labels, stats, part.state, part.sweeps))
        (run / "chain-000" / entry["file"]).write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        change_parts(run, lambda parts, digest=digest: [*parts[:-1], {**parts[-1], "sha256": digest}])
        with pytest.raises(RunFormatError):
            resume(run)


def test_the_manifest_says_who_wrote_it_and_who_may_read_it(run):
    body = read_body(run / "manifest.json")
    assert body["library"] == pt.__version__
    assert body["version"] == body["oldest_reader"] == 2
    checkpoint._write_json(run / "manifest.json", {**body, "version": 3, "library": "9.0"})  # but read by ours
    assert resume(run).n_draws == 9
    checkpoint._write_json(run / "manifest.json", {**body, "version": 3, "oldest_reader": 3, "library": "9.0"})
    with pytest.raises(RunFormatError, match=r"version 3 of the format, written by partita 9\.0; .* reads version 2"):
        resume(run)


def test_an_archive_that_promises_more_than_is_there_is_refused(run):
    """A header of 10^12 draws in a file of a few bytes."""
    header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (1000000000000, 12)}\n"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in ("labels", "stats", "state"):
            archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    content = buffer.getvalue()
    entry = read_body(run / "chain-000" / "parts.json")["parts"][-1]
    (run / "chain-000" / entry["file"]).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    change_parts(run, lambda parts: [*parts[:-1], {**parts[-1], "sha256": digest}])
    with pytest.raises(RunFormatError, match="truncated"):
        resume(run)
