"""The number of clusters by ambiguity, voting by alignment, and weights of clusterings and items."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

import partita as pt
from partita.ensembles import (
    ambiguity,
    co_association,
    consensus,
    cspa,
    evidence_accumulation,
    kmeans_ensemble,
    mcla,
    voting,
)
from partita.ensembles.voting import _matched


def noisy(n_items=120, k=4, n_clusterings=8, noise=0.2, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n_items)
    base = np.stack([rng.permutation(k)[truth] for _ in range(n_clusterings)], axis=1)
    wrong = rng.random(base.shape) < noise
    base[wrong] = rng.integers(k, size=int(wrong.sum()))
    return base, truth


@pytest.fixture(scope="module")
def runs():
    """Three separated clusters, and runs of k-means on 80 % of the items."""
    rng = np.random.default_rng(1)
    X = np.repeat([[0, 0], [8, 0], [4, 7]], 30, axis=0) + rng.normal(size=(90, 2))
    several = {k: [KMeans(k, n_init=5)] * 20 for k in (2, 3, 4, 5)}
    return {k: kmeans_ensemble(X, clusterers=clusterers, resample=0.8, rng=k) for k, clusterers in several.items()}


def test_pac_is_the_share_of_ambiguous_pairs(runs):
    found = ambiguity(runs)
    for at, k in enumerate(found.k.tolist()):
        table = co_association(runs[k])
        shares = [table[i, j] for i, j in itertools.combinations(range(90), 2) if not np.isnan(table[i, j])]
        assert found.pac[at] == pytest.approx(np.mean([0.1 < share < 0.9 for share in shares]))
        assert found.cdf[at, 50] == pytest.approx(np.mean([share <= 0.5 for share in shares]))
    assert (np.diff(found.cdf, axis=1) >= 0).all()
    assert (found.cdf[:, -1] == 1).all()


def test_the_true_number_of_separated_clusters_is_least_ambiguous(runs):
    found = ambiguity(runs)
    assert found.best == 3
    assert "3 clusters are the least ambiguous" in repr(found)
    assert "<table>" in found._repr_html_()


def test_many_items_are_sampled():
    base = np.repeat(np.arange(3000) % 3, 4).reshape(3000, 4)
    found = ambiguity({3: base}, rng=1)
    assert found.pac.tolist() == [0.0]
    assert found.cdf[0, 50] == pytest.approx(2 / 3, abs=0.01)


@pytest.mark.parametrize("wrong", [None, len, KMeans()])
def test_what_is_no_table_of_labels_is_named(wrong):
    with pytest.raises(TypeError, match=r"base must be a table of labels, .* not "):
        pt.ensembles.as_base(wrong)
    if wrong is not None:
        with pytest.raises(TypeError, match="X is missing: the data that the clusterer is to cluster"):
            pt.ensembles.stability(wrong)


def test_mistakes_with_stability_are_named(runs):
    with pytest.raises(TypeError, match="dictionary from the number of clusters"):
        ambiguity(runs[2])
    with pytest.raises(ValueError, match="limits must rise"):
        ambiguity(runs, limits=(0.9, 0.1))
    with pytest.raises(ValueError, match="no run labels two items"):
        ambiguity({2: [[0, -1], [-1, 1]]})


def test_voting_finds_the_truth_and_its_own_votes_change_nothing():
    base, truth = noisy()
    found = voting(base)
    assert pt.adjusted_rand(found, truth) > 0.95
    assert np.array_equal(voting(np.column_stack([base, found])), found)


def test_voting_is_the_majority_after_the_best_renumbering():
    """Of all renumberings of a clustering, none agrees with the reference on more items."""
    base, _ = noisy(30, 3, 5, 0.3, seed=2)
    found = voting(base, 3)
    votes = np.zeros((30, 3))
    for column in base.T:
        best = max(itertools.permutations(range(3)), key=lambda p: (np.array(p)[column] == found).sum())
        votes[np.arange(30), np.array(best)[column]] += 1
    assert (votes[np.arange(30), found] == votes.max(axis=1)).all()


def test_clusters_are_matched_one_to_one():
    """Both clusters overlap most with cluster 0, but only one can be its partner; a third one has none."""
    column, reference = np.array([0, 0, 0, 1, 1, 1, 2]), np.array([0, 0, 0, 0, 0, 1, 1])
    target, agreed = _matched(column, reference, np.ones(7))
    assert target.tolist() == [0, 1, 1]
    assert agreed == 4


def test_voting_takes_gaps_weights_and_the_frequent_number():
    base, truth = noisy()
    base[np.random.default_rng(1).random(base.shape) < 0.2] = -1
    assert pt.adjusted_rand(voting(base), truth) > 0.9
    wrong = np.random.default_rng(0).integers(2, size=len(truth))
    mixed = np.column_stack([truth, wrong])
    assert pt.adjusted_rand(voting(mixed, weights=[3, 1]), truth) == 1.0
    assert voting(mixed, weights=[1, 3]).max() == 1
    with pytest.raises(ValueError, match="no base clustering has 3 clusters; there are 2, 4"):
        voting(mixed, 3)


def test_weights_of_items_decide_what_is_matched():
    base = [[0, 1], [0, 1], [0, 0], [1, 0], [1, 0]]
    heavy = voting(base, item_weights=[1, 1, 9, 1, 1])
    assert heavy[2] == heavy[0]
    with pytest.raises(ValueError, match=r"item_weights\[1\] is -1.0"):
        voting(base, item_weights=[1, -1, 1, 1, 1])


def test_an_item_that_stands_for_several_is_several_in_the_consensus():
    base, _ = noisy(40, 3, 5, 0.4)
    copies = np.random.default_rng(3).integers(1, 4, size=40)
    found = consensus(base, item_weights=copies, rng=1)
    repeated = consensus(np.repeat(base, copies, axis=0), rng=1)
    first = np.cumsum(copies) - copies
    assert np.array_equal(found, pt.canonical(repeated[first]))
    assert np.array_equal(consensus(base, item_weights=np.ones(40), rng=1), consensus(base, rng=1))
    names = [f"x{n}" for n in range(40)]
    series = pd.Series(copies, index=names).sample(frac=1, random_state=1)
    assert np.array_equal(consensus(pd.DataFrame(base, index=names), item_weights=series, rng=1), found)
    with pytest.raises(ValueError, match=r"item_weights\[0\] is 0.5, but consensus needs whole numbers"):
        consensus(base, item_weights=np.full(40, 0.5))


def test_a_clustering_of_weight_zero_is_not_there():
    base, _ = noisy(60, 3, 5)
    extra = np.column_stack([base, np.random.default_rng(1).integers(3, size=60)])
    weights = [1, 1, 1, 1, 1, 0]
    assert np.array_equal(evidence_accumulation(extra, 3, weights=weights), evidence_accumulation(base, 3))
    assert np.array_equal(voting(extra, 3, weights=weights), voting(base, 3))
    np.testing.assert_allclose(co_association(extra, weights=weights), co_association(base))
    pytest.importorskip("pymetis")
    assert np.array_equal(cspa(extra, 3, weights=weights, rng=1), cspa(base, 3, rng=1))
    assert pt.adjusted_rand(mcla(extra, 3, weights=weights, rng=1), mcla(base, 3, rng=1)) > 0.9


def test_hgpa_cuts_clusters_of_little_weight():
    pytest.importorskip("mtkahypar")
    first, second = np.repeat([0, 1], 10), np.tile([0, 1], 10)
    base = np.column_stack([first, second])
    assert np.array_equal(pt.ensembles.hgpa(base, 2, weights=[5, 1], rng=1), first)
    assert np.array_equal(pt.ensembles.hgpa(base, 2, weights=[1, 5], rng=1), second)


def test_figures_of_stability_and_of_a_tree(runs):
    plt = pytest.importorskip("matplotlib.pyplot")
    ax = pt.plots.consensus_cdf(ambiguity(runs))
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(texts) == 4
    assert next(text for text in texts if "(least)" in text).startswith("3 clusters")
    tree = pt.plots.clustering_tree({"one": [0, 0, 0, 0], "two": [0, 0, 1, 1], "three": [0, 1, 1, 2]})
    widths = [round(line.get_linewidth(), 2) for line in tree.lines]
    assert widths == [4.1, 4.1, 4.1, 2.35, 2.35, 4.1]  # the middle cluster of three comes from both of two
    with pytest.raises(ValueError, match="at least two clusterings"):
        pt.plots.clustering_tree({"one": [0, 1]})
    plt.close("all")


def test_votes_do_not_depend_on_the_names_of_labels():
    """Ties go to the larger cluster, and between equal ones to the cluster of the first item."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        truth = rng.integers(2, size=8)
        base = np.where(rng.random((8, 4)) < 0.3, rng.integers(2, size=(8, 4)), truth[:, None])
        renamed = np.where(rng.random(4) < 0.5, 1 - base, base)
        assert np.array_equal(voting(base), voting(renamed))
