"""Damaged and hostile files: one sentence that names the file, in little time, and exit code 2 on the command line."""

import gzip
import os
import shutil
import struct
import time
import tracemalloc
import zipfile

import numpy as np
import pytest

import partita as pt
from partita._support import memory as _memory
from partita.draws.sources import files, source, text
from support import forks
from support.commands import one_sentence

SECONDS = 20  # far more than any of these needs


def npy(path, header, content=b""):
    line = header.encode() + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(line).to_bytes(2, "little") + line + content)
    return path


def refusal(path):
    """What is said of a file that is refused; None for one that reads as draws."""
    try:
        assert pt.read_draws(path).n_items >= 1
    except (ValueError, MemoryError) as error:
        return str(error)
    return None


HEADERS = {
    "no bytes per element": "{'descr': '|S0', 'fortran_order': False, 'shape': (1000000000000, 3)}",
    "many empty chains": "{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000, 0, 3)}",
    "many empty draws": "{'descr': '<i8', 'fortran_order': True, 'shape': (1000000000000, 0)}",
    "more than there is": "{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000, 3)}",
    "more than there is, Fortran": "{'descr': '<i8', 'fortran_order': True, 'shape': (1000000000000, 3)}",
    "negative": "{'descr': '<i8', 'fortran_order': True, 'shape': (2, -1)}",
    "beyond 64 bits": "{'descr': '<i8', 'fortran_order': False, 'shape': (10**30, 0)}".replace(
        "10**30", "1" + "0" * 30
    ),
    "unfinished": "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2",
    "nonsense": "((((",
    "pickled": "{'descr': '|O', 'fortran_order': False, 'shape': (2, 2)}",
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_headers_of_npy_files_are_not_believed(tmp_path, header):
    path = npy(tmp_path / "draws.npy", header, bytes(48))
    started = time.monotonic()
    with pytest.raises(ValueError, match=r"draws\.npy, read as npy: |no draws|no items"):
        pt.read_draws(path)
    with zipfile.ZipFile(tmp_path / "draws.npz", "w") as archive:
        archive.write(path, "draws.npy")
    with pytest.raises((ValueError, MemoryError), match=r"draws\.npz, read as npz: |no draws|no items"):
        pt.read_draws(tmp_path / "draws.npz")
    assert time.monotonic() - started < SECONDS


@pytest.mark.parametrize("words", [("estimate",), ("ensemble",), ("compare", "{}"), ("similarity",)])
@pytest.mark.parametrize("header", ["no bytes per element", "beyond 64 bits", "unfinished"])
def test_the_command_says_so_in_one_sentence(tmp_path, words, header):
    path = npy(tmp_path / "draws.npy", HEADERS[header])
    done = forks.run(forks.COMMAND, *(word.format(path) for word in words), path)
    assert done.returncode == 2
    assert "draws.npy" in one_sentence(done.stderr)


@pytest.mark.filterwarnings("ignore:.*damaged.* is read as Latin-1")
@pytest.mark.parametrize("suffix", ["npy", "npz", "csv", "csv.gz", "parquet", "zarr", "nc"])
def test_whatever_is_changed_an_error_names_the_file(tmp_path, monkeypatch, suffix):
    """Bytes of a good file are changed here and there: it reads as draws, or ValueError says which file is damaged."""
    monkeypatch.setattr(files, "check_metadata_end", lambda path: None)  # a process for each file takes long
    whole = tmp_path / f"whole.{suffix}"
    pt.write_draws(whole, pt.as_sample(pt.datasets.make_draws(6, 8, 3, rng=1), names=list("abcdef")))
    rng = np.random.default_rng(15)
    for attempt in range(40):
        damaged = tmp_path / f"damaged-{attempt}.{suffix}"
        parts = [whole]
        if whole.is_dir():
            shutil.copytree(whole, damaged)
            parts = sorted(p for p in whole.rglob("*") if p.is_file())
        chosen = parts[rng.integers(len(parts))]
        content = bytearray(chosen.read_bytes())
        for _ in range(1 + attempt % 3):
            content[rng.integers(len(content))] ^= 1 << rng.integers(8)
        target = damaged / chosen.relative_to(whole) if whole.is_dir() else damaged
        target.write_bytes(content[: rng.integers(len(content))] if attempt % 5 == 4 else content)
        said = refusal(damaged)
        assert said is None or (("damaged-" in said or "no draws" in said) and "\n" not in said), said


def test_a_line_that_never_ends_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "LONGEST_LINE", 1 << 20)
    monkeypatch.setattr(text, "BYTES_PER_PIECE", 1 << 12)
    path = tmp_path / "draws.csv"
    path.write_bytes(b"1," * (1 << 21))
    with pytest.raises(ValueError, match=r"draws\.csv, line 1 is longer than 1 MiB"):
        pt.read_draws(path)
    path.write_bytes(b"0,1\n" * 20 + b"1," * (1 << 21))
    with pytest.raises(ValueError, match=r"draws\.csv, line 21 is longer than 1 MiB"):
        pt.read_draws(path)


def test_a_long_line_is_read_once(tmp_path, monkeypatch):
    """In pieces of 1 KiB a line of 8 MiB took a minute when each piece was added to what had been read."""
    monkeypatch.setattr(text, "BYTES_PER_PIECE", 1 << 10)
    path = tmp_path / "draws.csv"
    line = b",".join([b"1"] * (1 << 22))
    path.write_bytes(line + b"\n")
    started = time.process_time()
    with path.open("rb") as stream:
        pieces = list(text._pieces(stream, "draws.csv"))
    assert time.process_time() - started < SECONDS
    assert [(piece.first_line, len(piece.text)) for piece in pieces] == [(1, len(line) + 1)]


@pytest.mark.parametrize("fate", ["while True: pass", "import os; os.abort()"])
def test_metadata_that_the_library_cannot_read_to_their_end_are_refused(tmp_path, monkeypatch, fate):
    """HDF5 went round in circles, which nothing could stop; tests/regressions has such a file."""
    path = tmp_path / "draws.nc"
    pt.write_draws(path, [[0, 1], [0, 0]])
    monkeypatch.setattr(files, "SECONDS", 1)
    monkeypatch.setattr(files, "_OPEN", files._OPEN + fate)
    with pytest.raises(ValueError, match=r"draws\.nc, read as nc: it is damaged: its metadata cannot be read"):
        pt.read_draws(path)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
@pytest.mark.parametrize("name", ["draws.csv", "draws.npy", "draws.npz", "draws.parquet", "draws.nc"])
def test_an_endless_device_is_no_file_of_draws(tmp_path, name):
    (tmp_path / name).symlink_to("/dev/zero")
    code = f"import partita as pt\ntry: pt.read_draws({str(tmp_path / name)!r})\nexcept ValueError as e: print(e)"
    assert name in forks.run(code).stdout


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
@pytest.mark.parametrize(
    "words", [("compare", "{}"), ("ensemble",), ("blockmodel",), ("sample", "dpm", "--out", "{}.run")]
)
def test_the_command_reads_no_endless_device(tmp_path, words):
    path = tmp_path / "table.csv"
    path.symlink_to("/dev/zero")
    done = forks.run(forks.COMMAND, *(word.format(path) for word in words), path)
    assert done.returncode == 2
    assert "table.csv" in one_sentence(done.stderr)


def test_a_compressed_stream_of_nulls_is_refused_at_once(tmp_path):
    path = tmp_path / "draws.csv.gz"
    path.write_bytes(gzip.compress(bytes(1 << 26)))
    with pytest.raises(ValueError, match=r"draws\.csv\.gz, line 1: not text \(UTF-8\), but byte 0x00"):
        pt.read_draws(path)


@pytest.mark.parametrize("name", [".chain", ".weight", " .draw", "chain"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_names_that_mark_columns_are_not_written_as_items(tmp_path, name, suffix):
    sample = pt.as_sample([[0, 1], [0, 0]], names=["a", name])
    with pytest.raises(ValueError, match="rename it"):
        pt.write_draws(tmp_path / f"draws.{suffix}", sample)
    assert not list(tmp_path.iterdir())


# ---- small files that unfold


def counted_rds(path, count):
    """R's 1:count, which saveRDS writes as three numbers."""
    kind, package = (struct.pack(">iiii", 2, 1, 9, len(name)) + name for name in (b"compact_intseq", b"base"))
    pairs = kind + package + struct.pack(">iiiii", 2, 13, 1, 13, 254)
    state = struct.pack(">iiddd", 14, 3, count, 1.0, 1.0)
    head = b"X\n" + struct.pack(">iiii", 3, 0x40300, 0x30500, 5) + b"UTF-8"
    path.write_bytes(head + struct.pack(">i", 238) + pairs + state + struct.pack(">i", 254))
    return path


def test_a_sequence_of_r_is_refused_before_it_is_made(tmp_path):
    """102 bytes asked for 112 GiB."""
    pytest.importorskip("rdata")
    with pytest.raises(ValueError, match=r"long\.rds.*a sequence of 30,000,000,000 numbers; at most"):
        pt.read_draws(counted_rds(tmp_path / "long.rds", 3e10))
    with pytest.raises(ValueError, match="it must hold a matrix or a data frame"):
        pt.read_draws(counted_rds(tmp_path / "short.rds", 5))


def test_compressed_draws_are_read_in_pieces(tmp_path, monkeypatch):
    """An npz file of 3 MB took 3 GB."""
    monkeypatch.setattr(source, "CELLS_PER_BLOCK", 100_000)
    np.savez_compressed(tmp_path / "draws.npz", draws=np.zeros((2000, 10_000), np.int8))
    tracemalloc.start()
    sample = pt.read_draws(tmp_path / "draws.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (sample.n_draws, sample.n_unique) == (2000, 1)
    assert peak < 5e6


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(60, 30), (3, 20, 30)])
def test_the_pieces_of_compressed_draws_are_the_draws(tmp_path, monkeypatch, shape, order):
    monkeypatch.setattr(source, "CELLS_PER_BLOCK", 200)
    draws = np.random.default_rng(1).integers(4, size=shape)
    np.savez_compressed(tmp_path / "draws.npz", draws=np.array(draws, order=order))
    found, expected = pt.read_draws(tmp_path / "draws.npz"), pt.as_sample(draws)
    assert np.array_equal(found.labels, expected.labels)
    assert np.array_equal(found.index, expected.index)
    assert found.n_chains == expected.n_chains


def test_pairs_that_need_more_memory_than_is_free_are_not_read(tmp_path, monkeypatch):
    from scipy.sparse import eye_array, save_npz

    monkeypatch.setattr(_memory, "free_bytes", lambda: 1 << 20)
    save_npz(tmp_path / "pairs.npz", eye_array(100_000, format="csr"))
    with pytest.raises(MemoryError, match=r"pairs\.npz need at least 0\.0 GiB, but 0\.0 GiB are free"):
        pt.as_similarity(tmp_path / "pairs.npz")
