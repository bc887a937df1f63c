"""A linkage in a folder: read as it was written, whole after a kill at any moment, refused if damaged or changed."""

import dataclasses
import json
import shutil
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import partita as pt
from partita._support.checked_json import from_checked_json, to_checked_json
from support import forks


def pairs_of(*rows):
    return pd.DataFrame(rows, columns=["left", "right", "p"])


FIRST = pairs_of(("ä", "b", 0.9), ("c", "d", 0.8), ("d", "e", 0.6), ("f", "ä", 0.3))
CASES = {
    "binder": {"loss": pt.Binder(a=1.0, b=1.2)},
    "vi lower bound": {"loss": pt.VILowerBound(a=0.7)},
    "approximate ARI": {"loss": "pear"},
    "constraints": {
        "loss": "binder",
        "constraints": pt.Constraints(
            together=[("c", "d")], apart=[("c", "e")], one_per=["x", "y", None, "x", "y", None], max_size=3
        ),
    },
}


def first(**asked):
    return pt.estimate(pt.as_similarity(FIRST, default=0.0), search=pt.Search(runs=3), rng=5, **asked)


def same(x, y):
    assert np.array_equal(x.labels, y.labels)
    assert np.array_equal(x.ids, y.ids)
    assert x.similarity.names == y.similarity.names
    for part in ("offsets", "neighbors", "probabilities"):
        assert np.array_equal(getattr(x.similarity, part), getattr(y.similarity, part))
    assert (x.expected_loss, x.loss, x.proven, x.gap) == (y.expected_loss, y.loss, y.proven, y.gap)
    assert (x.search, x.seed, x.method) == (y.search, y.seed, y.method)
    assert repr(x.constraints) == repr(y.constraints)
    assert x.components.is_proven.tolist() == y.components.is_proven.tolist()


@pytest.mark.parametrize("name", CASES)
def test_what_is_read_is_what_was_written_and_updates_go_on(tmp_path, name):
    folder, est = tmp_path / "linked", first(**CASES[name])
    stored = pt.write_linkage(folder, est)
    again = pt.read_linkage(folder)
    same(again, est)
    assert set(again.changes.kind) == {"kept"}
    more = pairs_of(("e", "g", 0.95), ("b", "c", 0.7))
    by_memory, by_disk = pt.update(stored, more), pt.update(again, more)
    same(by_memory, by_disk)
    assert list(by_memory.changes) == list(by_disk.changes)
    pt.write_linkage(folder, by_disk)
    same(pt.read_linkage(folder), by_memory)
    same(pt.read_linkage(folder, step_back=True), est)
    assert {entry.name for entry in folder.iterdir()} == {"linkage.json", "lock", "state-000001", "state-000002"}


def test_two_steps_back_are_gone_and_one_step_back_can_be_taken(tmp_path):
    folder = tmp_path / "linked"
    est = pt.write_linkage(folder, first(loss="binder"))
    with pytest.raises(ValueError, match="has no state before state-000001"):
        pt.read_linkage(folder, step_back=True)
    for k in range(3):
        est = pt.write_linkage(folder, pt.update(est, pairs_of((f"g{k}", "b", 0.9))))
    assert sorted(entry.name for entry in folder.glob("state-*")) == ["state-000003", "state-000004"]
    back = pt.read_linkage(folder, step_back=True)
    assert back.similarity.n_items == 8
    pt.write_linkage(folder, pt.update(back, pairs_of(("h", "b", 0.9))))
    assert pt.read_linkage(folder).similarity.names[-1] == "h"
    assert pt.read_linkage(folder, step_back=True).similarity.names[-1] == "g1"
    assert sorted(entry.name for entry in folder.glob("state-*")) == ["state-000003", "state-000005"]


def test_an_update_of_what_has_changed_since_is_refused(tmp_path):
    folder = tmp_path / "linked"
    pt.write_linkage(folder, first(loss="binder"))
    one, two = pt.read_linkage(folder), pt.read_linkage(folder)
    pt.write_linkage(folder, pt.update(one, removed=["b"]))
    with pytest.raises(ValueError, match=r"has changed since it was read \(its state is state-000002 now\)"):
        pt.write_linkage(folder, pt.update(two, removed=["c"]))
    assert "c" in pt.read_linkage(folder).similarity.names
    with pytest.raises(FileExistsError):
        pt.write_linkage(folder, first(loss="binder"))  # of no state of this folder


def test_only_one_process_writes(tmp_path):
    from partita.estimation.linkage_store import locked_linkage

    folder = tmp_path / "linked"
    est = pt.write_linkage(folder, first(loss="binder"))
    with locked_linkage(folder), pytest.raises(pt.models.RunInUseError, match="is writing to this linkage"):
        pt.write_linkage(folder, pt.update(est, removed=["b"]))


def inode(folder, state, name):
    return (folder / state / f"{name}.npy").stat().st_ino


SHARED = ("offsets", "neighbors", "probabilities", "names_text", "names_ends")


def some_updates(est, write):
    """Records that come and leave, pairs that change: each state as it was written and read again."""
    for asked in (
        {"more_pairs": pairs_of(("e", "g", 0.95), ("b", "h", 0.7)), "records": ["g", "h", "i"]},
        {"removed": ["c", "h"]},
        {"more_pairs": pairs_of(("ä", "b", 0.1), ("k", "g", 0.8))},
        {"removed": [("d", "e")]},
    ):
        est, by_memory = write(pt.update(est, **asked)), pt.update(est, **asked)
        same(est, by_memory)
    return est


@pytest.mark.skipif(sys.platform == "win32", reason="counts on the numbers of files")
def test_states_share_what_did_not_change(tmp_path):
    folder = tmp_path / "linked"
    stored = pt.write_linkage(folder, first(loss="binder"))

    def write(est):
        pt.write_linkage(folder, est)
        return pt.read_linkage(folder)

    est = some_updates(stored, write)
    for name in SHARED:
        assert inode(folder, "state-000005", name) == inode(folder, "state-000004", name)
    again = pt.write_linkage(folder, pt.update(est, pairs_of(("b", "i", 0.6))))
    pt.write_linkage(folder, pt.update(again, pairs_of(("b", "i", 0.7))))  # without reading between
    assert inode(folder, "state-000007", "neighbors") == inode(folder, "state-000006", "neighbors")
    assert pt.read_linkage(folder).similarity.names == again.similarity.names


@pytest.mark.parametrize("how", ["no links", "another file", "no file"])
def test_what_cannot_be_shared_is_written(tmp_path, monkeypatch, how):
    folder, other = tmp_path / "linked", tmp_path / "other"
    pt.write_linkage(folder, first(loss="binder"))
    est = pt.read_linkage(folder)
    place = folder / "state-000001" / "neighbors.npy"
    if how == "no links":
        monkeypatch.setattr("os.link", lambda *_: (_ for _ in ()).throw(OSError("no links here")))
    elif how == "another file":
        np.save(tmp_path / "neighbors.npy", np.zeros(8, np.uint32))
        shutil.move(tmp_path / "neighbors.npy", place)
    else:
        place.unlink()
    after = pt.update(est, removed=["b"])
    pt.write_linkage(folder, after)
    same(pt.read_linkage(folder), after)
    pt.write_linkage(other, dataclasses.replace(after, _origin=None))
    same(pt.read_linkage(other), after)


def damaged(folder, how):
    state = folder / "state-000001"
    if how == "no folder":
        shutil.rmtree(folder)
    elif how == "no pointer":
        (folder / "linkage.json").unlink()
    elif how == "a pointer elsewhere":
        body = from_checked_json((folder / "linkage.json").read_bytes())
        (folder / "linkage.json").write_bytes(to_checked_json({**body, "present": "../state-000001"}))
    elif how == "a newer version":
        body = from_checked_json((folder / "linkage.json").read_bytes())
        (folder / "linkage.json").write_bytes(to_checked_json({**body, "oldest_reader": 3, "library": "9.9"}))
    elif how == "other labels":
        np.save(state / "ids.npy", np.zeros(6, np.int64))
    elif how == "identifiers of others":
        facts = from_checked_json((state / "state.json").read_bytes())
        facts["next_id"] = 1
        (state / "state.json").write_bytes(to_checked_json(facts))
    elif how == "half a file":
        content = (state / "state.json").read_bytes()
        (state / "state.json").write_bytes(content[: len(content) // 2])
    elif how == "a missing file":
        (state / "neighbors.npy").unlink()


DAMAGES = {
    "no folder": (FileNotFoundError, "does not exist"),
    "no pointer": (ValueError, "has no linkage.json: it is not a linkage"),
    "a pointer elsewhere": (ValueError, "it names no state"),
    "a newer version": (ValueError, "it was written by partita 9.9; this one reads version 2"),
    "other labels": (ValueError, "ids.npy is damaged"),
    "identifiers of others": (ValueError, "its identifiers do not fit its labels"),
    "half a file": (ValueError, "is damaged"),
    "a missing file": (ValueError, "neighbors.npy is missing"),
}


@pytest.mark.parametrize("how", DAMAGES)
def test_what_is_damaged_is_refused_by_name(tmp_path, how):
    folder = tmp_path / "linked"
    pt.write_linkage(folder, first(loss="binder"))
    damaged(folder, how)
    kind, message = DAMAGES[how]
    with pytest.raises(kind, match=message):
        pt.read_linkage(folder)


CHILD = """
import sys
import pandas as pd
import partita as pt
folder, begin = sys.argv[1], int(sys.argv[2])
print("ready", flush=True)
for k in range(begin, begin + 1000):
    more = pd.DataFrame([(f"r{k}", f"r{k + 1}", 0.9)], columns=["left", "right", "p"])
    pt.write_linkage(folder, pt.update(pt.read_linkage(folder), more))
    print(k + 1, flush=True)
"""


def kill_updates(folder, kills):
    """Each child goes on with what the killed one before it left: the last whole state, or the one that followed."""
    table = pairs_of(("r0", "r1", 0.9), *((f"x{k}", f"y{k}", 0.7) for k in range(200)))
    pt.write_linkage(folder, pt.estimate(pt.as_similarity(table), "binder", rng=1))
    reached = 1
    for kill, moment in enumerate(np.random.default_rng(kills).uniform(0.0, 0.15, kills)):
        child = forks.Talking(CHILD, folder, reached)
        assert child.stdout.readline() == "ready\n"
        first = child.stdout.readline() if kill % 2 else ""  # every other one has written once
        time.sleep(moment)
        child.kill()
        said, _ = child.communicate(timeout=60)
        assert child.returncode == -9
        told = int([str(reached), *(first + said).split()][-1])
        est = pt.read_linkage(folder)
        found = sum(name.startswith("r") for name in est.similarity.names) - 1
        assert told <= found <= told + 1
        chain = pairs_of(*((f"r{k}", f"r{k + 1}", 0.9) for k in range(found)), *table.iloc[1:].itertuples(index=False))
        whole = pt.estimate(pt.as_similarity(chain, names=est.similarity.names), "binder", rng=1)
        assert est.expected_loss == pytest.approx(whole.expected_loss, abs=1e-12)
        if found > 1:
            before = pt.read_linkage(folder, step_back=True)
            assert before.similarity.n_items == est.similarity.n_items - 1
        reached = found
    return reached


@pytest.mark.skipif(sys.platform == "win32", reason="kills with SIGKILL")
def test_killed_during_updates_the_state_is_the_last_or_the_new_one(tmp_path):
    assert kill_updates(tmp_path / "linked", 4) > 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kills with SIGKILL")
def test_killed_fifty_times_during_updates(tmp_path):
    assert kill_updates(tmp_path / "linked", 50) > 20


def kill_commands(folder, kills, tables):
    """The command is killed in the middle of updates: the state is the last whole one or the new one, and goes on."""
    rng = np.random.default_rng(kills)
    table = pairs_of(*((f"x{k}", f"y{k}", 0.7) for k in range(200)))
    pt.write_linkage(folder, pt.estimate(pt.as_similarity(table), "binder", rng=1))
    began, took, finished = 400, None, 0
    for _ in range(kills + 1):
        more = folder.parent / "more.csv"
        more.write_text(f"left,right,p\nnew {began},x0,0.1\n")
        words = [sys.executable, "-m", "partita", "link", more, "--previous", folder, "--tables", tables, "--json"]
        owner = (folder / "lock").read_bytes() if took else b""
        child = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL)
        while child.poll() is None and not ((folder / "lock").exists() and (folder / "lock").read_bytes() != owner):
            time.sleep(0.002)
        start = time.perf_counter()
        if took is None:  # the first one tells how long it takes from the lock on
            assert child.wait() == 0
            took = time.perf_counter() - start
        else:
            time.sleep(rng.uniform(0, 1.3) * took)
            child.kill()
            finished += child.wait() == 0
        est = pt.read_linkage(folder)
        assert est.similarity.n_items in (began, began + 1)
        assert pt.read_linkage(folder, step_back=True).similarity.n_items == est.similarity.n_items - 1
        assert est.expected_loss == pytest.approx(pt.pair_loss(est.labels, est.similarity, "binder"), abs=1e-12)
        began = est.similarity.n_items
    return began - 400, finished


@pytest.mark.slow
@pytest.mark.parametrize("tables", ["all", "changed"])
@pytest.mark.skipif(sys.platform == "win32", reason="kills with SIGKILL")
def test_the_command_killed_fifty_times(tmp_path, tables):
    reached, finished = kill_commands(tmp_path / "linked", 25, tables)
    assert 1 < reached < 26
    assert finished < 25


def test_nothing_is_pickled_and_names_are_plain_text(tmp_path):
    folder = tmp_path / "linked"
    pt.write_linkage(folder, first(loss="binder"))
    facts = json.loads((folder / "state-000001" / "state.json").read_text())["body"]
    assert facts["format"] == "partita linkage"
    assert np.load(folder / "state-000001" / "names_text.npy", allow_pickle=False).tobytes().decode() == "äbcdef"
