"""Other methods: they find plain structure, and their criteria are what they claim."""

import numpy as np
import pytest
from scipy.special import xlogy

from partita.models.networks.other_methods import affiliation_vb, louvain, variational_em


def communities(rng, directed=True):
    labels = np.arange(60) % 3
    X = (rng.random((60, 60)) < np.where(labels[:, None] == labels, 0.5, 0.03)).astype(float)
    X = X if directed else np.triu(X, 1) + np.triu(X, 1).T
    np.fill_diagonal(X, 0)
    return X, labels


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("method", [variational_em, affiliation_vb])
def test_they_find_communities(method, directed):
    X, labels = communities(np.random.default_rng(1), directed)
    fit = method(X, range(1, 6), directed=directed, rng=2)
    assert fit.labels.tolist() == labels.tolist()
    assert sorted(fit.by_k) == [1, 2, 3, 4, 5]
    assert "3 clusters" in repr(fit)


def test_affiliation_misses_a_hub_that_variational_em_finds():
    rng = np.random.default_rng(3)
    labels = np.arange(90) % 3
    p = np.where((labels[:, None] == labels) | (labels[:, None] == 0) | (labels == 0), 0.5, 0.02)
    X = (rng.random((90, 90)) < p).astype(float)
    np.fill_diagonal(X, 0)
    assert variational_em(X, range(1, 6), rng=1).labels.tolist() == labels.tolist()
    assert affiliation_vb(X, range(1, 6), rng=1).labels.tolist() != labels.tolist()


def test_asymptotic_icl_of_one_cluster_by_hand():
    X, _ = communities(np.random.default_rng(4))
    n, edges = 60, X.sum()
    dyads = n * (n - 1)
    expected = xlogy(edges, edges / dyads) + xlogy(dyads - edges, 1 - edges / dyads) - np.log(dyads) / 2
    assert variational_em(X, [1], rng=1).criterion == pytest.approx(expected)


def test_affiliation_bound_is_the_evidence_when_nothing_is_hidden():
    """With one cluster the bound is tight: log B(½ + e, ½ + m − e) / B(½, ½)."""
    from scipy.special import betaln

    X, _ = communities(np.random.default_rng(5))
    m, e = 60 * 59, X.sum()
    assert affiliation_vb(X, [1], rng=1).criterion == pytest.approx(betaln(0.5 + e, 0.5 + m - e) - betaln(0.5, 0.5))


def test_louvain():
    X, labels = communities(np.random.default_rng(6), directed=False)
    assert louvain(X, directed=False, rng=1).labels.tolist() == labels.tolist()


def test_they_refuse_missing_dyads():
    X = np.zeros((4, 4))
    X[0, 1] = np.nan
    with pytest.raises(ValueError, match="missing dyads"):
        variational_em(X, [1])


@pytest.mark.parametrize("method", [variational_em, affiliation_vb])
def test_one_number_of_clusters_is_tried_and_none_above_the_nodes(method):
    X, labels = communities(np.random.default_rng(1))
    assert method(X, 3, rng=2).labels.tolist() == labels.tolist()
    assert list(method(X[:4, :4], range(3, 8), rng=2).by_k) == [3, 4]
    with pytest.raises(ValueError, match="k has no number of clusters up to the 4 nodes of graph; the least is 9"):
        method(X[:4, :4], [9, 10], rng=2)
