"""Files and folders that appear whole or not at all, and that take the place of nothing but their own kind."""

from __future__ import annotations

import errno
import itertools
import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import partita as pt
from partita._support import atomic as _atomic
from partita._support.atomic import NotReplaced, atomic_file, atomic_folder, files_only, remove_leftovers
from support import forks

DRAWS = [[0, 0, 1], [0, 1, 1], [0, 0, 1]]
SUFFIXES = [".csv", ".csv.gz", ".npy", ".npz", ".parquet", ".zarr", ".nc"]


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def write_folder(path, text="new", find_foreign=None):
    with atomic_folder(path, find_foreign=find_foreign) as temporary:
        (temporary / "a.txt").write_text(text)


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with atomic_file(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
        assert temporary.name == "a.txt"  # libraries look at the ending
    assert path.read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("way", [atomic_file, atomic_folder])
@pytest.mark.parametrize("failure", [ValueError("bad"), KeyboardInterrupt(), SystemExit(143)])
def test_a_failure_changes_nothing(tmp_path, way, failure):
    def write():
        with way(tmp_path / "a") as temporary:
            (temporary if way is atomic_file else temporary / "b").write_text("half")
            raise failure

    with pytest.raises(type(failure)):
        write()
    assert names(tmp_path) == []


def test_temporary_names_are_private_and_cannot_be_guessed(tmp_path):
    """They used to be .{pid}.{name}: a link of that name led to a file that was overwritten."""
    seen = set()
    for _ in range(20):
        with atomic_file(tmp_path / "a") as temporary:
            temporary.write_text("x")
            assert temporary.parent.stat().st_mode & 0o777 == 0o700
            assert str(os.getpid()) not in temporary.parent.name
            seen.add(temporary.parent.name)
    assert len(seen) == 20


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_planted_links_are_not_followed(tmp_path, suffix):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder = tmp_path / "out"
    folder.mkdir()
    for name in (f".{os.getpid()}.draws{suffix}", f".draws{suffix}.{os.getpid()}", f".draws{suffix}.tmp"):
        (folder / name).symlink_to(victim)
    pt.write_draws(folder / f"draws{suffix}", DRAWS)
    assert victim.read_text() == "precious"


def test_a_link_is_replaced_and_not_followed(tmp_path):
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "draws.csv").symlink_to(tmp_path / "victim")
    pt.write_draws(tmp_path / "draws.csv", DRAWS)
    assert (tmp_path / "victim").read_text() == "precious"
    assert not (tmp_path / "draws.csv").is_symlink()


def test_a_folder_takes_only_a_free_place(tmp_path):
    path = tmp_path / "a"
    path.mkdir()
    write_folder(path)  # an empty folder is as good as none
    with pytest.raises(NotReplaced, match="exists already"):
        write_folder(path, "newer")
    assert (path / "a.txt").read_text() == "new"
    (tmp_path / "file").write_text("mine")
    with pytest.raises(NotReplaced, match="it is a file"):
        write_folder(tmp_path / "file", find_foreign=files_only("a.txt"))
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(NotReplaced, match="symbolic link"):
        write_folder(tmp_path / "link", find_foreign=files_only("a.txt"))
    assert names(tmp_path) == ["a", "file", "link"]


def test_a_folder_replaces_its_own_kind(tmp_path):
    path = tmp_path / "a"
    for text in ("one", "two"):
        write_folder(path, text, files_only("a.txt"))
        assert (path / "a.txt").read_text() == text
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("name", ["notes.txt", "sub/"])
def test_foreign_things_are_kept_even_if_they_come_late(tmp_path, late, name):
    path = tmp_path / "a"
    write_folder(path, "old")

    def plant():
        (path / name).mkdir() if name.endswith("/") else (path / name).write_text("mine")

    if not late:
        plant()

    def replace():
        with atomic_folder(path, find_foreign=files_only("a.txt")):
            assert late, "refused before the work"
            plant()

    with pytest.raises(NotReplaced, match=name.rstrip("/")):
        replace()
    assert names(path) == sorted(["a.txt", name.rstrip("/")])
    assert names(tmp_path) == ["a"]


def let_renames_fail(monkeypatch, which):
    """From here on, the n-th rename fails if `which(path, n)` says so."""
    rename, count = Path.rename, itertools.count(1)

    def perhaps(self, target):
        if which(self, next(count)):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", perhaps)


def test_an_earlier_folder_is_put_back_if_the_rename_fails(tmp_path, monkeypatch):
    """It used to be deleted before the rename."""
    write_folder(tmp_path / "a", "old")
    let_renames_fail(monkeypatch, lambda path, n: path.name == "a" and n == 3)
    with pytest.raises(OSError, match="nothing was written"):
        write_folder(tmp_path / "a", "new", files_only("a.txt"))
    assert (tmp_path / "a" / "a.txt").read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_what_cannot_be_put_back_is_not_deleted(tmp_path, monkeypatch):
    write_folder(tmp_path / "a", "old")
    let_renames_fail(monkeypatch, lambda path, n: n >= 3)
    with pytest.raises(OSError, match="error"):
        write_folder(tmp_path / "a", "new", files_only("a.txt"))
    assert [path.read_text() for path in tmp_path.rglob("a.txt")] == ["old"]


def test_leftovers_of_killed_processes_are_removed(tmp_path):
    (tmp_path / ".partita-abc" / "deep").mkdir(parents=True)
    (tmp_path / ".partita-def").write_text("half")
    (tmp_path / "mine").mkdir()
    (tmp_path / ".partita-link").symlink_to(tmp_path / "mine")
    (tmp_path / "mine" / "notes").write_text("keep")
    remove_leftovers(tmp_path)
    assert names(tmp_path) == [".partita-link", "mine"]
    assert names(tmp_path / "mine") == ["notes"]


@pytest.mark.parametrize("name", ["", ".", "..", "x/.."])
def test_a_path_without_a_name_is_refused(tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").mkdir()
    for way in (atomic_file, atomic_folder):
        with pytest.raises(ValueError, match=r"name|folder|replaced"), way(name):
            pass
    assert names(tmp_path) == ["x"]


def test_other_errors_of_the_block_keep_their_names(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, atomic_folder(tmp_path / "a"):
        (tmp_path / "no such input").read_text()
    assert caught.value.filename == str(tmp_path / "no such input")
    with pytest.raises(OSError, match=r"^no scheduler$"), atomic_folder(tmp_path / "a"):
        raise OSError("no scheduler")


# ---- samples and stores


def test_saving_over_a_sample_keeps_what_else_is_there(tmp_path):
    """notes.txt and a subfolder used to be deleted."""
    sample = pt.as_sample(DRAWS)
    sample.save(tmp_path / "A")
    (tmp_path / "A" / "notes.txt").write_text("mine")
    (tmp_path / "A" / "figures").mkdir()
    with pytest.raises(ValueError, match=r"A'?$") as caught:
        sample.save(tmp_path / "A")
    assert "it contains other files ('figures') and is not replaced" in str(caught.value)
    assert {"notes.txt", "figures"} <= set(names(tmp_path / "A"))
    (tmp_path / "A" / "figures").rmdir()
    (tmp_path / "A" / "notes.txt").unlink()
    pt.as_sample(DRAWS[:1]).save(tmp_path / "A")
    assert pt.open_sample(tmp_path / "A").n_draws == 1


def test_a_zarr_store_with_other_groups_is_not_replaced(tmp_path):
    """They used to be deleted."""
    zarr = pytest.importorskip("zarr")
    path = tmp_path / "Z.zarr"
    pt.write_draws(path, DRAWS)
    zarr.open_group(str(path), mode="a")["other"] = np.arange(3)
    with pytest.raises(ValueError, match="other files \\('other'\\)"):
        pt.write_draws(path, DRAWS[:2])
    assert zarr.open_group(str(path), mode="r")["other"][:].tolist() == [0, 1, 2]
    del zarr.open_group(str(path), mode="a")["other"]
    (path / "draws" / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"draws/notes\.txt"):
        pt.write_draws(path, DRAWS[:2])
    (path / "draws" / "notes.txt").unlink()
    pt.write_draws(path, DRAWS[:2])
    assert pt.read_draws(path).n_draws == 2


@pytest.mark.parametrize("version", [2, 3])
def test_only_draws_in_zarr_are_replaced_by_draws(tmp_path, version):
    zarr = pytest.importorskip("zarr")
    path = tmp_path / "Z.zarr"
    zarr.create_array(store=str(path), data=np.arange(6).reshape(2, 3), zarr_format=version)
    with pytest.raises(ValueError, match="not replaced"):
        pt.write_draws(path, DRAWS)
    grouped = tmp_path / "G.zarr"
    group = zarr.open_group(str(grouped), mode="w", zarr_format=version)
    group.create_array("draws", shape=(4, 3), dtype=np.int64, chunks=(2, 2))
    pt.write_draws(grouped, DRAWS)
    assert pt.read_draws(grouped).n_draws == 3


# ---- the disk is full


LIMITED = """
import resource, signal
import numpy as np, partita as pt
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sample = pt.as_sample(np.random.default_rng(1).integers(5, size=(200, 1000)))
if {warm}:
    pt.write_draws(r"{path}", [[0, 1]])
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    {action}
except OSError as error:
    print(type(error).__name__, "|", error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs file size limits")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_full_disk_is_said_and_the_old_file_stays(tmp_path, suffix):
    path = tmp_path / f"draws{suffix}"
    answer = forks.run(LIMITED.format(path=path, warm=True, action=f"pt.write_draws(r'{path}', sample)"))
    assert "nothing was written" in answer.stdout, answer.stderr
    assert path.name in answer.stdout
    assert pt.read_draws(path).n_items == 2
    assert names(tmp_path) == [path.name]


@pytest.mark.skipif(sys.platform == "win32", reason="needs file size limits")
@pytest.mark.parametrize("write", ["sample.save(r'{}')", "pt.as_sample(sample.to_numpy(), store=r'{}')"])
def test_a_sample_on_a_full_disk(tmp_path, write):
    """save used to say [Errno None] None."""
    path = tmp_path / "kept"
    answer = forks.run(LIMITED.format(path=path, warm=False, action=write.format(path)))
    assert answer.stdout.strip() == f"OSError | [Errno 27] File too large; nothing was written: {str(path)!r}"
    assert names(tmp_path) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_every_kind_of_full_is_named(tmp_path, monkeypatch, code):
    def fails(handle):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(_atomic.os, "fsync", fails)
    with pytest.raises(OSError, match=f"{os.strerror(code)}; nothing was written") as caught:
        pt.as_sample(DRAWS).save(tmp_path / "kept")
    assert caught.value.errno == code
    assert caught.value.filename == str(tmp_path / "kept")
    assert names(tmp_path) == []


def test_a_thread_that_writes_on_after_the_failure_leaves_nothing(tmp_path):
    """As those of Zarr do on a full disk."""

    def keep_writing(folder):
        for number in range(20):
            with suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{number}").write_text("late", encoding="utf-8")
            time.sleep(0.01)

    def fail():
        with atomic_folder(tmp_path / "a") as temporary:
            writers.append(threading.Thread(target=keep_writing, args=(temporary,)))
            writers[0].start()
            time.sleep(0.05)
            raise OSError(errno.ENOSPC, "full")

    writers = []
    with pytest.raises(OSError, match="full; nothing was written"):
        fail()
    writers[0].join()
    assert names(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs file size limits")
def test_of_two_files_none_is_written_if_the_disk_is_full_at_the_second(tmp_path):
    pt.write_draws(tmp_path / "draws.npy", DRAWS)
    fonts = "import matplotlib.font_manager\n"  # which are listed in a file, once for each user
    limited = fonts + "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))\n"
    words = ("similarity", "draws.npy", "--out", "s.csv", "--figure", "s.png")
    done = forks.run(limited + forks.COMMAND, *words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "partita: s.png: File too large; nothing was written\n")
    assert names(tmp_path) == ["draws.npy"]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_half_of_a_surrogate_pair_is_named(tmp_path, suffix):
    sample = pt.as_sample(DRAWS, names=["a\ud800", "b", "c"])
    with pytest.raises(ValueError, match=rf"draws{suffix}: .*a\\ud800.* half of a surrogate pair.*; nothing was"):
        pt.write_draws(tmp_path / f"draws{suffix}", sample)
    assert names(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux", reason="names of files may be any bytes")
def test_a_path_that_is_no_utf8(tmp_path):
    """The page has the command line in it."""
    pt.write_draws(tmp_path / "draws.npy", DRAWS)
    os.rename(tmp_path / "draws.npy", os.fsencode(tmp_path) + b"/\xff.npy")
    code = "import sys\nsys.argv[2] = '\\udcff.npy'\n" + forks.COMMAND
    done = forks.run(code, "report", "", "--out", "page.html", "--runs", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert r"\udcff.npy" in (tmp_path / "page.html").read_text(encoding="utf-8")


# ---- commands at the same time


def test_of_four_commands_with_one_folder_one_succeeds(tmp_path, draws_file):
    """All four used to report success."""
    words = ("estimate", draws_file, "--out", tmp_path / "same", "--seed", 1, "--json")
    with ThreadPoolExecutor(4) as pool:
        answers = [future.result() for future in [pool.submit(forks.run, forks.COMMAND, *words) for _ in range(4)]]
    assert sorted(answer.returncode for answer in answers) == [0, 2, 2, 2]
    for answer in answers:
        if answer.returncode == 0:
            summary = json.loads((tmp_path / "same" / "summary.json").read_text())
            assert json.loads(answer.stdout)["labels"] == summary["labels"]
        else:
            assert answer.stdout == ""
            assert "same" in answer.stderr
            assert "exists already" in answer.stderr
    assert names(tmp_path) == ["same"]


def test_savers_at_the_same_time_leave_one_whole_sample(tmp_path):
    code = f"""
import partita as pt, sys
number = int(sys.argv[1])
for _ in range(30):
    pt.as_sample([[0] * number]).save(r"{tmp_path / "A"}")
"""
    with ThreadPoolExecutor(3) as pool:
        for future in [pool.submit(forks.run, code, number) for number in (2, 3, 4)]:
            assert future.result().returncode == 0, future.result().stderr
    assert pt.open_sample(tmp_path / "A").n_items in (2, 3, 4)
    assert names(tmp_path) == ["A"]
