"""Tables that are read as a whole: in little memory, with limits, and the same whatever the blocks."""

import gzip
import tracemalloc

import numpy as np
import pytest

from partita._support import memory as _memory
from partita._support.text import table
from partita._support.text.header import MIXED
from partita._support.text.table import Texts
from partita.cli.mixture_table import read_mixed


def test_texts_are_packed_and_unpacked():
    words = ["a", "", "bcd", "ü", "", "e f"]
    texts = Texts([words[:1], words[1:4], words[4:]])
    assert list(texts) == words
    assert [texts[at] for at in range(-6, 6)] == words + words
    assert texts[1:5:2] == words[1:5:2]
    assert len(texts) == 6
    with pytest.raises(IndexError):
        texts[6]


TABLES = {
    "decimal commas": "x;y\n1,5;2\n3;b\n\n4;5\n6;7\n8;9\n",
    "no header": "1,a\n2,b\n3,c\n4,a\n5,b\n6,c\n",
    "row names": '"a" 1 2\n"b" 3 4\n"c" 5 6\n"d" 7 8\n',
    "separators at the end": "x,y,\n1,2,\n3,4,\n5,6,\n7,8,\n",
}


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_blocks_of_rows_do_not_matter(tmp_path, monkeypatch, text):
    (tmp_path / "table.csv").write_text(text)
    found = []
    for rows in (1, 2, 1000):
        monkeypatch.setattr(table, "ROWS_PER_BLOCK", rows)
        read = table.read_table(tmp_path / "table.csv", MIXED)
        found.append((read.names, list(read.rows), read.rows[-1], list(read.row_names or ()), read.has_header))
    assert found[0] == found[1] == found[2]


def test_a_row_of_another_width_is_named_in_whatever_block(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "ROWS_PER_BLOCK", 2)
    (tmp_path / "table.csv").write_text("x,y\n" + "1,2\n" * 7 + "1,2,3\n1,2\n")
    with pytest.raises(ValueError, match=r"table\.csv, line 9: 3 cells, but line 2 has 2"):
        table.read_table(tmp_path / "table.csv", MIXED)


def test_cells_take_little_memory(tmp_path, monkeypatch):
    """They took 125 bytes each, and 76 were kept."""
    monkeypatch.setattr(table, "ROWS_PER_BLOCK", 50)
    monkeypatch.setattr(table, "SIZE_OF_PIECE", 1 << 14)
    numbers = np.random.default_rng(1).normal(size=(800, 50))
    np.savetxt(tmp_path / "table.csv", numbers, "%.6f", ",", header=",".join(f"c{j}" for j in range(50)), comments="")
    read_mixed(str(tmp_path / "table.csv"), {}, None)  # what is loaded once
    tracemalloc.start()
    read = read_mixed(str(tmp_path / "table.csv"), {}, None)
    kept, peak = (size / numbers.size for size in tracemalloc.get_traced_memory())
    tracemalloc.stop()
    assert np.array_equal(np.column_stack([column.values for column in read.columns]), numbers.round(6))
    assert kept < 12
    assert peak < 80


@pytest.mark.parametrize("compress", [False, True])
def test_a_line_that_never_ends_is_refused(tmp_path, monkeypatch, compress):
    monkeypatch.setattr(table, "LONGEST_LINE", 1 << 20)
    monkeypatch.setattr(table, "SIZE_OF_PIECE", 1 << 18)
    path = tmp_path / ("table.csv.gz" if compress else "table.csv")
    content = b"x,y\n" + b"1," * (1 << 20)
    path.write_bytes(gzip.compress(content) if compress else content)
    with pytest.raises(ValueError, match=r"table\.csv.* has a line longer than 1 MiB: is it a csv file\?"):
        table.read_table(path, MIXED)
    short = b'"x","y"\r' + b'"aaaaaaaaaaaaaaaaaaaa","b"\r' * (1 << 16)
    path.write_bytes(gzip.compress(short) if compress else short)
    assert len(table.read_table(path, MIXED, ["x"]).lines) == 1 << 16


@pytest.mark.parametrize("free", [1000, 40_000])
def test_a_table_that_does_not_fit_in_memory_is_not_read(tmp_path, monkeypatch, free):
    """It is seen from the size of the file, or while it is decompressed."""
    monkeypatch.setattr(_memory, "free_bytes", lambda: free)
    monkeypatch.setattr(table, "SIZE_OF_PIECE", 1 << 12)
    (tmp_path / "table.csv.gz").write_bytes(gzip.compress(b"1,2\n" * 50_000))
    with pytest.raises(MemoryError, match=r"the .*cells of .*table\.csv\.gz need at least 0\.0 GiB, but 0\.0 GiB are"):
        table.read_table(tmp_path / "table.csv.gz", MIXED)
