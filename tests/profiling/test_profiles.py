"""Profiles of clusters: means, shares, intervals and information."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import partita as pt

RNG = np.random.default_rng(5)
TRUTH = np.repeat([0, 1], 200)
TABLE = pd.DataFrame(
    {
        "size": RNG.normal(np.where(TRUTH, 8.0, 0.0)),
        "noise": RNG.normal(size=400),
        "visits": RNG.poisson(np.where(TRUTH, 40, 2)).astype(float),
        "colour": np.where(TRUTH, "blue", "red"),
        "price": np.exp(RNG.normal(np.where(TRUTH, 3.0, 0.0), 0.2)),
    }
).mask(RNG.random((400, 5)) < 0.1)
FAMILIES = {"visits": "count", "price": "positive"}


@pytest.fixture(scope="module")
def told():
    best = pt.estimate(np.array([TRUTH, TRUTH]), rng=1)
    return pt.profiles(best, TABLE, columns=FAMILIES, rng=1)


def test_means_are_those_of_the_clusters(told):
    for name in ("size", "visits"):
        means = TABLE.groupby(TRUTH)[name].mean()
        errors = TABLE.groupby(TRUTH)[name].std() / np.sqrt(180)
        np.testing.assert_allclose(told[name].mean, means, atol=float(errors.max()))
        assert (told[name].low < told[name].mean).all()
        assert (told[name].mean < told[name].high).all()
    np.testing.assert_allclose(told["price"].mean, [1.0, np.exp(3.0)], rtol=0.05)
    assert told["colour"].mean[0, told["colour"].column.levels.index("red")] > 0.98
    np.testing.assert_allclose(told["colour"].mean.sum(axis=1), 1.0)


def test_intervals_are_those_of_a_t_distribution(told):
    """One known partition: the interval of a mean is about 1.645 standard errors on each side."""
    width = (told["size"].high - told["size"].low) / 2
    errors = TABLE.groupby(TRUTH)["size"].std() / np.sqrt(TABLE.groupby(TRUTH)["size"].count())
    np.testing.assert_allclose(width, 1.645 * errors, rtol=0.25)


def test_information_is_one_bit_for_what_tells_all_and_none_for_noise(told):
    assert told["noise"].information < 0.05
    for name in ("size", "visits", "colour", "price"):
        assert told[name].information == pytest.approx(1.0, abs=0.05)


def test_uncertain_partitions_widen_the_intervals():
    other = np.where(np.arange(400) < 230, 0, 1)
    sure = pt.profiles(pt.estimate(np.array([TRUTH, TRUTH]), rng=1), TABLE, columns=FAMILIES, rng=1)["size"]
    unsure = pt.profiles(pt.estimate(np.array([TRUTH, other]), rng=1), TABLE, columns=FAMILIES, rng=1)["size"]
    assert (unsure.high - unsure.low).max() > 2 * (sure.high - sure.low).max()


def test_the_table_of_all(told):
    frame = told.to_pandas()
    assert list(frame.columns) == ["cluster", "items", "column", "level", "mean", "low", "high", "observed"]
    assert len(frame) == 2 * (4 + 2)
    assert str(told).splitlines()[0].split()[:2] == ["column", "bits"]
    assert "noise" in str(told).splitlines()[-1]
    by_column = told.to_pandas("columns").set_index("column")
    np.testing.assert_array_equal(by_column["observed"], TABLE.notna().sum())
    np.testing.assert_array_equal(frame.query("column == 'size'")["observed"], TABLE["size"].groupby(TRUTH).count())
    assert f"{TABLE['size'].count()}" in str(told)
    assert "<td>noise</td>" in told._repr_html_()
    with pytest.raises(ValueError, match="table must be one of clusters, columns, but it is 'rows'"):
        told.to_pandas("rows")


SIX = np.repeat(np.arange(6), 50)


def bits_of(columns, labels=SIX):
    best = pt.estimate(np.array([labels, labels]), rng=1)
    told = pt.profiles(best, columns, draws=1, rng=1)
    return {own.column.name: own.information for own in told.columns}


@pytest.mark.parametrize(
    ("levels", "missing"), [(2, 0), (2, 0.9), (10, 0), (10, 0.9), (10, 0.97), (50, 0), (50, 0.97), (0, 0), (0, 0.95)]
)
def test_noise_has_no_information_however_sparse_and_however_many_levels(levels, missing):
    """Six clusters of 50 rows that have nothing to do with the column; before, up to 0.65 bits for every table."""
    rng, tables = np.random.default_rng(11), 40
    columns = {}
    for k in range(tables):
        numbers = rng.normal(size=300) if levels == 0 else rng.integers(levels, size=300)
        cells = numbers.astype(object) if levels == 0 else np.array([f"level {x}" for x in numbers], dtype=object)
        cells[rng.random(300) < missing] = None
        if len(set(cells) - {None}) > 1:
            columns[f"x{k}"] = cells.tolist()
    found = np.array(list(bits_of(columns).values()))
    assert len(found) > tables / 2
    assert found.mean() < 0.03
    assert (found == 0).mean() >= 0.9


def test_a_text_has_the_largest_clusters():
    """It had all: with seventeen clusters its lines were wider than any terminal."""
    labels = np.repeat(np.arange(8), [9, 2, 8, 7, 6, 5, 4, 1])
    told = str(pt.profiles(pt.estimate([labels, labels], rng=1), {"x": labels * 3.0 + np.sin(np.arange(42))}, rng=1))
    head, *_, last = told.splitlines()
    assert [word for word in head.split() if word.isdigit()] == ["0", "2", "3", "4", "5", "6"]
    assert last == "The 6 largest clusters; 2 more are not shown."


def test_sparse_noise_comes_after_real_columns():
    rng = np.random.default_rng(3)
    columns = {
        "strong": (rng.normal(size=300) + 3 * SIX).tolist(),
        "weak": (rng.normal(size=300) + SIX % 2).tolist(),
        "kind": np.where(rng.random(300) < 0.8, SIX % 3, rng.integers(3, size=300)).astype(str).tolist(),
        "noise": [f"n{rng.integers(10)}" if rng.random() < 0.08 else None for _ in SIX],
        "names": [f"n{x}" for x in rng.integers(190, size=300)],
    }
    bits = bits_of(columns)
    assert bits["strong"] > bits["kind"] > bits["weak"] > 0.05
    assert bits["noise"] == bits["names"] == 0


def test_information_does_not_depend_on_order_of_rows_or_names_of_levels():
    rng = np.random.default_rng(4)
    order = rng.permutation(300)
    kinds = np.where(rng.random(300) < 0.6, SIX, rng.integers(6, size=300))
    columns = {"x": rng.normal(size=300) + SIX, "n": rng.poisson(3 + SIX).astype(float), "kind": kinds.astype(str)}
    renamed = np.array(["f", "z", "a", "q", "b", "c"])[kinds]
    shuffled = {"x": columns["x"][order], "n": columns["n"][order], "kind": renamed[order]}
    first = bits_of({name: cells.tolist() for name, cells in columns.items()})
    second = bits_of({name: cells.tolist() for name, cells in shuffled.items()}, SIX[order])
    assert min(first.values()) > 0.2
    assert second == pytest.approx(first, abs=1e-12)


def test_information_is_the_mean_over_cells_that_are_left_out():
    """Each density again from scratch, without the cell: Student's t, negative binomial, smoothed shares."""
    rng = np.random.default_rng(8)
    labels = np.repeat([0, 1, 2], [20, 12, 1])
    columns = {
        "x": rng.normal(size=33) + 3 * labels,
        "n": rng.poisson(2 + 5 * labels),
        "kind": np.where(rng.random(33) < 0.8, labels % 2, 2),
    }
    best = pt.estimate(np.array([labels, labels]), rng=1)
    table = {"x": columns["x"], "n": columns["n"], "kind": columns["kind"].astype(str).tolist()}
    told = pt.profiles(best, table, columns={"n": "count"}, draws=1, rng=1)

    def density(name, cells, at):
        values = columns[name]
        if name == "kind":
            return (np.sum(cells == at) + 1) / (len(cells) + 3)
        if name == "n":
            return stats.nbinom.pmf(at, 1 + cells.sum(), 1 - 1 / (1 + 1 / values.mean() + len(cells)))
        c, a = 0.5 + len(cells), 2 + len(cells) / 2
        mean = (0.5 * values.mean() + cells.sum()) / c
        b = values.var(ddof=1) + 0.5 * (np.sum(cells**2) + 0.5 * values.mean() ** 2 - c * mean**2)
        return stats.t.pdf(at, 2 * a, mean, np.sqrt(b * (c + 1) / (a * c)))

    for name, values in columns.items():
        bits = []
        for i in range(32):
            others = [values[(labels == k) & (np.arange(33) != i)] for k in range(3)]
            prior = np.array([len(cells) + 3 * np.mean(labels == k) for k, cells in enumerate(others)])
            each = np.array([density(name, cells, values[i]) for cells in others])
            bits.append(np.log2(each[labels[i]] / (prior @ each / prior.sum())))
        assert told[name].information == pytest.approx(sum(bits) / 33, rel=1e-9)


def test_bad_input():
    best = pt.estimate(np.array([[0, 0, 1]]), rng=1)
    with pytest.raises(ValueError, match="table has 2 items, but the draws have 3"):
        pt.profiles(best, {"x": [1.0, 2.0]})
    with pytest.raises(ValueError, match="level"):
        pt.profiles(best, {"x": [1.0, 2.0, 3.0]}, level=2)
    with pytest.raises(ValueError, match="MixtureDPM"):
        pt.profiles(pt.models.MixtureDPM(), {"x": [1.0, 2.0, 3.0]})
    with pytest.raises(KeyError, match="no column 'y'"):
        pt.profiles(best, {"x": [1.0, 2.0, 3.0]})["y"]
