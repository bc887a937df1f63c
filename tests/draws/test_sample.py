"""as_sample: every kind of input gives the same sample, and every bad one a message that names it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from typer.testing import CliRunner

from partita import _core
from partita._support.validate import check_n_jobs, check_positive, check_rng
from partita.cli import app
from partita.datasets import make_draws
from partita.draws.io import read_draws
from partita.draws.sample import PartitionSample, as_sample
from partita.estimation.estimate import estimate
from partita.partitions.checks import check_partition
from partita.uncertainty.parameters import cluster_parameters
from support import forks
from support.reference import GAP, canonical
from support.strategies import gappy_samples, samples

DRAWS = [[5, 5, 2, 9], [1, 1, 0, 7], [3, 1, 3, 1], [5, 5, 2, 9], [0, 0, 0, 0]]
NAMES = ("ann", "bob", "cat", "dan")


def reference_sample(rows: list[list[int]], weights: list[float]) -> tuple[list[tuple[int, ...]], list[float]]:
    """Distinct canonical rows in order of first appearance and their weights, by a dictionary."""
    total: dict[tuple[int, ...], float] = {}
    for row, weight in zip(rows, weights, strict=True):
        labelled = [label for label in row if label != GAP]
        names = dict(zip(labelled, canonical(labelled), strict=True))
        key = tuple(names.get(label, GAP) for label in row)
        total[key] = total.get(key, 0.0) + weight
    return list(total), [w / sum(weights) for w in total.values()]


def assert_same(found: PartitionSample, rows: list[list[int]], weights: list[float] | None = None) -> None:
    labels, expected_weights = reference_sample(rows, weights or [1.0] * len(rows))
    assert [tuple(row) for row in found.labels.tolist()] == labels
    np.testing.assert_allclose(found.weights, expected_weights, rtol=1e-12)
    assert [labels[i] for i in found.index] == [reference_sample([row], [1.0])[0][0] for row in rows]


@given(samples())
def test_distinct_rows_and_weights(sample):
    rows, weights = sample
    assert_same(as_sample(rows), rows)
    assert_same(as_sample(np.array(rows), weights=weights), rows, weights)


@given(gappy_samples())
def test_gaps(sample):
    rows, weights = sample
    found = as_sample(rows, weights=weights, missing=GAP)
    assert_same(found, rows, weights)
    assert found.has_gaps == any(GAP in row for row in rows)
    with_nan = np.where(np.array(rows) == GAP, np.nan, np.array(rows, float))
    assert_same(as_sample(with_nan, weights=weights, missing=np.nan), rows, weights)
    with_none = [[None if label == GAP else f"c{label}" for label in row] for row in rows]
    assert_same(as_sample(with_none, weights=weights, missing=[None]), rows, weights)


@given(samples(), st.integers(0, 3))
def test_colliding_hashes_are_verified(sample, mask):
    rows, _ = sample
    builder = _core.SampleBuilder(len(rows[0]), hash_mask=mask)
    for row in rows:
        builder.add(np.array([row]), 1)
    labels, counts, index, has_gaps = builder.finish()
    expected, weights = reference_sample(rows, [1.0] * len(rows))
    assert [tuple(row) for row in labels.tolist()] == expected
    np.testing.assert_allclose(counts / len(rows), weights)
    assert [expected[i] for i in index] == [tuple(canonical(row)) for row in rows]
    assert not has_gaps


def kinds_of_input():
    array = np.array(DRAWS)
    wide = np.zeros((len(DRAWS), 8), int)
    wide[:, ::2] = array
    read_only = array.copy()
    read_only.flags.writeable = False
    names = np.array(["zero", "one", "two", "three", "a", "five", "b", "seven", "c", "nine"])
    yield "list", DRAWS
    yield "tuple of arrays", tuple(np.array(row) for row in DRAWS)
    yield "list of partitions of mixed kinds", [np.array(DRAWS[0], np.uint8), *DRAWS[1:]]
    yield "strings", names[array]
    yield "objects", names[array].astype(object)
    yield "bytes", names[array].astype("S")
    yield "string dtype", names[array].astype(np.dtypes.StringDType())
    yield "strided", wide[:, ::2]
    yield "read-only", read_only
    yield "Fortran order", np.asfortranarray(array)
    yield "transposed", np.ascontiguousarray(array.T).T
    yield "big-endian", array.astype(">i4")
    yield "whole floats", array.astype(float)
    yield "half floats", array.astype(np.float16)
    yield "labels near 2^63", array + np.int64(2**63 - 10)
    yield "labels above 2^63", array.astype(np.uint64) + np.uint64(2**63)
    yield "Python integers above 2^64", [[label + 2**64 for label in row] for row in DRAWS]
    yield "sparse labels", array * 10**12
    for dtype in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
        yield dtype, array.astype(dtype)
    yield "pandas", pd.DataFrame(array)
    yield "pandas categories", pd.DataFrame(names[array]).astype("category")
    yield "pandas strings", pd.DataFrame(names[array])
    yield "pandas nullable", pd.DataFrame(array).astype("Int64")
    yield "pandas mixed widths", pd.DataFrame(array).astype({0: "int8", 1: "uint64", 2: "float64"})
    yield "polars", pl.DataFrame(array, orient="row")
    yield "polars lazy", pl.DataFrame(array, orient="row").lazy()
    yield "polars categories", pl.DataFrame(names[array], orient="row").cast(pl.Categorical)
    yield "arrow", pa.table([pa.array(column) for column in array.T], names=list("abcd"))
    yield (
        "arrow dictionary",
        pa.table([pa.array(column).dictionary_encode() for column in names[array].T], names=list("abcd")),
    )
    yield (
        "arrow batch",
        pa.RecordBatch.from_arrays([pa.array(column) for column in array.T], names=list("abcd")),
    )
    yield "DataArray", xr.DataArray(array, dims=("draw", "item"))
    yield "DataArray, turned", xr.DataArray(array.T, dims=("item", "draw"))
    yield "DataArray without names", xr.DataArray(array)
    yield "masked array without masked cells", np.ma.array(array)


KINDS = dict(kinds_of_input())


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_input(kind):
    found = as_sample(KINDS[kind])
    assert_same(found, DRAWS)
    assert found.labels.dtype == np.uint8
    assert (found.n_draws, found.n_unique, found.n_items) == (5, 3, 4)


def test_booleans():
    assert_same(as_sample(np.array([[True, False], [False, True], [True, True]])), [[1, 0], [0, 1], [1, 1]])


def test_degenerate_shapes():
    assert as_sample([[7]]).labels.tolist() == [[0]]
    assert as_sample([[4, 4, 4]] * 3).weights.tolist() == [1.0]
    assert as_sample([range(5)]).labels.tolist() == [[0, 1, 2, 3, 4]]


@pytest.mark.parametrize(
    ("clusters", "gaps", "dtype"),
    [
        (255, False, np.uint8),
        (256, False, np.uint16),
        (128, True, np.int8),
        (129, True, np.int16),
        (65535, False, np.uint16),
        (65536, False, np.uint32),
        (32769, True, np.int32),
    ],
)
def test_smallest_type(clusters, gaps, dtype):
    n = clusters + 1
    rows = np.zeros((3, n), np.int64)
    rows[1, :clusters] = np.arange(clusters)[::-1]
    if gaps:
        rows[2, 1] = GAP
    found = as_sample(rows, missing=GAP if gaps else None)
    assert found.labels.dtype == dtype
    expected = np.zeros((3, n), np.int64)
    expected[1, :clusters] = np.arange(clusters)
    expected[1, -1] = clusters - 1
    expected[2, 1] = GAP if gaps else 0
    np.testing.assert_array_equal(found.to_numpy(), expected)
    np.testing.assert_array_equal(found.n_clusters, [1, clusters, 1] if gaps else [1, clusters])


def test_gaps_stay_when_labels_widen():
    rows = np.zeros((2, 300), np.int64)
    rows[0, 7] = GAP
    rows[1] = np.arange(300)
    found = as_sample(rows, missing=GAP)
    assert found.labels.dtype == np.int16
    np.testing.assert_array_equal(found.labels, rows)


def test_large_labels_that_share_a_slot():
    rng = np.random.default_rng(5)
    names = rng.integers(2**63, size=400)
    draws = rng.integers(400, size=(20, 500))
    np.testing.assert_array_equal(as_sample(names[draws]).to_numpy(), as_sample(draws).to_numpy())


def test_large_integers_of_a_table_stay_apart():
    table = pd.DataFrame({"a": np.array([2**63], np.uint64), "b": np.array([5]), "c": np.array([2**63 + 1], np.uint64)})
    assert as_sample(table).labels.tolist() == [[0, 1, 2]]


def test_many_blocks_are_one_sample():
    draws = np.repeat(make_draws(700, 1000, rng=1), 4, axis=0)[np.random.default_rng(2).permutation(4000)]
    found = as_sample(draws)
    order = np.unique(draws_canonical := np.array([check_partition(row, "x") for row in draws]), axis=0)
    assert found.n_unique == len(order)
    np.testing.assert_array_equal(found.to_numpy(), draws_canonical)
    np.testing.assert_allclose(found.weights, np.bincount(found.index) / 4000)


def test_published_galaxy_draws(shared):
    draws = np.load(shared / "reference" / "draws" / "galaxy.npz")["draws"]
    assert as_sample(draws).n_unique == 9636  # Wade & Ghahramani, Section 6.2


def test_chains_burn_and_thin():
    draws = make_draws(6, 24, rng=3).reshape(3, 8, 6)
    found = as_sample(draws, burn=2, thin=3)
    kept = [draws[chain, draw] for chain in range(3) for draw in (2, 5)]
    np.testing.assert_array_equal(found.to_numpy(), as_sample(kept).to_numpy())
    assert found.chains.tolist() == [0, 0, 1, 1, 2, 2]
    assert found.n_chains == 3


def test_weights_are_thinned_with_the_draws():
    weights = np.arange(1.0, 9.0)
    draws = make_draws(6, 8, rng=3)
    found = as_sample(draws.reshape(2, 4, 6), weights=weights.reshape(2, 4), burn=1, thin=2)
    kept = [1, 3, 5, 7]
    assert_same(found, draws[kept].tolist(), weights[kept].tolist())


def test_a_list_of_arrays_is_a_list_of_chains():
    draws = make_draws(5, 9, rng=1)
    found = as_sample([draws[:4], draws[4:]])
    assert found.chains.tolist() == [0] * 4 + [1] * 5
    np.testing.assert_array_equal(found.to_numpy(), as_sample(draws).to_numpy())
    tables = [pd.DataFrame(draws[:4], columns=list("abcde")), pd.DataFrame(draws[4:], columns=list("abcde"))]
    assert as_sample(tables).names == tuple("abcde")
    assert as_sample(tables).chains.tolist() == found.chains.tolist()


def test_arrays_need_no_other_library():
    code = (
        "import sys; from partita.draws.sample import as_sample; import partita.draws.io; "
        "as_sample([[0, 1], ['a', 'b']]); "
        "assert not {'narwhals', 'pandas', 'polars', 'pyarrow', 'xarray', 'zarr', 'arviz'} & set(sys.modules)"
    )
    done = forks.command(sys.executable, "-c", code)
    assert done.returncode == 0, done.stderr


def test_our_chain():
    chain = SimpleNamespace(__partita_chain__=True, labels=np.array([DRAWS, DRAWS]), names=NAMES)
    found = as_sample(chain)
    assert found.names == NAMES
    assert found.n_draws == 10
    assert found.chains.tolist() == [0] * 5 + [1] * 5


def test_sample_passes_through():
    sample = as_sample(DRAWS, weights=[1, 2, 3, 4, 5], names=NAMES)
    assert as_sample(sample) is sample
    again = as_sample(sample, weights=[1, 1, 2, 1, 1])
    assert again.names == NAMES
    # draws 0, 1 and 3 are equal: they share (1 + 2 + 4) / 15 evenly
    assert_same(again, DRAWS, [7 / 3, 7 / 3, 6, 7 / 3, 5])
    assert_same(as_sample(sample, burn=2), DRAWS[2:], [3, 7 / 3, 5])
    gappy = as_sample([[0, GAP, 1], [0, 0, 1]], missing=GAP)
    assert as_sample(gappy, thin=2).labels.tolist() == [[0, GAP, 1]]


def test_table_columns_of_samplers():
    table = pd.DataFrame(DRAWS, columns=["z[1]", "z[2]", "z[3]", "z[4]"])
    table.insert(0, "lp__", -1.5)
    table.insert(0, "chain__", [2, 2, 1, 1, 1])
    table.insert(0, "draw__", range(5))
    found = as_sample(table, variable="z")
    assert found.names == ("z[1]", "z[2]", "z[3]", "z[4]")
    assert found.chains.tolist() == [0, 0, 1, 1, 1]
    assert_same(found, DRAWS)
    with pytest.raises(ValueError, match=r"no columns q\[1\] or q\.1; its variables: z"):
        as_sample(table, variable="q")
    assert_same(as_sample(table), DRAWS)  # lp__ used to be an item
    table["K"] = 3
    with pytest.raises(
        ValueError, match=r"has the variables z, K; name the one that holds the labels, as in variable='z'"
    ):
        as_sample(table)
    assert as_sample(table, variable="z").names == found.names
    assert as_sample(table, variable="*").names == (*found.names, "K")


def posterior_dataset() -> xr.Dataset:
    labels = np.array([DRAWS, DRAWS[::-1]])
    return xr.Dataset(
        {
            "z": (("chain", "draw", "item"), labels),
            "k": (("chain", "draw"), labels.max(axis=2)),
            "mu": (("chain", "draw", "item"), labels.astype(float)),
        },
        {"item": list(NAMES), "chain": [0, 1], "draw": range(5)},
    )


def inference_data(**groups):
    """ArviZ's container: InferenceData before its version 1, xarray's DataTree since."""
    import arviz as az

    return az.InferenceData(**groups) if az.__version__.startswith("0.") else xr.DataTree.from_dict(groups)


def arviz_objects():
    import arviz as az

    dataset = posterior_dataset()
    yield "Dataset", dataset
    yield "DataArray", dataset["z"]
    yield "DataTree", xr.DataTree.from_dict({"posterior": dataset})
    yield "InferenceData", inference_data(posterior=dataset)
    yield "extract", az.extract(inference_data(posterior=dataset))


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_arviz_objects():
    for kind, draws in arviz_objects():
        found = as_sample(draws)
        assert found.names == NAMES, kind
        assert found.chains.tolist() == [0] * 5 + [1] * 5, kind
        assert_same(found, DRAWS + DRAWS[::-1])


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_labels_in_the_group_posterior_predictive_are_found_by_name(tmp_path):

    labels = posterior_dataset()[["z"]]
    data = inference_data(posterior=posterior_dataset()[["mu"]], posterior_predictive=labels)
    data.to_netcdf(str(tmp_path / "data.nc"), engine="netcdf4")
    tree = xr.DataTree.from_dict({"posterior": posterior_dataset()[["mu"]], "posterior_predictive": labels})
    for draws in (data, tree, tmp_path / "data.nc"):
        read = read_draws if isinstance(draws, Path) else as_sample
        with pytest.raises(ValueError, match=r"name one with variable=: mu, z \(in posterior_predictive\)"):
            read(draws)
        with pytest.raises(ValueError, match=r"no variable 'y'; its variables: mu, z \(in posterior_predictive\)"):
            read(draws, variable="y")
        assert_same(read(draws, variable="z"), DRAWS + DRAWS[::-1])
    answer = CliRunner().invoke(app, ["estimate", str(tmp_path / "data.nc")])
    assert answer.exit_code == 2
    assert "name one with --variable: mu, z (in posterior_predictive)" in answer.stderr
    answer = CliRunner().invoke(app, ["estimate", str(tmp_path / "data.nc"), "--variable", "z", "--json"])
    assert len(json.loads(answer.stdout)["labels"]) == len(NAMES)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_parameters_of_an_arviz_object_with_labels_in_another_group():

    means = xr.Dataset({"means": (("chain", "draw", "cluster"), np.ones((2, 5, 10)))})
    data = inference_data(posterior=means, posterior_predictive=posterior_dataset()[["z"]])
    best = estimate(as_sample(data, variable="z"), rng=1)
    found = cluster_parameters(best, data, variable="means", labels="z")
    assert found.clusters.mean.tolist() == [1.0] * best.n_clusters
    with pytest.raises(ValueError, match=r"labels= must name a variable, not 'y'; there are means, z \(in posterior_p"):
        cluster_parameters(best, data, variable="means", labels="y")


def test_variable_of_a_dataset():
    dataset = posterior_dataset()
    dataset["labels"] = dataset["z"] * 0
    with pytest.raises(ValueError, match="several integer variables, name one with variable=: z, labels"):
        as_sample(dataset)
    assert as_sample(dataset, variable="labels").n_unique == 1
    assert_same(as_sample(dataset, variable="mu"), DRAWS + DRAWS[::-1])
    with pytest.raises(ValueError, match="no variable 'w'; its variables: z, k, mu, labels"):
        as_sample(dataset, variable="w")
    with pytest.raises(ValueError, match="no integer variable with dimensions"):
        as_sample(dataset[["mu", "k"]])
    with pytest.raises(ValueError, match=r"dimensions \(chain, draw, item\) or \(draw, item\), not \('chain',"):
        as_sample(dataset, variable="k")
    with pytest.raises(ValueError, match="variable='z' names a variable of a table or an ArviZ or xarray object"):
        as_sample(DRAWS, variable="z")


def test_missing_values_of_each_kind():
    expected = [[0, GAP, 0], [0, 1, GAP]]
    masked = np.ma.array([[7, 7, 7], [1, 2, 3]], mask=[[0, 1, 0], [0, 0, 1]])
    big = np.array([[2**63 + 1, 0, 2**63 + 1], [2**63, 5, 0]], np.uint64)
    table = pd.DataFrame({"a": [1, 2], "b": [pd.NA, 3], "c": [1, pd.NA]}, dtype="Int64")
    for draws, missing in (
        ([[7, 0, 7], [1, 2, 0]], 0),
        (np.array([[7, 9, 7], [1, 2, 0]], np.uint8), [0, 9]),
        ([["x", "?", "x"], ["x", "y", "?"]], "?"),
        (masked, np.nan),
        (big, 0),
        (table, np.nan),
        (pl.DataFrame({"a": [1, 2], "b": [None, 3], "c": [1, None]}), np.nan),
        (pl.DataFrame({"a": ["u", "u"], "b": [None, "v"], "c": ["u", None]}), np.nan),
    ):
        found = as_sample(draws, missing=missing)
        assert found.labels.tolist() == expected
        assert found.has_gaps


def test_ways_out():
    sample = as_sample(np.array([DRAWS, DRAWS]), weights=range(10), names=NAMES)
    table = sample.to_pandas()
    assert list(table.columns) == [".chain", ".weight", *NAMES]
    for other in (table, pl.from_pandas(table), sample.to_xarray()):
        again = as_sample(other)
        np.testing.assert_array_equal(again.labels, sample.labels)
        np.testing.assert_allclose(again.weights, sample.weights, rtol=1e-12)
        np.testing.assert_array_equal(again.chains, sample.chains)
        assert again.names == NAMES
    plain = as_sample(DRAWS)
    assert list(plain.to_pandas().columns) == ["item0", "item1", "item2", "item3"]
    assert as_sample(plain.to_pandas()).names is None
    np.testing.assert_array_equal(plain.to_numpy(), [canonical(row) for row in DRAWS])


def test_repr_and_frozen_arrays():
    sample = as_sample([[0, 1, GAP], [0, 0, 0]], missing=GAP, names=["<b>", "y", "z"])
    assert (
        repr(sample) == "PartitionSample(2 draws, 2 distinct, 3 items, 1 to 2 clusters per draw, 16.7% missing labels)"
    )
    assert "<th>missing labels</th><td>16.7%</td>" in sample._repr_html_()
    assert "<b>" not in sample._repr_html_()
    with pytest.raises(ValueError, match="read-only"):
        sample.labels[0, 0] = 1


BAD_LABELS = {
    r"draws\[1, 0\] is nan: a label must not be missing \(missing=nan marks it as missing\)": [
        [0.0, 1.0],
        [np.nan, 1],
    ],
    r"draws\[0, 1\] is inf: labels must be finite": [[0.0, np.inf], [0, 1]],
    r"draws\[1, 1\] is 0\.5: labels must be whole numbers": [[0.0, 1], [2, 0.5]],
    r"draws\[0, 1\] is -1: labels must not be negative \(missing=-1 if .*, or noise=-1 if": [[0, -1], [2, 0]],
    r"draws\[0, 1\] is -3\.0: labels must not be negative": [[0.0, -3.0], [2, 0]],
    r"draws\[0, 0\] is 1e\+300: a float this large is not exact": [[1e300, 1]],
    r"draws\[1, 1\] is None: a label must not be missing": [["a", "b"], ["a", None]],
    r"draws\[0, 1\] is 0\.5: labels must be whole": [["a", 0.5]],
    r"draws\[0, 1\] is -2: labels must not be negative": [["a", -2]],
    r"draws\[0, 1\] is \{'a': 1\}: labels must be numbers": [["a", {"a": 1}]],
    r"draws is ragged: entry 2 has 3 items, but entry 0 has 2": [[0, 1], [0, 1], [0, 1, 2]],
    r"draws is ragged": [[[0, 1], [0, 1]], [[0, 1], [0]]],
    r"draws has no items": np.empty((3, 0), int),
    r"draws is empty": np.empty((0, 3), int),
    r"2 dimensions \(draws, items\) or 3 \(chains, draws, items\), but it has 1": [0, 1, 1],
    r"but it has 4": np.zeros((2, 2, 2, 2), int),
    r"but it has 0": 7,
    r"draws\[1, 2, 0\] is -1": np.array([[[0], [0], [0]], [[0], [0], [-1]]]),
}


@pytest.mark.parametrize("message", BAD_LABELS)
def test_bad_draws(message):
    with pytest.raises(ValueError, match=message):
        as_sample(BAD_LABELS[message])


def test_rows_are_named_as_the_user_counts_them():
    draws = np.zeros((4000, 700), np.int16)
    draws[3500, 13] = -4
    with pytest.raises(ValueError, match=r"draws\[3500, 13\] is -4"):
        as_sample(draws)
    with pytest.raises(ValueError, match=r"draws\[3500, 13\] is -4"):
        as_sample(draws, burn=100, thin=2)
    assert as_sample(draws, burn=101, thin=2).n_unique == 1
    with pytest.raises(ValueError, match=r"row 1, column 'b', is None"):
        as_sample(pl.DataFrame({"a": [1, 2], "b": [3, None]}))


def test_same_column_names_and_file_names():
    with pytest.raises(ValueError, match="draws has columns of the same name"):
        as_sample(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(TypeError, match=r"draws is the name 'draws\.csv'; read_draws reads files"):
        as_sample("draws.csv")


def test_bad_kinds_of_labels():
    for draws in (np.array([[1j]]), np.array([["2020-01-01"]], "M8[D]")):
        with pytest.raises(TypeError, match=r"draws has type .*; labels are integers, strings"):
            as_sample(draws)


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1, 2, -1, 1, 1], ValueError, r"weights\[2\] is -1\.0: weights must be finite and not negative"),
        ([1, 2, np.nan, 1, 1], ValueError, r"weights\[2\] is nan"),
        ([1, 2, np.inf, 1, 1], ValueError, r"weights\[2\] is inf"),
        ([0] * 5, ValueError, "weights are all zero"),
        ([1] * 4, ValueError, "weights has 4 entries, but there are 5 draws"),
        (["a"] * 5, TypeError, "weights must be numbers, one for each of the 5 draws"),
    ],
)
def test_bad_weights(weights, error, message):
    with pytest.raises(error, match=message):
        as_sample(DRAWS, weights=weights)


def test_huge_weights_have_a_sum():
    assert as_sample([[0, 1], [0, 0]], weights=[1.5e308, 1.5e308]).weights.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"burn": -1}, ValueError, "burn must be at least 0, but it is -1"),
        ({"thin": 0}, ValueError, "thin must be at least 1, but it is 0"),
        ({"burn": 0.5}, TypeError, "burn must be a whole number, not 0.5"),
        ({"burn": 5}, ValueError, "burn=5 leaves none of the 5 draws of chain 0"),
        ({"names": ["a"]}, ValueError, "names must contain 4 names"),
        ({"names": "abcd"}, ValueError, "names must contain 4 names"),
        ({"weights": [1, 1, 0, 0, 0], "burn": 2}, ValueError, "weights after burn and thin are all zero"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        as_sample(DRAWS, **options)


def test_bad_chains_and_gaps():
    with pytest.raises(ValueError, match="chain 1 has 3 items, but chain 0 has 2"):
        as_sample([np.zeros((2, 2), int), np.zeros((2, 3), int)])
    tables = [pd.DataFrame({"a": [1], "b": [1]}), pd.DataFrame({"a": [1], "c": [1]})]
    with pytest.raises(ValueError, match="chain 1 and of chain 0 have different names; not in chain 1: 'b'"):
        as_sample(tables)
    with pytest.raises(ValueError, match="draw 1 labels no item"):
        as_sample([[0, 1], [GAP, GAP]], missing=GAP)
    with pytest.raises(ValueError, match=r"draws\[0, 1\] is -2: labels must not be negative"):
        as_sample([[0, -2]], missing=GAP)
    uneven = as_sample([np.zeros((2, 2), int), np.zeros((3, 2), int)])
    with pytest.raises(ValueError, match=r"chains have different lengths \(2, 3\)"):
        uneven.to_xarray()


@given(st.lists(st.one_of(st.integers(0, 5), st.sampled_from("abc")), min_size=1, max_size=9))
def test_check_partition_is_canonical(labels):
    assert check_partition(labels, "x").tolist() == list(canonical(labels))


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([0, -1], r"x\[1\] is -1: labels must not be negative"),
        ([0, np.nan], r"x\[1\] is nan: a label must not be missing"),
        ([], "x has no items"),
        ([[0, 1]], "x must be one partition, of 1 dimension"),
        ([0, [1]], "x is ragged: entry 1 has 1 items, but entry 0 is not a list"),
    ],
)
def test_bad_partitions(x, message):
    with pytest.raises(ValueError, match=message):
        check_partition(x, "x")


def test_other_checks():
    generator = np.random.default_rng(1)
    assert check_rng(generator) is generator
    assert check_rng(5).random() == check_rng(np.int64(5)).random()
    with pytest.raises(TypeError, match="rng must be None, an integer or a numpy Generator, not str"):
        check_rng("seed")
    with pytest.raises(ValueError, match="rng must not be a negative seed"):
        check_rng(-1)
    for bad in (0, -1, np.inf, np.nan):
        with pytest.raises(ValueError, match="alpha must be a positive number"):
            check_positive(bad, "alpha")
    with pytest.raises(TypeError, match="alpha must be a number, not 'x'"):
        check_positive("x", "alpha")
    assert check_n_jobs(3) == 3
    assert check_n_jobs(-1) >= 1
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        check_n_jobs(0)


@pytest.mark.parametrize("draws", [None, {"a": [0, 1]}, {1, 2}, iter([[0, 1]]), sparse.csr_array([[0, 1]])])
def test_what_holds_no_draws_is_named(draws):
    with pytest.raises(TypeError, match=f"draws is of type {type(draws).__name__}; it must be"):
        as_sample(draws)
