"""Blocks with priors of their own: against plain definitions, enumeration and the exact posterior."""

import itertools

import numpy as np
import pandas as pd
import pytest
from test_block_samplers import assert_frequencies

from partita.models import InformativeBlockModel, StochasticBlockModel, as_graph, resume
from support.block_reference import bernoulli, blocks, dyads, log_partition

ETA = np.array([[0.6, 2.0, 1.0], [2.0, 5.0, 0.4], [1.0, 0.4, 3.0]])
ZETA = np.array([[3.0, 0.5, 1.0], [0.5, 1.0, 4.0], [1.0, 4.0, 0.7]])
KINDS = list(itertools.product((True, False), (True, False)))


def priors_of(directed):
    skew = np.array([[0, 0.3, 0], [0, 0, 0.2], [0, 0, 0]]) if directed else 0.0
    return ETA + skew, ZETA


def network(rng, n, directed, loops):
    X = (rng.random((n, n)) < 0.5).astype(float)
    X[1, 2] = X[2, 1] = np.nan
    X = X if directed else np.triu(X) + np.triu(X, 1).T
    if not loops:
        np.fill_diagonal(X, 0)
    return X


def reference(X, labels, eta, zeta, n0, directed, loops):
    labels = np.asarray(labels)
    cells = blocks(X, labels, labels, dyads(len(labels), directed, loops), directed)
    return log_partition(labels, n0, len(eta)) + sum(bernoulli(*cell, eta[at], zeta[at]) for at, cell in cells.items())


@pytest.mark.parametrize(("directed", "loops"), KINDS)
def test_icl_is_the_definition(directed, loops):
    rng = np.random.default_rng(1)
    eta, zeta = priors_of(directed)
    model = InformativeBlockModel(eta, zeta, directed, loops, n0=0.7)
    for n in (3, 8):
        X = network(rng, n, directed, loops)
        for _ in range(5):
            labels = rng.integers(3, size=n)
            assert model.icl(X, labels) == pytest.approx(reference(X, labels, eta, zeta, 0.7, directed, loops))


@pytest.mark.parametrize(("directed", "loops"), KINDS)
def test_the_search_finds_the_best_of_all_labels(directed, loops):
    X = network(np.random.default_rng(2), 5, directed, loops)
    eta, zeta = priors_of(directed)
    model = InformativeBlockModel(eta, zeta, directed, loops)
    best = max(model.icl(X, labels) for labels in itertools.product(range(3), repeat=5))
    fit = model.maximize(X, rng=1)
    assert fit.icl == pytest.approx(best, abs=1e-9)
    assert fit.icl == pytest.approx(model.icl(X, fit.labels), abs=1e-9)
    assert fit.blocks().mean.shape == (3, 3)
    assert fit.predict([[0, 1]]) == pytest.approx(fit.blocks().mean[fit.labels[0], fit.labels[1]])


@pytest.mark.parametrize(("directed", "loops"), [(True, False), (False, True)])
def test_the_sampler_has_the_exact_posterior_of_the_labels(directed, loops, tmp_path):
    X = network(np.random.default_rng(3), 4, directed, loops)
    eta, zeta = priors_of(directed)
    model = InformativeBlockModel(eta, zeta, directed, loops, n0=0.7)
    weights = {
        labels: reference(X, labels, eta, zeta, 0.7, directed, loops)
        for labels in itertools.product(range(3), repeat=4)
    }
    chain = model.sample(X, draws=15_000, warmup=100, thin=2, chains=2, rng=3, path=tmp_path / "run")
    assert_frequencies(chain.labels.reshape(-1, 4), weights)
    draw = tuple(chain.labels[0, 0].tolist())
    assert chain.log_density[0, 0] == pytest.approx(weights[draw])
    again = resume(tmp_path / "run")
    assert (again.labels == chain.labels).all()
    assert again.model.params() == model.params()
    wrong = {labels: weight + (0.3 if labels[0] == 0 else 0.0) for labels, weight in weights.items()}
    with pytest.raises(AssertionError, match="largest z"):
        assert_frequencies(chain.labels.reshape(-1, 4), wrong)


def test_equal_priors_are_those_of_the_plain_model():
    X = network(np.random.default_rng(4), 9, True, False)
    labels = [0, 0, 1, 1, 2, 2, 0, 1, 2]
    plain = StochasticBlockModel(eta0=0.5, zeta0=2.0).icl(X, labels)
    assert InformativeBlockModel(np.full((3, 3), 0.5), np.full((3, 3), 2.0)).icl(X, labels) == pytest.approx(plain)


def test_labels_keep_the_rows_of_the_priors():
    """Communities that are told apart by their priors alone: cluster 0 is the sparse one."""
    rng = np.random.default_rng(5)
    truth = np.repeat([1, 0], 15)
    chance = np.where(truth[:, None] != truth, 0.02, np.where(truth == 1, 0.9, 0.3))
    X = np.triu(rng.random((30, 30)) < chance, 1)
    eta = np.array([[3.0, 1.0], [1.0, 9.0]])
    zeta = np.array([[7.0, 20.0], [20.0, 1.0]])
    fit = InformativeBlockModel(eta, zeta, directed=False, random_state=1).fit((X | X.T).astype(int)).fit_
    assert fit.labels.tolist() == truth.tolist()


def test_names_of_nodes_order_the_labels():
    graph = as_graph([("a", "b"), ("b", "c"), ("c", "d")], directed=False)
    model = InformativeBlockModel(ETA[:2, :2], ZETA[:2, :2], directed=False)
    labels = pd.Series([1, 0, 0, 1], index=["d", "c", "b", "a"])
    assert model.icl(graph, labels) == pytest.approx(model.icl(graph, [1, 0, 0, 1]))
    assert model.sample(graph, draws=5, warmup=5, chains=1, rng=1).names == ("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("eta", "zeta", "message"),
    [
        (np.ones((2, 3)), np.ones((2, 2)), r"eta must be a square matrix.*\(2, 3\)"),
        (np.ones((2, 2)), np.ones((3, 3)), "eta is 2 x 2 but zeta is 3 x 3"),
        ([[1, 0], [0, 1]], np.ones((2, 2)), "eta at row 0, column 1 must be a positive number"),
        (np.ones((2, 2)), [[1, np.nan], [1, 1]], "zeta at row 0, column 1"),
        ([[1, 2], [3, 1]], np.ones((2, 2)), "eta has 2 at row 0, column 1 but 3 at row 1, column 0"),
    ],
)
def test_wrong_priors_are_refused(eta, zeta, message):
    with pytest.raises(ValueError, match=message):
        InformativeBlockModel(eta, zeta, directed=False)


def test_more_clusters_than_nodes_and_strange_labels_are_refused():
    model = InformativeBlockModel(ETA, ZETA, directed=False)
    with pytest.raises(ValueError, match="eta has 3 clusters but graph has only 2 nodes"):
        model.maximize(np.array([[0, 1], [1, 0]]))
    X = np.zeros((4, 4))
    with pytest.raises(ValueError, match="labels has 3 at node 2, but eta has rows 0 to 2"):
        model.icl(X, [0, 1, 3, 0])
    with pytest.raises(ValueError, match="labels"):
        model.icl(X, [0, 1, 2])
