"""Soft base clusterings: one-hot input is hard input, and fractions of labels are what enumeration says."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln, logsumexp

import partita as pt
from partita.ensembles import BCE, NBCE, Ascent, MixtureModel, as_base, co_association, consensus, dependence, mcla
from partita.ensembles.association import evidence_accumulation
from partita.ensembles.nbce_variational import Settings, bound, fit_vb
from partita.ensembles.responsibilities import LocalHost, soft_label_scores
from support.ensemble_reference import noisy_clusterings

ALPHA, BETA, K = 1.3, 0.4, 3


@pytest.fixture(scope="module")
def hard():
    return noisy_clusterings(errors=0.2, gaps=0.1)


@pytest.fixture(scope="module")
def one_hot(hard):
    return [np.where(column[:, None] < 0, np.nan, np.eye(3)[column]) for column in hard.T]


@pytest.fixture
def tiny():
    """Four items, two soft clusterings with two and three clusters, and a gap."""
    rng = np.random.default_rng(4)
    tables = [rng.dirichlet(np.ones(width), 4) for width in (2, 3)]
    tables[0][2] = 0.0
    return tables


@pytest.mark.parametrize("inference", ["vb", "cvb"])
def test_one_hot_memberships_are_labels(hard, one_hot, inference):
    settings = {"truncation": 10, "ascent": Ascent(restarts=2), "random_state": 1}
    labels, shares = (NBCE(inference, **settings).fit(base) for base in (hard, one_hot))
    assert np.array_equal(labels.labels_, shares.labels_)
    np.testing.assert_allclose(labels.responsibilities_, shares.responsibilities_, atol=1e-9)
    assert labels.bound_ == pytest.approx(shares.bound_)
    assert labels.perplexity(hard) == pytest.approx(shares.perplexity(one_hot))
    assert np.array_equal(labels.predict(hard), shares.predict(one_hot))
    np.testing.assert_allclose(labels.weights_, shares.weights_)


def test_one_hot_memberships_give_the_same_consensus_and_table(hard, one_hot):
    weights = np.array([1.0, 2.0, 1.0, 0.5, 1.0, 1.0])
    for given in (None, weights):
        assert np.array_equal(consensus(hard, weights=given, rng=1), consensus(one_hot, weights=given, rng=1))
        np.testing.assert_allclose(co_association(hard, weights=given), co_association(one_hot, weights=given))
    assert np.array_equal(evidence_accumulation(hard, 3), evidence_accumulation(one_hot, 3))


def log_joint(z: tuple[int, ...], tables: list[np.ndarray]) -> float:
    """log p(Z) Π_km ∫ Π_n θ_km^p_nm Dirichlet(θ): fractions of labels, from the formula."""
    z_array, n = np.array(z), len(z)
    sizes = np.bincount(z_array, minlength=K)
    total = gammaln(ALPHA) - gammaln(ALPHA + n) + (gammaln(ALPHA / K + sizes) - gammaln(ALPHA / K)).sum()
    for table in tables:
        width = table.shape[1]
        for k in range(K):
            counts = table[z_array == k].sum(axis=0)
            total += gammaln(width * BETA) - gammaln(width * BETA + counts.sum())
            total += (gammaln(BETA + counts) - gammaln(BETA)).sum()
    return float(total)


def test_the_bound_is_below_the_enumerated_evidence_and_never_decreases(tiny):
    evidence = logsumexp([log_joint(z, tiny) for z in itertools.product(range(K), repeat=4)])
    host = LocalHost(as_base(tiny))
    for seed in range(5):
        fit = fit_vb(host, Settings(truncation=K, alpha=ALPHA, beta=BETA), np.random.default_rng(seed))
        assert (np.diff(fit.bounds) >= -1e-9).all()
        assert evidence - 4 < fit.bound <= evidence


def test_the_bound_of_a_certain_partition_is_its_joint_probability(tiny):
    host = LocalHost(as_base(tiny))
    z = (0, 2, 0, 1)
    step = host.linear(np.zeros((5, K)), np.zeros(K))
    gamma = np.eye(K)[list(z)]
    certain = type(step)(host._labels.T @ gamma, gamma.sum(axis=0), 0.0, 0.0)
    settings = Settings(truncation=K, alpha=ALPHA, beta=BETA)
    assert bound(certain, ALPHA, BETA, host.layout, settings) == pytest.approx(log_joint(z, tiny))


def test_collapsed_scores_are_ratios_of_the_joint_probability(tiny):
    """For one item given a certain partition of the others."""
    host = LocalHost(as_base(tiny))
    for item in range(4):
        others = [0, 2, 0, 1]
        gamma = np.eye(K)[others]
        gamma[item] = 0.0  # the item is left out of the counts
        counts = host._labels.T @ gamma
        observed = host.layout.per_clustering(counts)
        scores = soft_label_scores(host._labels[[item]], gamma[[item]], counts, observed, BETA, host.layout)[0]
        sizes = gamma.sum(axis=0)
        joint = [log_joint((*others[:item], k, *others[item + 1 :]), tiny) for k in range(K)]
        expected = np.array(joint) - np.log(ALPHA / K + sizes)
        np.testing.assert_allclose(scores - scores[0], expected - expected[0], atol=1e-9)


def test_expected_co_association_is_that_of_drawn_labels(tiny):
    drawn = as_base(tiny).drawn(4000, np.random.default_rng(0))
    weights = np.repeat([0.3, 1.0], 4000)
    np.testing.assert_allclose(
        co_association(tiny, weights=[0.3, 1.0]), co_association(drawn, weights=weights), atol=0.03
    )
    assert (np.diag(co_association(tiny)) == 1).all()


def test_the_consensus_has_the_least_expected_loss(tiny):
    """Under the exact expectation over all labels, by enumeration; the draws may miss it by little."""
    partitions = list(pt.enumerate_partitions(4))
    losses = np.zeros(len(partitions))
    for table in tiny:
        seen = table.any(axis=1)
        for labels in itertools.product(range(table.shape[1]), repeat=int(seen.sum())):
            chance = np.prod(table[seen][np.arange(seen.sum()), labels])
            losses += chance * np.array([pt.partition_loss(list(labels), p[seen]) for p in partitions])
    found = consensus(tiny, rng=1)
    place = next(at for at, p in enumerate(partitions) if np.array_equal(p, found))
    assert losses[place] <= losses.min() + 0.1


def test_uncertain_memberships_leave_the_cluster_uncertain(one_hot):
    blurred = [0.5 * table + 0.5 / 3 for table in one_hot]
    model = NBCE("vb", truncation=10, ascent=Ascent(restarts=2), random_state=1).fit(one_hot)
    assert model.predict_proba(blurred).max(axis=1).mean() < model.predict_proba(one_hot).max(axis=1).mean() - 0.01
    assert dependence(blurred).effective == pytest.approx(dependence(one_hot).effective)  # of the same modal labels


def test_names_rows_and_columns_are_kept():
    frames = [pd.DataFrame([[0.9, 0.1], [0.2, 0.8], [0.0, 0.0]], columns=["a", "b"], index=["x", "y", "z"])] * 2
    read = as_base(frames)
    assert read.names == ("x", "y", "z")
    assert read.levels[0].tolist() == ["a", "b"]
    assert read.codes.tolist() == [[0, 0], [1, 1], [-1, -1]]
    assert read.rows(np.array([1])).memberships().toarray().tolist() == [[0.2, 0.8, 0.2, 0.8]]
    assert read.columns([1]).memberships().shape == (3, 2)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([[[0.5, 0.6], [1.0, 0.0]]], r"base\[0\], row 0: the probabilities sum to 1.1"),
        ([[[1.0, 0.0]], [[1.5, -0.5]]], r"base\[1\]\[0, 0\] is 1.5"),
        ([[[1.0, 0.0]], [[1.0], [1.0]]], r"base\[1\] has 2 items, but base\[0\] has 1"),
        ([[[1.0, np.nan]]], r"base\[0\]\[0, 1\] is nan"),
        ([np.zeros((3, 0))], r"its shape is \(3, 0\)"),
        ([np.array([["a", "b"]])], r"base\[0\] must be a table of probabilities"),
    ],
)
def test_tables_that_are_no_probabilities_are_refused(tables, message):
    with pytest.raises(ValueError, match=message):
        as_base(tables)


def test_methods_that_need_labels_say_so(one_hot):
    with pytest.raises(ValueError, match=r"use inference='vb' or 'cvb'"):
        NBCE().fit(one_hot)
    for refused in (lambda: mcla(one_hot, 3), lambda: BCE(3).fit(one_hot), lambda: MixtureModel(3).fit(one_hot)):
        with pytest.raises(ValueError, match="needs one label per item and clustering"):
            refused()
    model = NBCE("vb", truncation=5, ascent=Ascent(restarts=1), random_state=1).fit(one_hot)
    with pytest.raises(ValueError, match=r"base\[0\] has 2 clusters, but there are 3 labels"):
        model.predict([np.full((1, 2), 0.5)] * 6)
