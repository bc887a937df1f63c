"""Draws that are read in chunks and kept on disk: the same sample as in memory, and clear words when a chunk is bad."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import partita as pt
from partita.datasets import make_draws
from partita.draws import store
from partita.draws.sources import source
from partita.draws.store import smallest_type
from support import forks


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few draws, so that small data has many of them."""
    monkeypatch.setattr(source, "CELLS_PER_BLOCK", 200)
    monkeypatch.setattr(source, "MAX_CELLS_AT_ONCE", 2000)


@pytest.fixture
def mapped(monkeypatch):
    """Every stored sample counts as large."""
    monkeypatch.setattr(store, "_ALWAYS_READ", 0)
    monkeypatch.setattr(store, "free_bytes", lambda: 0)


@pytest.fixture
def draws():
    rows = make_draws(30, 60, 4, rng=1)
    return np.concatenate([rows, rows[::-1], rows[:7]])


def assert_same(found, expected):
    assert np.array_equal(found.labels, expected.labels)
    assert found.labels.dtype == expected.labels.dtype
    assert np.array_equal(found.index, expected.index)
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-15)
    assert found.names == expected.names
    assert (found.chains is None) == (expected.chains is None)


# ---- a sample on disk


@pytest.mark.parametrize("large", [False, True])
def test_a_saved_sample_is_mapped_if_it_is_large(tmp_path, draws, large, monkeypatch):
    monkeypatch.setattr(store, "_ALWAYS_READ", 1000)
    monkeypatch.setattr(store, "free_bytes", lambda: 0 if large else 1 << 20)
    sample = pt.as_sample(draws.reshape(1, *draws.shape), names=[f"x{i}" for i in range(30)])
    sample.save(tmp_path / "kept")
    opened = pt.open_sample(tmp_path / "kept")
    assert isinstance(opened.labels, np.memmap) == large
    assert not opened.labels.flags.writeable
    assert_same(opened, sample)
    assert np.array_equal(opened.chains, sample.chains)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept"]


@pytest.mark.parametrize("loss", ["vi", "binder", "omari"])
@pytest.mark.usefixtures("mapped")
def test_a_mapped_sample_gives_the_same_answers(tmp_path, draws, loss):
    sample = pt.as_sample(draws)
    stored = pt.as_sample(draws, store=tmp_path / "kept")
    assert isinstance(stored.labels, np.memmap)
    here, there = pt.estimate(sample, loss, rng=1), pt.estimate(stored, loss, rng=1)
    assert np.array_equal(here.labels, there.labels)
    assert here.expected_loss == there.expected_loss
    assert np.array_equal(pt.similarity(sample), pt.similarity(stored))


def test_labels_that_grow_and_gaps_that_come_late(tmp_path, small_blocks):
    """The type of the file widens as the draws need it: 1 byte, 2 bytes, and a sign for the gaps."""
    rng = np.random.default_rng(1)
    few, many = rng.integers(3, size=(20, 400)), np.tile(rng.permutation(400), (3, 1))
    gaps = np.where(rng.random((5, 400)) < 0.3, -1, few[:5])
    for rows in (few, np.concatenate([few, many]), np.concatenate([few, gaps]), np.concatenate([few, many, gaps, few])):
        expected = pt.as_sample(rows, missing=-1)
        assert_same(pt.as_sample(rows, missing=-1, store=tmp_path / "kept"), expected)


def test_the_smallest_type_is_that_of_the_core():
    assert [smallest_type(largest, False).str[1:] for largest in (0, 254, 255, 65534, 65535)] == [
        "u1", "u1", "u2", "u2", "u4"]  # fmt: skip
    assert [smallest_type(largest, True).str[1:] for largest in (127, 128, 32767, 32768)] == ["i1", "i2", "i2", "i4"]


def test_only_a_sample_is_replaced(tmp_path, draws):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("years of work")
    with pytest.raises(ValueError, match=r"contains other files \('thesis\.txt'\) and is not replaced"):
        pt.as_sample(draws, store=tmp_path / "precious")
    assert (tmp_path / "precious" / "thesis.txt").exists()
    for rows in (draws[:5], draws):
        pt.as_sample(rows, store=tmp_path / "kept")
    assert pt.open_sample(tmp_path / "kept").n_draws == len(draws)


def test_a_folder_that_is_no_sample(tmp_path, draws):
    with pytest.raises(ValueError, match="is not a sample written by save or store="):
        pt.open_sample(tmp_path)
    pt.as_sample(draws).save(tmp_path / "kept")
    labels = tmp_path / "kept" / "labels.npy"
    labels.write_bytes(labels.read_bytes()[:-40])
    with pytest.raises(ValueError, match="is not a sample"):
        pt.open_sample(tmp_path / "kept")


def test_a_full_disk_leaves_nothing_behind(tmp_path):
    """A limit on the size of files stands for the full disk."""
    program = f"""
        import resource, signal
        import numpy as np, partita as pt
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
        draws = np.random.default_rng(1).integers(5, size=(200, 1000))
        folder, sample = "{tmp_path}/kept", pt.as_sample(draws)
        for write in (lambda: pt.as_sample(draws, store=folder), lambda: sample.save(folder)):
            try:
                write()
            except OSError as error:
                assert "kept" in str(error) and "nothing was written" in str(error), error
            else:
                raise SystemExit("it fit")
    """
    run(program)
    assert list(tmp_path.iterdir()) == []


def run(program, **options):
    answer = forks.run(textwrap.dedent(program), **options)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


# ---- chunked sources


class Counted:
    """An array elsewhere, in chunks of rows, that counts how often each is fetched."""

    def __init__(self, rows, chunk):
        self.rows, self.shape, self.dtype = rows, rows.shape, rows.dtype
        self.chunks, self.fetched = (chunk, rows.shape[1]), np.zeros(-(-len(rows) // chunk), int)

    def __getitem__(self, which):
        first, last = which.start // self.chunks[0], (which.stop - 1) // self.chunks[0]
        self.fetched[first : last + 1] += 1
        return self.rows[which]


@pytest.mark.parametrize("chunk", [1, 7, 10, 50])
def test_every_chunk_is_fetched_once(draws, small_blocks, chunk):
    array = Counted(draws, chunk)
    assert_same(pt.as_sample(array), pt.as_sample(draws))
    assert (array.fetched == 1).all()


@pytest.mark.parametrize("chunk", [1, 7, 50])
@pytest.mark.parametrize("chains", [False, True])
def test_dask_arrays(tmp_path, draws, small_blocks, chunk, chains):
    da = pytest.importorskip("dask.array")
    rows = draws[:120].reshape(2, 60, 30) if chains else draws
    lazy = da.from_array(rows, chunks=(*(1,) * chains, chunk, 11))
    for options in ({}, {"store": tmp_path / "kept"}):
        assert_same(pt.as_sample(lazy, **options), pt.as_sample(rows))


def test_xarray_on_dask(draws, small_blocks):
    xr = pytest.importorskip("xarray")
    pytest.importorskip("dask.array")
    array = xr.DataArray(draws[:120].reshape(2, 60, 30), dims=("chain", "draw", "item"))
    assert_same(pt.as_sample(array.chunk(draw=7)), pt.as_sample(array))


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".npy", ".npz", ".parquet", ".zarr", ".nc"])
def test_every_format_can_be_kept_on_disk(tmp_path, draws, small_blocks, suffix):
    if suffix == ".nc":
        pytest.importorskip("netCDF4")
    sample = pt.as_sample(draws)
    pt.write_draws(tmp_path / f"draws{suffix}", sample)
    assert_same(
        pt.read_draws(tmp_path / f"draws{suffix}", store=tmp_path / "kept"), pt.read_draws(tmp_path / f"draws{suffix}")
    )
    assert np.array_equal(pt.open_sample(tmp_path / "kept").labels, sample.labels)


def test_parquet_row_groups_with_chains_and_weights(tmp_path, draws, small_blocks):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {".chain": np.repeat(["b", "a"], [100, 27]), ".weight": np.arange(1.0, 128)}
    table = pa.table({**columns, **{f"x{i}": draws[:, i] for i in range(30)}})
    parquet.write_table(table, tmp_path / "draws.parquet", row_group_size=20)
    found, expected = pt.read_draws(tmp_path / "draws.parquet", burn=3), pt.as_sample(table, burn=3)
    assert_same(found, expected)
    assert np.array_equal(found.chains, expected.chains)


def write_parts(folder, draws, suffix=".csv"):
    folder.mkdir()
    for number, rows in enumerate(np.array_split(draws, 12)):
        pt.write_draws(folder / f"part-{number}{suffix}", rows)


@pytest.mark.parametrize("suffix", [".csv", ".npy", ".parquet"])
def test_parts_in_a_folder_are_one_chain(tmp_path, draws, small_blocks, suffix):
    write_parts(tmp_path / "parts", draws, suffix)
    for path in (tmp_path / "parts", tmp_path / "parts" / f"part-*{suffix}"):
        assert_same(pt.read_draws(path), pt.as_sample(draws))
    assert_same(pt.read_draws(tmp_path / "parts", burn=20, thin=3), pt.as_sample(draws[20::3]))


def test_a_folder_without_draws(tmp_path):
    with pytest.raises(ValueError, match="has no files of draws"):
        pt.read_draws(tmp_path)
    with pytest.raises(ValueError, match="has no files of draws"):
        pt.read_draws(tmp_path / "draws-*.csv")


# ---- chunks that are bad


def test_a_part_with_another_number_of_items_is_named(tmp_path, draws):
    write_parts(tmp_path / "parts", draws)
    pt.write_draws(tmp_path / "parts" / "part-7.csv", draws[:3, :-1])
    with pytest.raises(ValueError, match=r"part-7\.csv has 29 items, but .*part-0\.csv has 30"):
        pt.read_draws(tmp_path / "parts", store=tmp_path / "kept")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts"]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".npy", ".npz", ".parquet"])
def test_a_part_that_is_cut_off_is_named(tmp_path, draws, suffix):
    write_parts(tmp_path / "parts", draws, suffix)
    part = tmp_path / "parts" / f"part-5{suffix}"
    part.write_bytes(part.read_bytes()[: -part.stat().st_size // 3])
    with pytest.raises(ValueError, match=r"part-5\."):
        pt.read_draws(tmp_path / "parts", store=tmp_path / "kept")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts"]


def test_zarr_chunks_that_are_cut_off_or_gone(tmp_path, draws):
    zarr = pytest.importorskip("zarr")
    path = tmp_path / "draws.zarr"
    zarr.create_array(store=str(path), data=draws.astype(np.int64), chunks=(10, 30))
    chunk = sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith((".", "zarr")))[4]
    whole = chunk.read_bytes()
    chunk.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"draws\.zarr.*the chunk of draws \d+ to \d+ cannot be read"):
        pt.read_draws(path, store=tmp_path / "kept")
    chunk.unlink()
    with pytest.raises(ValueError, match="1 of its 13 chunks are missing"):
        pt.read_draws(path, store=tmp_path / "kept")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["draws.zarr"]


def test_a_dask_chunk_that_fails_or_has_another_shape_is_named(draws, small_blocks):
    da = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")

    def fail():
        raise OSError("the disk is on fire")

    good = da.from_array(draws[:50], chunks=(50, 30))
    for task, words in ((fail, "on fire"), (lambda: draws[:20, :29], "shape")):
        bad = da.from_delayed(dask.delayed(task)(), (20, 30), draws.dtype)
        with pytest.raises(ValueError, match=f"the chunk of draws 50 to 69.*{words}"):
            pt.as_sample(da.concatenate([good, bad]))


# ---- memory


def test_reading_and_searching_stay_under_a_limit(tmp_path):
    """400 MB of labels in a file, few of them distinct, in a process that may have 250 MB more than it starts with."""
    rng = np.random.default_rng(1)
    file = np.lib.format.open_memmap(tmp_path / "draws.npy", "w+", np.int64, (10_000, 5_000))
    few = rng.integers(6, size=(50, 5_000))
    for start in range(0, len(file), 50):
        file[start : start + 50] = few
    file.flush()
    del file
    program = f"""
        import resource
        import numpy as np, partita as pt
        from partita import estimate, search
        from partita.draws import io
        pt.estimate(np.random.default_rng(1).integers(3, size=(20, 30)), rng=1)  # what is loaded once
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 250_000_000,) * 2)
        sample = pt.read_draws("{tmp_path}/draws.npy", store="{tmp_path}/kept")
        assert (sample.n_draws, sample.n_unique) == (10_000, 50)
        print(pt.estimate(sample, search=pt.Search(runs=2, n_jobs=1), rng=1).n_clusters)
        try:
            np.load("{tmp_path}/draws.npy")
        except MemoryError:
            print("the whole does not fit")
    """
    assert "the whole does not fit" in run(program)
