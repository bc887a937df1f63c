"""Stored samples are not trusted: checksums, labels, weights and sizes are checked before anything is used."""

import hashlib
import json
import os
import sys

import numpy as np
import pytest

import partita as pt
from partita import _core
from partita._support.checked_json import from_checked_json, to_checked_json
from partita.datasets import make_draws
from partita.draws import store


@pytest.fixture
def kept(tmp_path):
    draws = make_draws(12, 40, 3, rng=1)
    chains = np.stack([draws[:20], draws[20:]])
    pt.as_sample(chains, names=[f"x{i}" for i in range(12)]).save(tmp_path / "kept")
    return tmp_path / "kept"


def change_facts(folder, **changes):
    facts = {**from_checked_json((folder / "sample.json").read_bytes()), **changes}
    (folder / "sample.json").write_bytes(to_checked_json(facts))


def replace_array(folder, name, array):
    """Another array, with its checksum."""
    np.save(folder / f"{name}.npy", array)
    content = (folder / f"{name}.npy").read_bytes()
    files = from_checked_json((folder / "sample.json").read_bytes())["files"]
    files[f"{name}.npy"] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    change_facts(folder, files=files)


def test_a_changed_byte_of_any_file_is_seen(kept):
    for file in sorted(kept.iterdir()):
        content = file.read_bytes()
        for place in range(0, len(content), 5):
            file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            with pytest.raises(ValueError, match="is not a sample written by save or store="):
                pt.open_sample(kept)
        file.write_bytes(content)
    assert pt.open_sample(kept).n_draws == 40


def test_every_length_of_a_cut_file_is_seen(kept):
    for file in sorted(kept.iterdir()):
        content = file.read_bytes()
        for length in range(0, len(content), 7):
            file.write_bytes(content[:length])
            with pytest.raises(ValueError, match="is not a sample"):
                pt.open_sample(kept)
        file.unlink()
        with pytest.raises(ValueError, match="is not a sample"):
            pt.open_sample(kept)
        file.write_bytes(content)


def first_not_canonical(labels):
    """The first row that is not canonical, label by label."""
    for row, draw in enumerate(labels.tolist()):
        following = 0
        for label in draw:
            if label > following or label < -1 or (labels.dtype.kind == "u" and label == np.iinfo(labels.dtype).max):
                return row
            following += label == following
        if following == 0:
            return row
    return None


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "i1", "i2", "i4"])
def test_canonical_rows_are_told_from_others(dtype):
    rng = np.random.default_rng(8)
    told = set()
    for n_items in (1, 2, 63, 64, 65, 130, 300):  # on both sides of the blocks of 64
        good = np.array([pt.canonical(rng.integers(0, 1 + n_items // 3, n_items)) for _ in range(20)]).astype(dtype)
        for _ in range(40):
            labels = good.copy()
            row, item = rng.integers(20), rng.integers(n_items)
            labels[row, item] = rng.choice([0, labels[row].max() + 1, labels[row].max() + 2, np.iinfo(dtype).max])
            if dtype.startswith("i"):
                labels[rng.random(labels.shape) < 0.1] = -1
                labels[row, item] = rng.choice([-1, -2, labels[row, item]])
            told.add(_core.first_not_canonical(labels) is None)
            assert _core.first_not_canonical(labels) == first_not_canonical(labels)
    assert told == {True, False}


HOSTILE = {
    "a NaN weight": ("weights", lambda w: np.where(np.arange(len(w)) == 1, np.nan, w), "weights"),
    "a negative weight": ("weights", lambda w: np.where(np.arange(len(w)) == 1, -1.0, w), "weights"),
    "weights beyond 1": ("weights", lambda w: 2 * w, "sum to 1"),
    "few weights": ("weights", lambda w: w[:-1], "weights"),
    "whole weights": ("weights", lambda w: np.ones(len(w), int), "weights"),
    "a huge label": ("labels", lambda z: np.where(np.eye(*z.shape) > 0, np.uint32(2**31), z), "canonical"),
    "the core's mark of a gap": ("labels", lambda z: np.where(np.eye(*z.shape) > 0, 255, z).astype("u1"), "canonical"),
    "a label that skips": ("labels", lambda z: np.where(z == 1, 2, z), "canonical"),
    "a negative label": ("labels", lambda z: np.where(np.eye(*z.shape) > 0, -2, z.astype(np.int8)), "canonical"),
    "a draw of gaps": ("labels", lambda z: np.full(z.shape, -1, np.int8), "canonical"),
    "labels that are numbers": ("labels", lambda z: z.astype(float), "cannot be labels"),
    "labels of 64 bits": ("labels", lambda z: z.astype(np.int64), "cannot be labels"),
    "labels in another order": ("labels", lambda z: np.asfortranarray(z), "cannot be labels"),
    "labels of one draw": ("labels", lambda z: z[0], "cannot be labels"),
    "labels of no items": ("labels", lambda z: z[:, :0], "cannot be labels"),
    "a row that is not there": ("index", lambda i: np.where(i == 0, 10**6, i), "index"),
    "a negative row": ("index", lambda i: np.where(i == 0, -1, i), "index"),
    "a row that nobody has": ("index", lambda i: np.zeros_like(i), "index"),
    "no draws": ("index", lambda i: i[:0], "index"),
    "a chain beyond the draws": ("chains", lambda c: c + 10**12, "chains"),
    "few chains": ("chains", lambda c: c[:-1], "chains"),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_what_cannot_be_a_sample_is_refused(kept, what):
    name, change, message = HOSTILE[what]
    replace_array(kept, name, change(np.load(kept / f"{name}.npy")))
    with pytest.raises(ValueError, match=message):
        pt.open_sample(kept)


def test_names_and_facts_are_checked(kept):
    facts = from_checked_json((kept / "sample.json").read_bytes())
    for changes in (
        {"names": ["x"]},
        {"names": 5},
        {"names": [1] * 12},
        {"files": None},
        {"files": {"labels.npy": 5}},
        {"files": {}},
        {"format": "x"},
        {"version": "2"},
        {"version": 1},
        {"oldest_reader": 3},
    ):
        change_facts(kept, **changes)
        with pytest.raises(ValueError, match="is not a sample"):
            pt.open_sample(kept)
        change_facts(kept, **facts)
    change_facts(kept, version=7, library="9.0")  # a newer library that says that we may read it
    assert pt.open_sample(kept).names == tuple(f"x{i}" for i in range(12))


def test_metadata_without_a_checksum_are_refused(kept):
    facts = from_checked_json((kept / "sample.json").read_bytes())
    (kept / "sample.json").write_text(json.dumps(facts))
    with pytest.raises(ValueError, match="is not a sample"):
        pt.open_sample(kept)


def test_an_array_that_is_not_listed_is_not_read(kept):
    files = from_checked_json((kept / "sample.json").read_bytes())["files"]
    change_facts(kept, files={name: entry for name, entry in files.items() if name != "weights.npy"})
    with pytest.raises(ValueError, match=r"weights\.npy is missing"):
        pt.open_sample(kept)


def test_every_sample_that_is_saved_is_opened(tmp_path):
    rng = np.random.default_rng(1)
    wide = np.tile(np.arange(300), (2, 1))
    for number, draws in enumerate(([[0]], [[0, 1, 2]], wide, np.where(rng.random((9, 130)) < 0.3, -1, np.arange(130)),
                                    rng.integers(128, size=(50, 400)))):  # fmt: skip
        sample = pt.as_sample(draws, missing=-1)
        sample.save(tmp_path / str(number))
        stored = pt.as_sample(draws, missing=-1, store=tmp_path / f"stored-{number}")
        for opened in (pt.open_sample(tmp_path / str(number)), pt.open_sample(tmp_path / f"stored-{number}"), stored):
            assert np.array_equal(opened.labels, sample.labels)
            assert np.array_equal(opened.weights, sample.weights)


USES = {
    "similarity": pt.similarity,
    "expected loss": lambda sample: pt.expected_loss(np.zeros(sample.n_items, int), sample),
    "draws": lambda sample: sample.to_numpy(),
    "table": lambda sample: sample.to_pandas(),
    "thinned": lambda sample: pt.as_sample(sample, thin=2).labels,
    "estimate": lambda sample: pt.estimate(sample, rng=1, search=pt.Search(runs=1)).labels,
}


def overwrite(path):
    """Labels far outside the range of the tables."""
    with path.open("r+b") as stream:
        stream.seek(500)
        stream.write(b"\xfe" * 5000)


CHANGES = pytest.mark.parametrize(
    "change", [overwrite, lambda path: os.truncate(path, 200)], ids=["overwritten", "truncated"]
)


@pytest.fixture
def stored(tmp_path):
    pt.as_sample(make_draws(100, 200, 5, rng=1)).save(tmp_path / "kept")
    os.utime(tmp_path / "kept" / "labels.npy", ns=(0, 0))  # so that every change is later than the last one
    return tmp_path / "kept"


@CHANGES
@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be changed there")
def test_what_happens_to_the_folder_later_does_not_concern_an_open_sample(stored, tmp_path, change):
    """It ended the process (SIGSEGV, SIGBUS), or the changed labels were used."""
    sample = pt.open_sample(stored)
    expected = {name: np.array(use(sample)) for name, use in USES.items()}
    change(stored / "labels.npy")
    for name, use in USES.items():
        assert np.array_equal(np.array(use(sample)), expected[name]), name
    sample.save(tmp_path / "again")
    assert np.array_equal(pt.open_sample(tmp_path / "again").to_numpy(), expected["draws"])


@CHANGES
@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be changed there")
def test_a_mapped_file_that_has_changed_is_not_used(stored, tmp_path, change, monkeypatch):
    monkeypatch.setattr(store, "_ALWAYS_READ", 0)
    monkeypatch.setattr(store, "free_bytes", lambda: 0)
    sample = pt.open_sample(stored)
    best = pt.estimate(sample, rng=1, search=pt.Search(runs=1))
    change(stored / "labels.npy")
    for use in (
        *USES.values(),
        lambda _: pt.credible_ball(best),
        lambda _: pt.write_draws(tmp_path / "again.csv", sample),
    ):
        with pytest.raises(ValueError, match=r"labels\.npy has changed while it was open"):
            use(sample)
    with pytest.raises(ValueError, match=r"labels\.npy has changed while it was open"):
        sample.save(tmp_path / "again")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_sample_whose_folder_was_replaced_is_still_whole(tmp_path):
    first = make_draws(30, 50, 3, rng=1)
    sample = pt.as_sample(first, store=tmp_path / "kept")
    pt.as_sample(first[:2], store=tmp_path / "kept")
    assert np.array_equal(pt.as_sample(sample).to_numpy(), pt.as_sample(first).to_numpy())
