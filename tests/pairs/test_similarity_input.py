"""Pair probabilities from matrices, tables and files: what is read, and what is wrong with what is not."""

import contextlib
import gzip
import json
import os
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from typer.testing import CliRunner

import partita as pt
from partita.cli import app
from support import forks

MATRIX = np.array([[1, 0.9, 0, 0.2], [0.9, 1, 0.4, 0], [0, 0.4, 1, 0], [0.2, 0, 0, 1]])
ROWS = [("a", "b", 0.9), ("c", "b", 0.4), ("a", "d", 0.2)]
NAMES = ("a", "b", "c", "d")
TABLE = pd.DataFrame(ROWS, columns=["left", "right", "probability"])
SPLINK = pd.DataFrame(
    {
        "match_weight": [3.0, 1.0, 0.1],
        "match_probability": [0.9, 0.4, 0.2],
        "unique_id_l": [1, 2, 1],
        "unique_id_r": [2, 3, 4],
        "first_name_l": ["x", "y", "z"],
    }
)


def matches(pairs, names=NAMES):
    assert pairs.names == names
    assert np.array_equal(pairs.to_dense(), MATRIX)


HOLDERS = {
    "pandas": lambda: TABLE,
    "list": lambda: [tuple(row) for row in ROWS],
    "polars": lambda: pl.DataFrame(TABLE),
    "arrow": lambda: pa.Table.from_pandas(TABLE, preserve_index=False),
    "other names": lambda: TABLE.rename(columns={"left": "x", "right": "y", "probability": "z"}),
    "recordlinkage": lambda: TABLE.set_index(["left", "right"])["probability"],
    "dedupe": lambda: np.array(
        [((left, right), p) for left, right, p in ROWS], dtype=[("pairs", "<U8", (2,)), ("score", "f8")]
    ),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_tables_of_pairs(holder):
    # items by first appearance: a b c d
    matches(pt.as_similarity(HOLDERS[holder]()))


@pytest.mark.parametrize(
    "matrix", [MATRIX, MATRIX - np.eye(4), sparse.csr_array(MATRIX), sparse.coo_array(np.triu(MATRIX))]
)
def test_matrices(matrix):
    matches(pt.as_similarity(matrix), None)
    matches(pt.as_similarity(matrix, names=list("abcd")))


def test_a_square_table_is_a_matrix_with_names():
    matches(pt.as_similarity(pd.DataFrame(MATRIX, index=list(NAMES), columns=list(NAMES))))


def test_files(tmp_path):
    TABLE.to_csv(tmp_path / "pairs.csv", index=False)
    TABLE.to_csv(tmp_path / "bare.csv", index=False, header=False)
    TABLE.to_csv(tmp_path / "semicolons.csv", index=False, sep=";", decimal=",")
    with gzip.open(tmp_path / "pairs.csv.gz", "wt") as stream:
        TABLE.to_csv(stream, index=False)
    pq.write_table(pa.Table.from_pandas(TABLE), tmp_path / "pairs.parquet")
    for name in ("pairs.csv", "bare.csv", "semicolons.csv", "pairs.csv.gz", "pairs.parquet"):
        matches(pt.as_similarity(tmp_path / name))
    np.save(tmp_path / "psm.npy", MATRIX)
    sparse.save_npz(tmp_path / "psm.npz", sparse.csr_array(MATRIX))
    matches(pt.as_similarity(tmp_path / "psm.npy"), None)
    matches(pt.as_similarity(str(tmp_path / "psm.npz")), None)


def test_columns_of_splink(tmp_path):
    pairs = pt.as_similarity(SPLINK)
    assert pairs.names == ("1", "2", "3", "4")
    assert np.array_equal(pairs.to_dense(), MATRIX)
    sourced = SPLINK.assign(source_dataset_l=["x", "y", "x"], source_dataset_r=["y", "x", "y"])
    sourced.to_csv(tmp_path / "splink.csv", index=False)
    pq.write_table(pa.Table.from_pandas(sourced), tmp_path / "splink.parquet")
    for given in (sourced, tmp_path / "splink.csv", tmp_path / "splink.parquet"):
        linked = pt.as_similarity(given)
        assert linked.names == ("x-__-1", "y-__-2", "x-__-3", "y-__-4")
        assert linked.sources == ("x", "y", "x", "y")
        best = pt.estimate(linked, "binder", constraints=pt.Constraints(one_per=linked.sources), rng=1)
        assert best.proven


@pytest.mark.parametrize("names", [("rec_id_1", "rec_id_2"), ("level_0", "level_1"), (None, None), ("id1", "id2")])
@pytest.mark.parametrize("ids", [["a1", "b2", "a3"], [7, 18, 19], ["rec-1-org", "rec-1-dup-0", "rec-2-org"]])
def test_the_header_that_pandas_writes_for_a_series_without_a_name_is_no_pair(tmp_path, names, ids):
    links = pd.MultiIndex.from_tuples([(ids[0], ids[1]), (ids[1], ids[2])], names=names)
    pd.Series([0.9, 0.2], links).to_csv(tmp_path / "p.csv")
    pairs = pt.as_similarity(tmp_path / "p.csv")
    assert (pairs.n_items, pairs.n_pairs) == (3, 2)
    text = CliRunner().invoke(app, ["estimate", "--pairs", str(tmp_path / "p.csv"), "--json"])
    assert len(json.loads(text.stdout)["labels"]) == 3


UUIDS = "".join(f"{uuid.UUID(int=i << 90)},{uuid.UUID(int=~(i << 70) % 2**128)},{p}\n" for i, p in ((5, 1), (9, 0.7)))


@pytest.mark.parametrize("text", ["a,b,1\nx,a,0.9\n", "id_1,id_2,1\nid_3,id_4,0.9\n", UUIDS])
def test_a_first_pair_of_probability_one_is_a_pair(tmp_path, text):
    (tmp_path / "p.csv").write_text(text)
    assert pt.as_similarity(tmp_path / "p.csv").n_pairs == 2


def test_a_first_line_that_may_be_either_is_asked_about(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("ann,bob,1\ncy,dan,0\n")
    with pytest.raises(ValueError, match="line 1 is ann, bob, 1: a header, or the first pair"):
        pt.as_similarity(path)
    path.write_text("a,b,1\nx,y,0.9\ny,z,0.2\n")
    answer = CliRunner().invoke(app, ["estimate", "--pairs", str(path)])
    assert answer.exit_code == 2
    assert "line 1 is a, b, 1: a header, or the first pair" in answer.stderr.replace("\n", " ")
    for line, items in (("left,right,probability", 3), ("left,right,probability\na,b,1", 5)):
        path.write_text(f"{line}\nx,y,0.9\ny,z,0.2\n")
        assert pt.as_similarity(path).n_items == items


def test_whole_numbers_keep_their_order(tmp_path):
    table = pd.DataFrame({"left": [3, 0, 2], "right": [1, 3, 1], "p": [0.5, 0.6, 0.7]})
    table.to_csv(tmp_path / "numbers.csv", index=False)
    for given in (table, tmp_path / "numbers.csv"):
        pairs = pt.as_similarity(given)
        assert pairs.names is None  # 0, 1, 2, 3 only count
        assert pairs.to_dense()[0, 3] == 0.6
        assert pairs.to_dense()[1, 2] == 0.7


def test_names_order_the_items_and_add_those_without_pairs():
    pairs = pt.as_similarity(TABLE, names=["z", "d", "c", "b", "a"])
    assert pairs.n_items == 5
    assert pairs.to_dense()[4, 3] == 0.9
    assert pairs.to_dense()[0].sum() == 1.0
    assert pt.as_similarity(TABLE, columns=("right", "left", "probability")).names == ("b", "a", "c", "d")


def test_similarity_of_draws_without_a_matrix():
    sample = pt.as_sample(pt.datasets.make_draws(50, 30, 5, rng=1))
    dense = pt.similarity(sample)
    assert np.allclose(pt.similarity(sample, sparse=True).to_dense(), dense, atol=1e-12)
    cut = pt.similarity(sample, sparse=True, above=0.31).to_dense()
    assert np.allclose(cut, np.where((dense > 0.31) | np.eye(50, dtype=bool), dense, 0), atol=1e-12)
    gaps = pt.as_sample([[0, 0, -1, 1], [0, -1, 0, 1], [0, 0, 0, 0]], missing=-1)
    assert np.allclose(pt.similarity(gaps, sparse=True).to_dense(), pt.similarity(gaps))
    with pytest.raises(ValueError, match="items is for a block"):
        pt.similarity(sample, [0, 1], sparse=True)
    with pytest.raises(ValueError, match="above is for sparse=True"):
        pt.similarity(sample, above=0.5)


def changed(place, value, matrix=MATRIX):
    copy = matrix.copy()
    copy[place] = value
    return copy


BAD = {
    "asymmetric": (changed((0, 1), 0.3), r"similarity\[0, 1\] is 0.3, but similarity\[1, 0\] is 0.9"),
    "asymmetric sparse": (sparse.csr_array(changed((0, 1), 0.3)), r"similarity\[0, 1\] is 0.3, but similarity\[1, 0\]"),
    "half stored": (
        sparse.csr_array(changed((3, 0), 0)),
        r"similarity\[0, 3\] is stored, but similarity\[3, 0\] is not",
    ),
    "above one": (np.array([[1, 1.5], [1.5, 1]]), r"similarity\[0, 1\] is 1.5, but a probability is from 0 to 1"),
    "missing": (np.array([[1, np.nan], [np.nan, 1]]), r"similarity\[0, 1\] is nan"),
    "diagonal": (changed((2, 2), 0.5), r"similarity\[2, 2\] is 0.5, but diagonal entries must all be 1"),
    "not square": (np.ones((2, 3)), r"square matrix, but its shape is \(2, 3\)"),
    "empty": (np.ones((0, 0)), "similarity has no items"),
    "negative": (TABLE.assign(probability=[0.9, -0.1, 0.2]), "the table, row 1: the probability is -0.1"),
    "a word": (TABLE.assign(probability=["x", "0.1", "0.2"]), "row 0: the probability is 'x', which is not a number"),
    "with itself": (TABLE.assign(right=["b", "c", "d"]), "the table, row 1 is a pair of 'c' with itself"),
    "twice": (
        pd.DataFrame({"l": ["a", "b"], "r": ["b", "a"], "p": [0.9, 0.8]}),
        "the table, row 1 gives 'a' and 'b' the probability 0.8, but the table, row 0 gives it 0.9",
    ),
    "a word in a list": ([("a", "b", 0.5), ("b", "c", "x")], "the list, row 1: the probability is 'x'"),
    "no name": (TABLE.assign(left=["a", None, "a"]), "row 1: an item has no name"),
    "three levels": (TABLE.assign(more=1).set_index(["left", "right", "more"])["probability"], "two index levels"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named(name):
    given, message = BAD[name]
    with pytest.raises((ValueError, TypeError), match=message):
        pt.as_similarity(given)


def test_bad_arguments_are_named():
    for arguments, message in (
        ({"names": ["a", "b", "c"]}, "row 2 names 'd', which is not among names"),
        ({"names": ["a", "b", "c", "d", "a"]}, "names has 'a' twice"),
        ({"default": 1.5}, "default must be a probability"),
        ({"columns": ("left", "right", "chance")}, "the table has no column 'chance'"),
        ({"columns": ("left", "right")}, "three different names"),
    ):
        with pytest.raises(ValueError, match=message):
            pt.as_similarity(TABLE, **arguments)
    with pytest.raises(ValueError, match="a dense matrix has all pairs"):
        pt.as_similarity(MATRIX, default=0.1)
    with pytest.raises(ValueError, match="has 5 columns"):
        pt.as_similarity(TABLE.assign(more=1, most=2).rename(columns={"left": "l"}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("left,right,probability\na,b,x\n", "line 2: the probability is 'x', which is not a number"),
        ("left,right,probability\na,b,0.5\na,b,0.6\n", "line 3 gives 'a' and 'b' the probability 0.6, but .*line 2"),
        ("left,right,probability\na,,0.5\n", "line 2: an item has no name"),
        ("left,right,probability\na,a,0.5\n", "line 2 is a pair of 'a' with itself"),
        ("left,right,probability\na,b,0.5\na,b\n", "line 3: 2 cells, but there are 3 columns"),
        ("left,right,probability\na,b,7\n", "line 2: the probability is 7.0, but a probability is from 0 to 1"),
        ("left,right,probability\n", "has only a header"),
        ("", "is empty"),
        ("\ufeffleft,right,probability\na,b,0.5\n".encode("utf-16-le"), "is UTF-16 text; save it as CSV UTF-8"),
    ],
)
def test_bad_files_name_the_line(tmp_path, text, message):
    path = tmp_path / "pairs.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=message):
        pt.as_similarity(path)


@pytest.mark.parametrize("name", ["x.npz", "x.parquet", "x.npy", "x.csv.gz", "x.csv"])
def test_damaged_files_are_one_sentence(tmp_path, name):
    (tmp_path / name).write_bytes(b"none\0")
    with pytest.raises(ValueError, match=name) as caught:
        pt.as_similarity(tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["x.npz", "x.csv.gz", "x.npy"])
def test_every_damaged_byte_is_told_or_harmless(tmp_path, name):
    """BadZipFile, zlib.error, NotImplementedError and TokenError reached the caller."""
    path = tmp_path / name
    if name == "x.npz":
        sparse.save_npz(path, sparse.csr_array(MATRIX))
    elif name == "x.npy":
        np.save(path, MATRIX)
    else:
        path.write_bytes(gzip.compress(TABLE.to_csv(index=False).encode()))
    whole = path.read_bytes()
    for at in range(0, len(whole), max(1, len(whole) // 300)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
        with contextlib.suppress(ValueError):
            pt.as_similarity(path)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
def test_an_endless_device_is_no_file_of_pairs(tmp_path):
    (tmp_path / "x.csv").symlink_to("/dev/zero")
    code = f"import partita as pt\ntry: pt.as_similarity({str(tmp_path / 'x.csv')!r})\nexcept ValueError as e: print(e)"
    assert "x.csv, line 1 is longer than 1 MiB" in forks.run(code).stdout


def test_more_items_than_fit_in_memory_are_refused(tmp_path):
    """A sparse file of a hundred bytes can announce four thousand million items."""
    one = (np.array([0]), np.array([1]))
    sparse.save_npz(tmp_path / "x.npz", sparse.coo_array((np.array([0.5]), one), shape=(2**32 - 3,) * 2))
    with pytest.raises(MemoryError, match=r"4294967293 items need at least 96\.0 GiB"):
        pt.as_similarity(tmp_path / "x.npz")


OFFSETS, NEIGHBOURS, VALUES = np.array([0, 1, 2]), np.array([1, 0], np.uint32), np.array([0.5, 0.5])


@pytest.mark.parametrize(
    ("offsets", "neighbours", "probabilities", "message"),
    [
        (OFFSETS[:1], NEIGHBOURS[:0], VALUES[:0], "no items"),
        (OFFSETS + 1, NEIGHBOURS, VALUES, "offsets must rise from 0"),
        (OFFSETS[::-1].copy(), NEIGHBOURS, VALUES, "offsets must rise from 0"),
        (np.array([0, 1, 3]), NEIGHBOURS, VALUES, "offsets must rise from 0 to the number of neighbours, 2"),
        (OFFSETS, NEIGHBOURS + np.uint32(1), VALUES, r"neighbors\[0\] is 2, but there are 2 items"),
        (OFFSETS, NEIGHBOURS[::-1].copy(), VALUES, "the item itself"),
        (np.array([0, 2, 2, 2]), np.array([2, 1], np.uint32), VALUES, "not in increasing order"),
        (np.array([0, 1, 1]), NEIGHBOURS[:1], VALUES[:1], "not symmetric"),
        (OFFSETS, NEIGHBOURS, np.array([0.5, 0.6]), "not symmetric"),
        (OFFSETS, NEIGHBOURS, np.array([0.5, np.nan]), r"probabilities\[1\] is nan"),
        (OFFSETS, NEIGHBOURS, VALUES[:1], "2 neighbours, but 1 probabilities"),
    ],
)
def test_a_similarity_of_unsound_arrays_is_refused(offsets, neighbours, probabilities, message):
    """The core read beyond them."""
    with pytest.raises(ValueError, match=message):
        pt.Similarity(offsets, neighbours, probabilities)


def test_a_similarity_has_arrays_of_its_types():
    assert pt.Similarity(OFFSETS, NEIGHBOURS, VALUES).n_pairs == 1
    for arrays in ((OFFSETS.astype(np.uint64), NEIGHBOURS, VALUES), (OFFSETS, [1, 0], VALUES)):
        with pytest.raises(TypeError, match="must be a one-dimensional"):
            pt.Similarity(*arrays)
    with pytest.raises(ValueError, match="names has 1 entries, but there are 2 items"):
        pt.Similarity(OFFSETS, NEIGHBOURS, VALUES, ("a",))


def test_a_sparse_matrix_whose_indices_lead_outside_is_refused():
    matrix = sparse.csr_array(MATRIX)
    matrix.indices[0] = 1000
    with pytest.raises(ValueError, match="not a sound sparse matrix"):
        pt.as_similarity(matrix)


@pytest.mark.parametrize("scale", [1e-200, 1e-42, 1e42, 1e200])
def test_weights_of_the_vi_lower_bound_of_any_size_give_the_same_partition(scale):
    pairs = pt.as_similarity(MATRIX)
    expected = pt.estimate(pairs, pt.VILowerBound(0.7, 1.1), rng=1)
    found = pt.estimate(pairs, pt.VILowerBound(0.7 * scale, 1.1 * scale), rng=1)
    assert found.labels.tolist() == expected.labels.tolist()
    assert found.expected_loss == pytest.approx(scale * expected.expected_loss)
    assert found.proven == expected.proven
    with pytest.raises(ValueError, match="at most 1e\\+10 times the other"):
        pt.VILowerBound(1, scale)


def test_losses_that_need_draws_are_refused():
    pairs = pt.as_similarity(MATRIX)
    for loss in ("vi", pt.VI(), "omari", "zero-one", "nonsense"):
        with pytest.raises(ValueError, match="needs draws"):
            pt.estimate(pairs, loss)
    with pytest.raises(ValueError, match="is a loss of pair probabilities"):
        pt.estimate([[0, 0, 1], [0, 1, 1]], pt.VILowerBound(), check_draws=False)
    for options, message in (
        ({"method": "salso"}, "method 'salso' needs draws"),
        ({"search": pt.Search(max_clusters=2)}, "max_clusters=2 is for draws"),
        ({"search": pt.Search(max_draws=2)}, "max_draws is for draws"),
        ({"weights": [1]}, "weights= is for draws"),
    ):
        with pytest.raises(ValueError, match=message):
            pt.estimate(pairs, "binder", **options)


def test_an_estimate_from_pairs_is_a_partition_by_name():
    best = pt.estimate(pt.as_similarity(TABLE), "binder", rng=1)
    truth = pd.Series({"d": 2, "c": 1, "b": 0, "a": 0})
    assert pt.adjusted_rand(truth, best) == 1.0
    assert best.to_pandas()["cluster"].to_dict() == {"a": 0, "b": 0, "c": 1, "d": 2}


class StreamAlone:
    """What offers an Arrow stream and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, schema=None):
        return self.table.__arrow_c_stream__(schema)


LIBRARIES = {
    "pandas": lambda arrow: arrow.to_pandas(),
    "polars": pl.from_arrow,
    "arrow": lambda arrow: arrow,
    "chunks": lambda arrow: pa.concat_tables([arrow[:7], arrow[7:]]),
    "reader": lambda arrow: arrow.to_reader(),
    "stream": StreamAlone,
    "duckdb": lambda arrow: pytest.importorskip("duckdb").from_arrow(arrow),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", ["text", "numbers", "text of numbers"])
def test_tables_and_streams_of_every_library_give_the_same_pairs(kind, library, monkeypatch):
    """Also the order of the items, which a loop over the rows would define, but there is none."""
    rng = np.random.default_rng(3)
    keys = np.unique(np.sort(rng.integers(40, size=(200, 2)), axis=1), axis=0)
    keys = rng.permutation(keys[keys[:, 0] != keys[:, 1]])
    name = {"text": lambda i: f"rec {i}", "numbers": int, "text of numbers": str}[kind]
    rows = [(name(i), name(j), round(rng.random(), 3)) for i, j in (keys + 70).tolist()]
    table = pd.DataFrame(rows, columns=["left", "right", "p"])
    appear = list(dict.fromkeys(x for i, j, _ in rows for x in (i, j)))
    expected = appear if kind == "text" else sorted(appear, key=int)
    monkeypatch.delattr("partita.pairs.sources.listed.Numbers")
    given = LIBRARIES[library](pa.Table.from_pandas(table, preserve_index=False))
    pairs = pt.as_similarity(given)
    assert pairs.names == tuple(map(str, expected))
    place = {str(x): k for k, x in enumerate(expected)}
    found = {(pairs.names[i], pairs.names[j]): p for i, j, p in zip(*pairs.pairs(), strict=True)}
    listed = {tuple(sorted((str(i), str(j)), key=place.get)): p for i, j, p in rows}
    assert found == listed


@pytest.mark.parametrize("library", LIBRARIES)
def test_sources_of_tables_of_every_library(library):
    columns = {
        "source_dataset_l": ["a", "a", "b"], "unique_id_l": [1, 1, 7], "source_dataset_r": ["b", "a", "b"],
        "unique_id_r": [7, 2, 1], "match_probability": [0.9, 0.4, 0.3],
    }  # fmt: skip
    pairs = pt.as_similarity(LIBRARIES[library](pa.table(columns)))
    assert pairs.names == ("a-__-1", "b-__-7", "a-__-2", "b-__-1")
    assert pairs.sources == ("a", "b", "a", "b")
    columns["unique_id_l"][1] = None
    with pytest.raises(ValueError, match="row 1: an item has no name"):
        pt.as_similarity(LIBRARIES[library](pa.table(columns)))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", [str, int])
def test_updates_take_and_give_tables_of_every_library(library, name):
    """Identifiers may be texts or whole numbers, also those of one table and of the next."""
    table = pa.table({"l": [name(7), name(8)], "r": [name(9), name(1)], "p": [0.9, 0.2]})
    est = pt.estimate(pt.as_similarity(LIBRARIES[library](table)), "binder", rng=1)
    more = pa.table({"l": [7, 5], "r": [5, 9], "p": [0.8, 0.9]})
    after = pt.update(est, LIBRARIES[library](more))
    assert dict(zip(after.similarity.names, after.ids.tolist(), strict=True)) == {
        "1": 0,
        "7": 1,
        "8": 2,
        "9": 1,
        "5": 1,
    }
    out = LIBRARIES[library](after.to_arrow())
    again = pa.table(out.to_arrow_table() if library == "duckdb" else out)
    assert again.column("record").to_pylist() == ["1", "7", "8", "9", "5"]
    assert again.column("id").to_pylist() == [0, 1, 2, 1, 1]


def test_far_apart_numbers_and_gaps_in_columns_are_read_row_by_row():
    table = pd.DataFrame({"left": [5, 10**15], "right": [10**15, -3], "p": [0.5, 0.6]})
    assert pt.as_similarity(table).names == ("-3", "5", str(10**15))
    mixed = pd.DataFrame({"left": ["a", 1], "right": ["b", "a"], "p": [0.5, 0.6]})
    assert pt.as_similarity(mixed).names == ("a", "b", "1")
    with pytest.raises(ValueError, match="row 1: an item has no name"):
        pt.as_similarity(pd.DataFrame({"left": ["a", None], "right": ["b", "a"], "p": [0.5, 0.6]}))
