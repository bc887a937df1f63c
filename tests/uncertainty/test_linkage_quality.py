"""Quality from labelled samples: exact with all labels, intervals that cover, bad input named."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import partita as pt

MEASURES = ("precision", "recall", "f1", "cluster_precision", "cluster_recall", "cluster_f1")


def population(rng, n_entities, error):
    """Entities of one to six records, and an estimate that splits and joins some of them."""
    size = rng.choice([1, 2, 3, 4, 6], n_entities, p=[0.45, 0.25, 0.15, 0.1, 0.05])
    truth = np.repeat(np.arange(n_entities), size)
    found = truth.copy()
    leave = rng.random(truth.size) < error
    found[leave] = n_entities + np.arange(leave.sum())
    target = np.arange(found.max() + 1)
    joined = rng.permutation(n_entities)[: int(error * n_entities)]
    target[joined] = rng.integers(n_entities, size=joined.size)
    return truth, pt.canonical(target[found])


class Linked:
    """An estimate of records without names, as far as the measures need one."""

    def __init__(self, labels):
        self.labels, self.sample = labels, self
        self.names = None


def by_definition(truth, found):
    """From the sets of pairs and of clusters."""

    def pairs(labels):
        return {(i, j) for i, j in combinations(range(len(labels)), 2) if labels[i] == labels[j]}

    def clusters(labels):
        return {frozenset(np.flatnonzero(labels == k).tolist()) for k in np.unique(labels)}

    values = []
    for sets in (pairs, clusters):
        true, estimated = sets(truth), sets(found)
        both = len(true & estimated)
        values += [both / len(estimated), both / len(true), 2 * both / (len(true) + len(estimated))]
    return values


def quick_measures(truth, found):
    """The same from counts."""
    cell = pt.canonical(truth * (found.max() + 1) + found)
    sizes = [np.bincount(x).astype(float) for x in (cell, truth, found)]
    both, true, estimated = ((c * (c - 1) / 2).sum() for c in sizes)
    first = np.unique(cell, return_index=True)[1]
    same = ((sizes[0] == sizes[1][truth[first]]) & (sizes[0] == sizes[2][found[first]])).sum()
    k, m = sizes[1].size, sizes[2].size
    return [both / estimated, both / true, 2 * both / (true + estimated), same / m, same / k, 2 * same / (k + m)]


@pytest.mark.parametrize("sampled", ["clusters", "records"])
def test_with_all_labels_the_measures_are_exact(sampled):
    truth, found = population(np.random.default_rng(1), 40, 0.2)
    table = pd.DataFrame({"record": np.arange(truth.size), "person": truth})
    quality = pt.linkage_quality(Linked(found), table, sampled=sampled)
    exact = by_definition(truth, found)
    assert quick_measures(truth, found) == pytest.approx(exact)
    for name, value in zip(MEASURES, exact, strict=True):
        measured = getattr(quality, name)
        assert measured == pytest.approx(value)
        assert measured.low == measured.high == measured


def chosen_entities(rng, truth, k, sampled):
    if sampled == "clusters":
        return rng.choice(truth.max() + 1, k, replace=False)
    return np.unique(truth[rng.choice(truth.size, k, replace=False)])


def coverage(reps, k, error, sampled, seed=0, shift=0.0):
    """How often each interval covers the value of the whole population."""
    rng = np.random.default_rng(seed)
    covered = np.zeros(len(MEASURES))
    for _ in range(reps):
        truth, found = population(rng, 3000, error)
        records = np.flatnonzero(np.isin(truth, chosen_entities(rng, truth, k, sampled)))
        quality = pt.linkage_quality(Linked(found), pd.Series(truth[records], index=records), sampled=sampled)
        for m, value in enumerate(quick_measures(truth, found)):
            measured = getattr(quality, MEASURES[m])
            covered[m] += measured.low <= value + shift <= measured.high
    return covered / reps


@pytest.mark.parametrize("sampled", ["clusters", "records"])
def test_intervals_cover(sampled):
    """95 % within the Monte Carlo error of 250 samples; values that are wrong by 0.1 are hardly ever covered."""
    found = coverage(250, 150, 0.15, sampled)
    assert (np.abs(found - 0.95) < 3.5 * np.sqrt(0.95 * 0.05 / 250)).all(), found
    assert (coverage(50, 600, 0.15, sampled, shift=0.1) < 0.3).all()


@pytest.mark.slow
@pytest.mark.parametrize("sampled", ["clusters", "records"])
@pytest.mark.parametrize(("k", "error"), [(150, 0.1), (150, 0.3), (400, 0.1), (400, 0.3)])
def test_intervals_cover_in_long_simulations(sampled, k, error):
    found = coverage(4000, k, error, sampled, seed=k)
    assert (found > 0.93).all(), found
    assert (found < 0.97).all(), found


def test_entities_found_through_records_are_weighted():
    """Without the weights large entities, which are worse here, would count too much."""
    rng = np.random.default_rng(4)
    truth = np.repeat(np.arange(3000), rng.choice([2, 8], 3000))
    found = np.where(
        (np.bincount(truth)[truth] == 8) & (rng.random(truth.size) < 0.5), 3000 + np.arange(truth.size), truth
    )
    found = pt.canonical(found)
    records = np.flatnonzero(np.isin(truth, np.unique(truth[rng.choice(truth.size, 300, replace=False)])))
    labelled = pd.Series(truth[records], index=records)
    value = quick_measures(truth, found)[4]
    weighted = pt.linkage_quality(Linked(found), labelled, sampled="records").cluster_recall
    plain = pt.linkage_quality(Linked(found), labelled).cluster_recall
    assert weighted.low <= value <= weighted.high
    assert not plain.low <= value <= plain.high


def test_a_sample_without_errors_has_an_interval_all_the_same():
    truth = np.repeat(np.arange(500), 2)
    quality = pt.linkage_quality(Linked(truth), {str(i): int(truth[i]) for i in range(80)})
    assert quality.precision == 1.0
    assert 0.8 < quality.precision.low < 1.0
    assert quality.precision.high == 1.0
    assert "40 entities with 80 records, 95% intervals" in repr(quality)
    assert quality.to_pandas().loc["recall", "value"] == 1.0


def test_names_and_bad_labels():
    pairs = pt.as_similarity(pd.DataFrame([("a", "b", 0.9), ("c", "d", 0.9)], columns=["left", "right", "p"]))
    est = pt.estimate(pairs, "binder", rng=1)
    quality = pt.linkage_quality(est, pd.DataFrame({"record": ["d", "a", "c"], "person": ["y", "x", "y"]}))
    assert quality.recall == 1.0
    bad = {
        r"labelled\[1\] is 'bee', which is not a record": {"a": 1, "bee": 2},
        r"labelled\[1\] is 'b', whose entity is missing": {"a": 1, "b": None},
        "labelled has one entity": {"a": 1, "b": 1},
        "labelled has no records": {},
    }
    for message, labelled in bad.items():
        with pytest.raises(ValueError, match=message):
            pt.linkage_quality(est, labelled)
    with pytest.raises(ValueError, match=r"labelled\[1\] is 'a', which has a label already"):
        pt.linkage_quality(est, pd.DataFrame({"record": ["a", "a"], "person": [1, 2]}))
    with pytest.raises(ValueError, match="labelled has 3 columns"):
        pt.linkage_quality(est, pd.DataFrame({"record": ["a"], "person": [1], "x": [0]}))
    with pytest.raises(ValueError, match="sampled"):
        pt.linkage_quality(est, {"a": 1, "c": 2}, sampled="cluster")
    with pytest.raises(TypeError, match="labelled must be a table"):
        pt.linkage_quality(est, [1, 2])
