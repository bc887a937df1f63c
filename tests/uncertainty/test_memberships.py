"""Memberships against matchings by brute force, under permutations, and their calibration on planted posteriors."""

from __future__ import annotations

import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given

from partita.draws.sample import as_sample
from partita.estimation.convergence import MixingWarning
from partita.estimation.estimate import estimate
from partita.models import GaussianDPM
from partita.search.settings import Search
from partita.uncertainty.memberships import matched, memberships
from support import reference as ref
from support.strategies import gappy_samples, samples


def best_matchings(labels, drawn):
    """All one-to-one matchings of the clusters of a draw with the reported ones of largest overlap, by permutation."""
    k, m = max(labels) + 1, max(drawn) + 1
    scores = {}
    for order in permutations([*range(k), *[k] * m], m):
        pairs = {t: c for t, c in enumerate(order) if c < k}
        scores[order] = sum(pairs.get(d) == c for c, d in zip(labels, drawn, strict=True) if c >= 0 and d >= 0)
    return {order for order, score in scores.items() if score == max(scores.values())}


@given(samples(max_items=5))
def test_each_draw_is_matched_for_the_largest_overlap(sample):
    rows, weights = sample
    reported = ref.canonical(rows[0])
    for row in map(ref.canonical, rows):
        found = matched(np.array(reported), np.array(row), max(reported) + 1)
        assert tuple(found.tolist()) in best_matchings(reported, row)
    total = memberships(reported, as_sample(rows, weights)).probabilities.sum(axis=1)
    np.testing.assert_allclose(total, 1)


def test_probabilities_over_all_partitions_of_five_items():
    """A posterior on all partitions that have one best matching, summed in plain Python."""
    rng = np.random.default_rng(1)
    reported = (0, 0, 0, 1, 1)
    rows = [p for p in ref.all_partitions(5) if len(best_matchings(reported, p)) == 1]
    weights = rng.gamma(0.5, size=len(rows))
    expected = np.zeros((5, 3))
    for row, weight in zip(rows, weights / weights.sum(), strict=True):
        (order,) = best_matchings(reported, row)
        for item, cluster in enumerate(row):
            expected[item, order[cluster]] += weight
    assert len(rows) > 20
    assert expected[:, 2].max() > 0
    found = memberships(reported, as_sample(rows, weights))
    np.testing.assert_allclose(found.probabilities, expected)
    np.testing.assert_allclose(found.own, expected[range(5), reported])
    order = rng.permutation(5)
    again = memberships(np.array(reported)[order], as_sample(np.array(rows)[:, order], weights)).probabilities
    columns = [0, 1, 2] if reported[order[0]] == 0 else [1, 0, 2]
    np.testing.assert_allclose(again[:, columns], expected[order])


@given(gappy_samples(max_items=6))
def test_draws_that_do_not_label_an_item_do_not_count_for_it(sample):
    rows, weights = sample
    found = memberships(rows[-1], as_sample(rows, weights, missing=-1))
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)


def test_items_without_labels_and_items_in_no_cluster():
    sample = as_sample([[0, 0, 1, -1], [0, 0, 1, -1]], missing=-1, names=["ann", "bob", "cy", "dot"])
    found = memberships(estimate(sample, rng=1))
    assert found.labels.tolist() == [0, 0, 1, -1]
    assert np.isnan(found.probabilities[3]).all()
    table = found.to_pandas()
    assert table.index.tolist() == ["ann", "bob", "cy", "dot"]
    assert table.columns.tolist() == ["0", "1", "other"]
    assert table.loc["cy"].tolist() == [0.0, 1.0, 0.0]
    assert repr(found).startswith("Memberships(4 items x 2 clusters and other, own cluster 1.000")


def test_more_memory_than_there_is_raises_an_error(monkeypatch):
    monkeypatch.setattr("partita._support.memory.free_bytes", lambda: 10)
    with pytest.raises(MemoryError, match="memberships of 2 items in 2 clusters"):
        memberships([0, 1], [[0, 1]])


def planted(replications, seed, n_items=40):
    """Probabilities of memberships, and whether the truth, matched as draws are, has the item there."""
    rng = np.random.default_rng(seed)
    probabilities, hits = [], []
    for _ in range(replications):
        z = [0]
        for i in range(1, n_items):
            counts = np.append(np.bincount(z), 1.0)
            z.append(int(rng.choice(counts.size, p=counts / (i + 1.0))))
        truth = np.array(ref.canonical(z))
        variance = 1 / rng.gamma(3.0, size=truth.max() + 1)
        mean = rng.normal(0, np.sqrt(variance / 0.05))
        data = rng.normal(mean[truth], np.sqrt(variance)[truth])[:, None]
        model = GaussianDPM("diag", alpha=1.0, mu0=0.0, c=0.05, a=3.0, b=1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MixingWarning)
            chain = model.sample(data, draws=400, warmup=200, thin=2, chains=1, rng=rng, n_jobs=1)
            best = estimate(chain, rng=rng, search=Search(runs=1, n_jobs=1))
        found = memberships(best).probabilities
        k = best.n_clusters
        probabilities.append(found.ravel())
        hits.append((matched(best.labels, truth, k)[truth][:, None] == np.arange(k + 1)).ravel())
    return probabilities, hits


def check_tenths(probabilities, hits, power=1.0):
    """In each tenth the mean probability is the frequency, within four standard errors of means over data sets."""
    for low in np.arange(0, 1, 0.1):
        gaps = []
        for probability, hit in zip(probabilities, hits, strict=True):
            inside = (probability >= low) & (probability <= low + 0.1)
            gaps.append((probability[inside] ** power - hit[inside]).sum())
        gaps = np.array(gaps)
        assert abs(gaps.sum()) <= 4 * np.sqrt((gaps**2).sum()) + 0.5, f"tenth from {low:.1f}"


def test_calibration_on_a_few_planted_posteriors():
    check_tenths(*planted(12, seed=1))


@pytest.mark.slow
def test_calibration_in_tenths():
    probabilities, hits = planted(200, seed=2)
    check_tenths(probabilities, hits)
    with pytest.raises(AssertionError, match="tenth"):
        check_tenths(probabilities, hits, power=1.6)
