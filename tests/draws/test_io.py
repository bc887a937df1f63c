"""read_draws and write_draws: every format gives back what it was given; bad files are named."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from partita import _core
from partita.datasets import make_draws
from partita.draws.io import FORMATS, read_draws, write_draws
from partita.draws.sample import as_sample
from partita.draws.sources import text
from partita.models import GaussianDPM, StochasticBlockModel
from partita.models.chains.checkpoint import Plan, create_run
from support import forks

SUFFIXES = [form.suffix for form in FORMATS if form.write is not None]
DRAWS = np.array([[1, 1, 2], [2, 1, 1], [1, 2, 3], [1, 1, 2]])
CANONICAL = [[0, 0, 1], [0, 1, 1], [0, 1, 2], [0, 0, 1]]
NAMES = ("ann", "bob", "cat")


def write(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def assert_equal(found, expected):
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.labels.dtype == expected.labels.dtype
    np.testing.assert_array_equal(found.index, expected.index)
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-12)
    if expected.chains is not None:
        np.testing.assert_array_equal(found.chains, expected.chains)
    assert found.names == expected.names


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_round_trip(tmp_path, suffix):
    path = tmp_path / f"draws{suffix}"
    names = None if suffix == ".npy" else [f'n {i}, "q"' for i in range(20)]
    sample = as_sample(make_draws(20, 60, rng=1).reshape(3, 20, 20), names=names)
    write_draws(path, sample)
    assert_equal(read_draws(path), sample)
    assert os.listdir(tmp_path) == [path.name]
    assert_equal(read_draws(str(path), burn=5, thin=2), as_sample(sample, burn=5, thin=2))
    write_draws(path, DRAWS)  # takes the place of the old one
    assert_equal(read_draws(path), as_sample(DRAWS))


@pytest.mark.parametrize("suffix", [s for s in SUFFIXES if s != ".npy"])
def test_round_trip_of_weights_and_gaps(tmp_path, suffix):
    path = tmp_path / f"draws{suffix}"
    sample = as_sample([[0, 1, -1], [0, 0, 1], [0, 1, -1]], weights=[0.1, 0.7, 0.3], missing=-1)
    write_draws(path, sample)
    assert_equal(read_draws(path, missing=-1), sample)
    again = read_draws(path, missing=-1, weights=[2, 1, 2])
    np.testing.assert_allclose(again.weights, [0.8 / 1.5, 0.7 / 1.5])
    with pytest.raises(ValueError, match=r"is -1: labels must not be negative \(missing=-1 if .*, or noise=-1 if"):
        read_draws(path)


def test_names_that_look_like_numbers(tmp_path):
    for suffix in (".csv", ".npz", ".parquet", ".zarr", ".nc"):
        sample = as_sample(DRAWS, names=["3", "1", "2"])
        write_draws(tmp_path / f"draws{suffix}", sample)
        assert_equal(read_draws(tmp_path / f"draws{suffix}"), sample)


def test_chains_of_different_lengths(tmp_path):
    draws = make_draws(5, 9, rng=1)
    sample = as_sample([draws[:4], draws[4:]])
    for suffix in (".csv", ".npz", ".parquet", ".zarr"):
        write_draws(tmp_path / f"draws{suffix}", sample)
        assert_equal(read_draws(tmp_path / f"draws{suffix}"), sample)
    for suffix in (".npy", ".nc"):
        with pytest.raises(ValueError, match=r"chains have different lengths \(4, 5\)"):
            write_draws(tmp_path / f"draws{suffix}", sample)


def test_several_files_are_chains(tmp_path):
    draws = make_draws(6, 10, rng=2)
    first, second = tmp_path / "one.csv", tmp_path / "two.npy"
    write_draws(first, draws[:4])
    write_draws(second, draws[4:])
    assert_equal(read_draws([first, second]), as_sample([draws[:4], draws[4:]]))
    assert_equal(read_draws([first, second], burn=1), as_sample([draws[1:4], draws[5:]]))
    with pytest.raises(ValueError, match="path is an empty list"):
        read_draws([])


def csv_texts():
    rows = [",".join(map(str, row)) for row in DRAWS]
    plain = "\n".join(rows)
    yield "no header", plain, None
    yield "ends with a line end", plain + "\n", None
    yield "ends with empty lines", plain + "\n\n\n", None
    yield "Windows line ends", plain.replace("\n", "\r\n") + "\r\n", None
    yield "byte order mark", "\ufeff" + plain, None
    yield "header", "ann,bob,cat\n" + plain, NAMES
    yield "byte order mark and header", "\ufeffann,bob,cat\n" + plain, NAMES
    yield "quoted header", '"ann","bob","cat"\n' + plain, NAMES
    yield "quoted numbers as header", '"3","1","2"\n' + plain, ("3", "1", "2")
    yield "semicolons", "ann;bob;cat\n" + plain.replace(",", ";"), NAMES
    yield "tabs", plain.replace(",", "\t"), None
    yield "blanks", plain.replace(",", " , "), None
    yield "quoted labels", "\n".join(",".join(f'"{x}"' for x in row) for row in DRAWS), None
    yield "floats", "\n".join(",".join(f"{x:.18e}" for x in row) for row in DRAWS), None
    yield "strings", "\n".join(",".join(f"c{x}" for x in row) for row in DRAWS), None
    yield (
        "strings and header",
        "ann,bob,cat\n" + "\n".join(",".join(f"c{x}" for x in r) for r in DRAWS),
        NAMES,
    )
    yield "comments", "# by a sampler\n" + rows[0] + "\n# half-way\n" + "\n".join(rows[1:]) + "\n# end", None
    numbered = [f"{i},{row}" for i, row in enumerate(rows, 1)]
    yield (
        "R write.csv",
        '"","ann","bob","cat"\n' + "\n".join(f'"{i}",{r}' for i, r in enumerate(rows, 1)),
        NAMES,
    )
    yield (
        "R write.table",
        '"ann","bob","cat"\n' + "\n".join(f'"{i}",{r}' for i, r in enumerate(rows, 1)),
        NAMES,
    )
    yield "R without header", "\n".join(f'"{i}",{r}' for i, r in enumerate(rows, 1)), None
    yield "pandas", ",ann,bob,cat\n" + "\n".join(numbered), NAMES
    yield "pandas without names", ",0,1,2\n" + "\n".join(numbered), None
    yield "row names", "id,ann,bob,cat\n" + "\n".join(f"draw {i},{r}" for i, r in enumerate(rows)), NAMES
    yield "counted by .draw", ".draw,ann,bob,cat\n" + "\n".join(numbered), NAMES
    yield "cmdstan", "# model\nlp__,z.1,z.2,z.3\n# adapted\n" + "\n".join("-1.5," + r for r in rows), "z"


CSV_TEXTS = {name: (content, names) for name, content, names in csv_texts()}


@pytest.mark.parametrize("kind", CSV_TEXTS)
def test_kinds_of_csv(tmp_path, kind):
    content, names = CSV_TEXTS[kind]
    variable = names if isinstance(names, str) else None
    names = ("z.1", "z.2", "z.3") if variable else names
    found = read_draws(write(tmp_path / "draws.csv", content), variable=variable)
    assert found.to_numpy().tolist() == CANONICAL
    assert found.names == names
    compressed = read_draws(write(tmp_path / "draws.csv.gz", gzip.compress(content.encode())), variable=variable)
    assert_equal(compressed, found)


@pytest.mark.parametrize("kind", CSV_TEXTS)
def test_csv_in_small_pieces(monkeypatch, kind):
    content, names = CSV_TEXTS[kind]
    monkeypatch.setattr(text, "BYTES_PER_PIECE", 5)
    monkeypatch.setattr(text, "FIRST_LINES", 2)
    found = read_draws(io.BytesIO(content.encode()), variable=names if isinstance(names, str) else None)
    assert found.to_numpy().tolist() == CANONICAL


def test_column_that_counts(tmp_path):
    draws = make_draws(4, 12, rng=1)
    table = pd.DataFrame(draws, columns=list("abcd"))
    for start in (0, 1):
        table.index = range(start, start + 12)
        path = tmp_path / "draws.csv"
        table.to_csv(path, header=False)
        assert_equal(read_draws(path), as_sample(draws))
        table.to_csv(path, index_label="t")
        assert_equal(read_draws(path), as_sample(draws, names=list("abcd")))
        assert read_draws(path, index=False).names == ("t", *"abcd")


def test_column_that_stops_counting(monkeypatch):
    lines = [f"{i},0,{i % 2}" for i in range(8)] + ["3,0,1"]
    monkeypatch.setattr(text, "BYTES_PER_PIECE", 40)
    with pytest.raises(ValueError, match="the stream, line 9: column 1 counts the draws up to here and then stops"):
        read_draws(io.StringIO("\n".join(lines)))
    assert read_draws(io.StringIO("\n".join(lines)), index=True).n_items == 2
    assert read_draws(io.StringIO("\n".join(lines)), index=False).n_items == 3


def test_header_of_column_numbers_is_not_guessed():
    content = "0,1,2\n0,0,1\n"
    with pytest.raises(ValueError, match=r"line 1 is 0, 1, \.\.\., 2: a header of column numbers, or the first draw"):
        read_draws(io.StringIO(content))
    assert read_draws(io.StringIO(content), header=True).to_numpy().tolist() == [[0, 0, 1]]
    assert read_draws(io.StringIO(content), header=False).to_numpy().tolist() == [[0, 1, 2], [0, 0, 1]]
    assert read_draws(io.StringIO("0,1,2\n")).to_numpy().tolist() == [[0, 1, 2]]
    with pytest.raises(ValueError, match=r"line 1 is 1, 2, 3: a header of column numbers, or the first draw"):
        read_draws(io.StringIO("1,2,3\n1,1,1\n"))
    assert read_draws(io.StringIO("1,2,3\n1,1,1\n"), header=False).n_draws == 2
    assert read_draws(io.StringIO("0\n0\n")).n_draws == 2


@pytest.mark.parametrize("missing", ["NA", np.nan, [None], ["NA", "?"]])
def test_gaps_in_csv(missing):
    for null in ("NA", "", "NaN"):
        found = read_draws(io.StringIO(f"1,2,{null}\n1,1,2\n"), missing=missing)
        assert found.labels.tolist() == [[0, 1, -1], [0, 0, 1]]
    with pytest.raises(ValueError, match=r"the stream, line 1, column 3, is empty or NA: a label must not be missing"):
        read_draws(io.StringIO("1,2,NA\n1,1,2\n"))
    assert read_draws(io.StringIO("1,-1\n1,1\n"), missing="-1").labels.tolist() == [[0, -1], [0, 0]]


def test_chain_and_weight_columns():
    content = ".chain,.weight,a,b\n1,0.5,1,1\n2,1.5,1,2\n1,2,1,1\n"
    found = read_draws(io.StringIO(content))
    assert found.chains.tolist() == [0, 1, 0]
    np.testing.assert_allclose(found.weights, [2.5 / 4, 1.5 / 4])
    with pytest.raises(ValueError, match="burn=1 leaves none of the 1 draws of chain 1"):
        read_draws(io.StringIO(content), burn=1)
    with pytest.raises(ValueError, match="lines 2 to 3: a weight is not a number"):
        read_draws(io.StringIO(".weight,a,b\nheavy,1,1\n2,1,1\n"))


def test_standard_input(tmp_path):
    code = "from partita.draws.io import read_draws; print(read_draws('-').to_numpy().tolist())"
    assert forks.run(code, stdin="1,2\n2,2\n").stdout.strip() == "[[0, 1], [0, 0]]"


BAD_TEXT = {
    "is empty": "",
    r"has no draws, only a header": "ann,bob,cat\n",
    r"line 3 has 2 cells, but line 1 has 3": "1,1,2\n1,1,1\n1,2\n1,1,1\n",
    r"line 3 has 4 cells, but line 2 has 3": "ann,bob,cat\n1,1,2\n1,2,1,1\n",
    r"line 2 has 2 cells, but line 1 has 3": "a,b,a\na,b\n",
    r"line 2 is empty": "1,1,2\n\n1,2,2\n",
    r"line 2, column 3, is -1: labels must not be negative": "1,1,2\n1,2,-1\n",
    r"line 3, column 1, is 1\.5: labels must be whole": "1,1\n2,1\n1.5,2\n",
    r"line 2, column 2, is inf: labels must be finite": "1,1\n2,inf\n",
    r"line 2, column 1, is empty or NA: a label must not be missing": "1,1\n,1\n1,2\n",
    r"line 2: not text \(UTF-8\), but byte 0x93": b"1,1,2\n1,\x93,2\n",
    r"line 1: not text \(UTF-8\), but byte 0x00": b"1\x00,2\n",
    r"line 2: unexpected end of data": '1,a\n1,"a\n',
    r"line 1: unexpected end of data": '"a,b\n1,2\n',
    r"lines are 2 words each, which could be 2 cells or one": "ann bob\nbob bob\n",
    r"line 2 has 4 cells, but the header has 2": ".chain,x\n1,2,3,4\n",
}


@pytest.mark.parametrize("message", BAD_TEXT)
def test_bad_text(tmp_path, message):
    path = write(tmp_path / "draws.csv", BAD_TEXT[message])
    with pytest.raises(ValueError, match=r"draws\.csv[,:]? .*" + message if message != "is empty" else message):
        read_draws(path)


@pytest.mark.parametrize("size", [30, 60, 10_000])
def test_bad_line_is_named_in_any_piece(monkeypatch, size):
    monkeypatch.setattr(text, "BYTES_PER_PIECE", size)
    lines = ["1,1,2"] * 40
    for bad, message in (
        ("1,2", "line 38 has 2 cells, but line 1 has 3"),
        ("1,2,-4", "line 38, column 3, is -4"),
    ):
        lines[37] = bad
        with pytest.raises(ValueError, match=message):
            read_draws(io.StringIO("\n".join(lines)))


def test_damaged_gzip(tmp_path):
    whole = gzip.compress(("1,2,3\n" * 1000).encode())
    for content in (whole[:-10], b"not gzip"):
        with pytest.raises(ValueError, match=r"draws\.csv\.gz is damaged or truncated"):
            read_draws(write(tmp_path / "draws.csv.gz", content))


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".parquet", ".nc"])
def test_damaged_binary_files(tmp_path, suffix):
    path = tmp_path / f"draws{suffix}"
    write_draws(path, make_draws(50, 100, rng=1))
    whole = path.read_bytes()
    for content in (b"", b"some text", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=rf"draws\{suffix}, read as {suffix[1:]}: "):
            read_draws(path)


def test_pickles_are_refused(tmp_path):
    objects = np.array([[1, 2], [1, None]], dtype=object)
    np.save(tmp_path / "array.npy", objects, allow_pickle=True)
    np.savez(tmp_path / "array.npz", draws=objects)
    write(tmp_path / "pickle.npy", pickle.dumps([[1, 2]]))
    for name in ("array.npy", "array.npz", "pickle.npy"):
        with pytest.raises(ValueError, match=rf"{name}, read as .*: it holds pickled objects, which are never loaded"):
            read_draws(tmp_path / name)


def test_arrays_in_npz(tmp_path):
    path = tmp_path / "some.npz"
    np.savez(path, base=np.zeros(3), z=DRAWS)
    assert read_draws(path).to_numpy().tolist() == CANONICAL
    np.savez(path, z=DRAWS, w=DRAWS)
    with pytest.raises(ValueError, match=r"several arrays of draws; name one with variable=: z, w"):
        read_draws(path)
    assert read_draws(path, variable="w").n_draws == 4
    with pytest.raises(ValueError, match=r"no array 'q'; its arrays: z, w"):
        read_draws(path, variable="q")
    np.savez(path, z=DRAWS[0])
    with pytest.raises(ValueError, match="no arrays of draws; name one with variable=: z"):
        read_draws(path)
    np.save(tmp_path / "one.npy", DRAWS - 5)
    with pytest.raises(ValueError, match=r"one\.npy: draws\[0, 0\] is -4"):
        read_draws(tmp_path / "one.npy")


@pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore:Consolidated metadata", "ignore:.*not part in the Zarr format"
)
def test_arviz_reads_what_we_write_and_we_what_it_writes(tmp_path):
    import arviz as az

    sample = as_sample(np.array([DRAWS, DRAWS[::-1]]), names=NAMES)
    path = tmp_path / "draws.nc"
    write_draws(path, sample)
    data = az.from_netcdf(path, engine="netcdf4")
    np.testing.assert_array_equal(data.posterior["labels"].values.reshape(8, 3), sample.to_numpy())
    data.posterior["k"] = data.posterior["labels"].max("item")
    other = tmp_path / "theirs.nc"
    data.to_netcdf(str(other), engine="netcdf4")
    assert_equal(read_draws(other), sample)
    xr.DataTree.from_dict({"posterior": data.posterior}).to_zarr(str(tmp_path / "theirs.zarr"))
    assert read_draws(tmp_path / "theirs.zarr", variable="labels").chains.tolist() == [0] * 4 + [1] * 4


def test_netcdf_without_groups(tmp_path):
    xr.Dataset({"z": (("draw", "item"), DRAWS)}).to_netcdf(tmp_path / "plain.nc")
    assert read_draws(tmp_path / "plain.nc").to_numpy().tolist() == CANONICAL


def test_zarr_array(tmp_path):
    import zarr

    zarr.save(str(tmp_path / "plain.zarr"), DRAWS)
    assert read_draws(tmp_path / "plain.zarr").to_numpy().tolist() == CANONICAL


def test_names_of_files(tmp_path):
    for act in (read_draws, lambda path: write_draws(path, DRAWS)):
        with pytest.raises(
            ValueError, match=r"draws\.doc: the name does not determine a format; it must end in one of \.csv, \."
        ):
            act(tmp_path / "draws.doc")
    with pytest.raises(ValueError) as error:
        write_draws(tmp_path / "draws.doc", DRAWS)
    assert ".rds" not in str(error.value)  # read only
    for suffix in SUFFIXES:
        with pytest.raises(FileNotFoundError, match="none"):
            read_draws(tmp_path / f"none{suffix}")
    with pytest.raises(FileNotFoundError):
        write_draws(tmp_path / "no folder" / "draws.csv", DRAWS)


def test_nothing_is_written_half(tmp_path, monkeypatch):
    path = tmp_path / "draws.csv"
    write_draws(path, DRAWS)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="names with line breaks"):
        write_draws(path, as_sample(DRAWS, names=["a\nb", "c", "d"]))
    with pytest.raises(ValueError, match="an npy file cannot hold weights"):
        write_draws(tmp_path / "draws.npy", as_sample(DRAWS, weights=[1, 2, 3, 4]))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["draws.csv"]


@pytest.mark.parametrize(("suffix", "module", "extra"), [(".parquet", "pyarrow", "io"), (".nc", "xarray", "arviz")])
def test_missing_libraries_are_named(tmp_path, monkeypatch, suffix, module, extra):
    path = tmp_path / f"draws{suffix}"
    write_draws(path, DRAWS)
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    for act in (read_draws, lambda p: write_draws(p, DRAWS)):
        with pytest.raises(ImportError, match=rf"pip install 'partita\[{extra}\]'"):
            act(path)


@pytest.mark.parametrize("start", [b"CDF\x01", b"\x89HDF\r\n"])
def test_netcdf_without_its_engine_is_no_broken_file(tmp_path, monkeypatch, start):
    """xarray has one ValueError for both."""
    path = tmp_path / "draws.nc"
    path.write_bytes(start + bytes(100))

    def refuse(*args, **options):
        raise ValueError("did not find a match in any of xarray's currently installed IO backends ['store', 'zarr']")

    monkeypatch.setattr(xr, "open_dataset", refuse)
    monkeypatch.setattr(xr.backends, "list_engines", lambda: {"store": None, "zarr": None})
    with pytest.raises(ImportError, match=r"draws\.nc: no package that reads .* need pip install 'partita\[arviz\]'"):
        read_draws(path)
    monkeypatch.setattr(xr.backends, "list_engines", lambda: {"netcdf4": None})
    with pytest.raises(ValueError, match=r"draws\.nc, read as nc: did not find a match"):  # its own words
        read_draws(path)
    path.write_bytes(b"text")
    with pytest.raises(ValueError, match="it is not a netCDF file"):
        read_draws(path)


def test_classic_netcdf_needs_no_engine_but_scipy(tmp_path, monkeypatch):
    """It has no groups, and that engine refuses to look for one."""
    xr.Dataset({"z": (("draw", "item"), np.int32(DRAWS))}).to_netcdf(tmp_path / "classic.nc", engine="scipy")
    monkeypatch.setattr(xr, "open_dataset", partial(xr.open_dataset, engine="scipy"))
    assert read_draws(tmp_path / "classic.nc").to_numpy().tolist() == CANONICAL


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3), min_size=1))
def test_read_integers(rows):
    content = "\n".join(",".join(map(str, row)) for row in rows).encode()
    assert _core.read_integers(content, ",").tolist() == rows


@pytest.mark.parametrize(
    "content",
    [
        "",
        "\n",
        "1,2,\n",
        ",1\n",
        "1,,2\n",
        "1,2\n3\n",
        "1.0\n",
        "1 2\n",
        "9223372036854775808\n",
        "1\r2\n",
        '"1\n',
        "+1",
    ],
)
def test_read_integers_gives_up(content):
    assert _core.read_integers(content.encode(), ",") is None


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_not_draws_is_not_replaced(tmp_path, suffix):
    """write_draws("x.zarr") used to delete a folder of that name, whatever was in it."""
    path = tmp_path / f"mine{suffix}"
    path.mkdir()
    (path / "precious.txt").write_text("keep me")
    with pytest.raises(ValueError, match="not replaced"):
        write_draws(path, [[0, 0, 1]])
    assert [entry.name for entry in path.iterdir()] == ["precious.txt"]
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_folder_that_is_not_there_is_named_and_not_made(tmp_path, suffix):
    with pytest.raises(OSError, match="no such folder") as caught:
        write_draws(tmp_path / "missing" / f"draws{suffix}", [[0, 0, 1]])
    assert caught.value.filename == str(tmp_path / "missing")
    assert not list(tmp_path.iterdir())


def test_a_zarr_store_is_replaced(tmp_path):
    for draws in ([[0, 0, 1]], [[0, 1, 1]]):
        write_draws(tmp_path / "draws.zarr", draws)
        assert read_draws(tmp_path / "draws.zarr").to_numpy().tolist() == draws


def test_a_word_with_a_space_is_a_label():
    assert read_draws(io.StringIO("New York\nParis\n"), header=False, variable="*").n_draws == 2


def test_the_folder_of_a_run_is_its_draws(tmp_path):
    """Its data, X.npy of whole numbers, used to be read as draws; later the folder was refused."""
    run = tmp_path / "run"
    chain = GaussianDPM().sample(np.eye(4), draws=5, warmup=1, chains=2, rng=1, path=run, names=["a", "b", "c", "d"])
    found = read_draws(run, burn=1)
    assert found.to_numpy().tolist() == chain.labels[:, 1:].reshape(-1, 4).tolist()
    assert (found.names, found.n_chains) == (("a", "b", "c", "d"), 2)
    with pytest.raises(ValueError, match=r"run is a folder that partita wrote: variable='z' is for tables"):
        read_draws(run, variable="z")


def test_the_folder_of_a_run_without_draws_is_refused(tmp_path):
    model = GaussianDPM()
    create_run(tmp_path / "new", "GaussianDPM", model.params(), Plan(5, 1, 1, 2, 0), ("n_clusters",), {"X": np.eye(3)})
    with pytest.raises(ValueError, match="new is a run whose chains do not all have draws yet"):
        read_draws(tmp_path / "new")


def test_the_folder_of_a_network_run_has_its_nodes(tmp_path):
    edges = [("ann", "bob"), ("bob", "eve"), ("eve", "ann"), ("eve", "dan")]
    chain = StochasticBlockModel().sample(edges, draws=4, warmup=1, chains=1, rng=1, path=tmp_path / "run")
    assert read_draws(tmp_path / "run").names == chain.names
    assert set(chain.names) == {"ann", "bob", "eve", "dan"}


def test_the_folder_of_a_saved_sample_is_its_draws(tmp_path):
    """Its arrays used to be taken for the parts of one long file."""
    sample = as_sample(DRAWS, weights=np.arange(1.0, len(DRAWS) + 1))
    sample.save(tmp_path / "saved")
    found = read_draws(tmp_path / "saved")
    assert found.to_numpy().tolist() == sample.to_numpy().tolist()
    np.testing.assert_allclose(found.draw_weights, sample.draw_weights)


def test_a_folder_of_results_holds_no_draws(tmp_path):
    (tmp_path / "summary.json").write_text("{}")
    (tmp_path / "ball.csv").write_text("estimate,upper_1\n0,0\n1,0\n")
    with pytest.raises(ValueError, match="contains results, not draws"):
        read_draws(tmp_path)


def test_what_is_said_of_text_is_not_ignored_elsewhere(tmp_path):
    write_draws(tmp_path / "draws.npy", DRAWS)
    with pytest.raises(ValueError, match=r"draws\.npy is not text: header=True is for csv files"):
        read_draws(tmp_path / "draws.npy", header=True)


@pytest.mark.parametrize("name", ["draws.npz", "draws.nc"])
def test_other_files_are_not_called_pickles(tmp_path, name):
    with pytest.raises(ValueError, match=rf"{name}, read as .*: it is not a (complete zip|netCDF) file"):
        read_draws(write(tmp_path / name, bytes(1000)))


@pytest.mark.parametrize("path", [None, 3])
def test_what_is_no_path(path):
    with pytest.raises(TypeError, match=rf"path must be .* not {path}"):
        read_draws(path)
