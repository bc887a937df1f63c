"""Profiles of clusters: means, shares, intervals and information."""

import numpy as np
import pandas as pd
import pytest

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
    assert list(frame.columns) == ["cluster", "items", "column", "level", "mean", "low", "high"]
    assert len(frame) == 2 * (4 + 2)
    assert str(told).splitlines()[0].split()[:2] == ["column", "bits"]
    assert "noise" in str(told).splitlines()[-1]


def test_bad_input():
    best = pt.estimate(np.array([[0, 0, 1]]), rng=1)
    with pytest.raises(ValueError, match="table has 2 items, but the draws have 3"):
        pt.profiles(best, {"x": [1.0, 2.0]})
    with pytest.raises(ValueError, match="level"):
        pt.profiles(best, {"x": [1.0, 2.0, 3.0]}, level=2)
    with pytest.raises(KeyError, match="no column 'y'"):
        pt.profiles(best, {"x": [1.0, 2.0, 3.0]})["y"]
