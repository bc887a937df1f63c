"""The exact ICL of degree-corrected models by Monte Carlo, prediction, held-out scores, and comparisons of models."""

import numpy as np
import pytest
from scipy.special import gammaln

from partita.datasets import load_karate
from partita.models import (
    LatentBlockModel,
    StochasticBlockModel,
    compare_models,
    edge_probability,
    held_out,
)
from partita.models.networks.prediction import auc, hidden_pairs
from support.block_reference import dyads, log_partition


def counts_with_gaps(directed, loops):
    rng = np.random.default_rng(3)
    X = rng.poisson(1.0, (4, 4)).astype(float)
    X[0, 1] = X[1, 0] = X[2, 3] = X[3, 2] = np.nan
    X = X if directed else np.triu(X) + np.triu(X, 1).T
    if not loops:
        np.fill_diagonal(X, 0)
    return X


def straight_from_the_prior(X, labels, directed, loops, b0, draws=100_000):
    """log E p(X | φ, ψ, λ) over the prior: uniform shares, λ ~ Gamma(1, b0), Poisson counts, dyad by dyad."""
    rng = np.random.default_rng(5)
    labels, k = np.array(labels), max(labels) + 1
    phi, psi = (np.empty((draws, len(labels))) for _ in range(2))
    for c in range(k):
        members = np.flatnonzero(labels == c)
        for shares in (phi, psi):
            shares[:, members] = len(members) * rng.dirichlet(np.ones(len(members)), draws)
    psi = psi if directed else phi
    rate = rng.gamma(1.0, 1 / b0, (draws, k, k))
    logs = np.zeros(draws)
    for i, j in dyads(len(labels), directed, loops):
        if not np.isnan(X[i, j]):
            a, b = (labels[i], labels[j]) if directed else sorted((labels[i], labels[j]))
            mean = phi[:, i] * psi[:, j] * rate[:, a, b] / (2 if i == j and not directed else 1)
            logs += X[i, j] * np.log(mean) - mean - gammaln(X[i, j] + 1)
    value = np.logaddexp.reduce(logs) - np.log(draws)
    return value, np.exp(logs - value).std() / np.sqrt(draws)


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_the_estimated_icl_is_the_integral(directed, loops):
    X, labels = counts_with_gaps(directed, loops), [0, 0, 1, 1]
    model = StochasticBlockModel(directed, loops, edges="counts", degree_corrected=True, b0=0.8)
    found = model.estimate_icl(X, labels, draws=4_000, rng=1)
    expected, error = straight_from_the_prior(X, labels, directed, loops, 0.8)
    expected += log_partition(np.array(labels), 1.0)
    assert abs(found.icl - expected) < 4.5 * np.hypot(error, found.standard_error)
    assert found.standard_error < 0.1
    with pytest.raises(ValueError, match="missing dyads"):
        model.icl(X, labels)


@pytest.mark.parametrize("directed", [False, True])
def test_the_estimated_icl_is_the_closed_form_where_there_is_one(directed):
    X = np.nan_to_num(counts_with_gaps(directed, True))
    model = StochasticBlockModel(directed, True, edges="counts", degree_corrected=True, b0=0.8)
    for labels in ([0, 0, 1, 1], [0, 1, 2, 2], [0, 0, 0, 0]):
        found = model.estimate_icl(X, labels, draws=5, rng=1)
        assert found.icl == pytest.approx(model.icl(X, labels), abs=1e-9)
        assert found.standard_error == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(ValueError, match="`icl` is exact without"):
        StochasticBlockModel(directed).estimate_icl(X, [0, 0, 1, 1])


def test_the_approximation_without_loops_is_not_the_exact_value():
    X = np.nan_to_num(counts_with_gaps(True, False))
    model = StochasticBlockModel(True, False, edges="counts", degree_corrected=True, b0=0.8)
    found = model.estimate_icl(X, [0, 0, 1, 1], draws=4_000, rng=1)
    assert abs(found.icl - model.icl(X, [0, 0, 1, 1])) > 5 * found.standard_error


def planted(rng, n=90, k=3, inside=0.4, outside=0.05):
    labels = np.arange(n) % k
    X = np.triu(rng.random((n, n)) < np.where(labels[:, None] == labels, inside, outside), 1).astype(int)
    return X + X.T, labels


def test_rates_of_a_degree_corrected_model_sum_to_the_edges():
    """With loops the expected edges of a node are about its degree, and all together about the edges."""
    X, _ = planted(np.random.default_rng(1))
    X[0, :60] = X[:60, 0] = 1  # a hub
    np.fill_diagonal(X, 0)
    fit = StochasticBlockModel(directed=False, loops=True, degree_corrected=True).maximize(X, rng=1)
    pairs = np.array(np.triu_indices(90)).T
    rate = fit.predict(pairs)
    rate[pairs[:, 0] == pairs[:, 1]] /= 2  # a loop has half the rate
    assert rate.sum() == pytest.approx(np.triu(X).sum(), rel=0.03)
    hub = rate[(pairs == 0).any(axis=1)].sum()
    assert hub == pytest.approx(X[0].sum(), rel=0.25)
    chance = edge_probability(fit, pairs)
    assert ((chance > 0) & (chance < rate * 2 + 1e-12)).all()


def test_probabilities_average_over_draws():
    X, _ = planted(np.random.default_rng(2), n=30)
    model = StochasticBlockModel(directed=False)
    chain = model.sample(X, draws=20, warmup=50, chains=1, rng=1)
    pairs = np.array([[0, 1], [0, 3], [4, 7]])
    by_hand = []
    for labels in chain.labels[0].astype(int):
        e, m = X[labels == labels[0]][:, labels == labels[3]].sum(), (labels == labels[0]).sum()
        e, m = (e / 2, m * (m - 1) / 2) if labels[0] == labels[3] else (e, m * (labels == labels[3]).sum())
        by_hand.append((1 + e) / (2 + m))
    assert edge_probability(chain, pairs)[1] == pytest.approx(np.mean(by_hand))
    matrix = LatentBlockModel().sample(X[:12], draws=10, warmup=20, chains=1, rng=1)
    assert edge_probability(matrix, [[11, 29]]).shape == (1,)
    with pytest.raises(TypeError, match="result must be a fit or a chain"):
        edge_probability(X, pairs)


def test_hidden_dyads_are_predicted():
    X, _ = planted(np.random.default_rng(3))
    scored = held_out(StochasticBlockModel(directed=False), X, rng=1)
    assert scored.auc > 0.75
    assert scored.log_score > scored.baseline
    assert scored.fit.graph.missing.nnz == 2 * scored.n_pairs
    corrected = held_out(StochasticBlockModel(directed=False, degree_corrected=True), X, rng=1)
    assert corrected.fit.graph.missing.nnz == 0
    assert corrected.auc > 0.7
    noise = held_out(StochasticBlockModel(directed=False), np.zeros((20, 20)), rng=1)
    assert np.isnan(noise.auc)


def test_hidden_pairs_are_observed_dyads_each_once():
    model = StochasticBlockModel(directed=False)
    X = np.ones((12, 12)) - np.eye(12)
    X[0] = X[:, 0] = np.nan
    pairs = hidden_pairs(model._graph(X), False, False, 0.3, np.random.default_rng(1))
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert (pairs > 0).all()
    assert len(np.unique(pairs, axis=0)) == len(pairs)
    for share in (0, 1, -0.5):
        with pytest.raises(ValueError, match="share must be"):
            held_out(model, X, share)


def test_auc_is_the_chance_of_a_right_order():
    rng = np.random.default_rng(4)
    scores, truth = rng.integers(0, 5, 40) / 5, rng.random(40) < 0.4
    pairs = [(a > b) + (a == b) / 2 for a in scores[truth] for b in scores[~truth]]
    assert auc(scores, truth) == pytest.approx(np.mean(pairs))


def test_models_are_compared_where_they_can_be():
    karate, sbm = load_karate().data, StochasticBlockModel
    models = [
        sbm(directed=False),
        sbm(directed=False, blocks="affiliation"),
        sbm(directed=False, degree_corrected=True),
    ]
    both = compare_models(karate, models, rng=1, restarts=3)
    assert {row.scale for row in both.rows} == {"binary", "counts"}
    assert sorted(row.below for row in both.rows)[:2] == [0.0, 0.0]
    scores = [row.held_out.log_score for row in both.rows]
    assert scores == sorted(scores, reverse=True)
    assert len({row.held_out.n_edges for row in both.rows}) == 1  # the same dyads
    assert "approximate" in repr(both)
    assert both.to_pandas().shape == (3, 8)
    by_icl = compare_models(karate, models[:2], share=None, rng=1, restarts=3)
    assert by_icl.best.icl == max(row.fit.icl for row in by_icl.rows)
    with pytest.raises(ValueError, match="ICLs of different data"):
        compare_models(karate, models, share=None, rng=1, restarts=1)
    with pytest.raises(ValueError, match="models differ in loops"):
        compare_models(karate, [sbm(directed=False), sbm(directed=False, loops=True)])
    with pytest.raises(TypeError, match="models must be a list"):
        compare_models(karate, [])


def test_merge_path_of_rows_and_columns():
    rng = np.random.default_rng(6)
    X = np.kron(rng.integers(0, 2, (4, 3)), np.ones((5, 4), int))
    model = LatentBlockModel()
    fit = model.maximize(X, rng=1)
    path = fit.path
    assert path.n_clusters[0].tolist() == list(fit.n_clusters)
    assert path.n_clusters[-1].tolist() == [1, 1]
    for step in range(len(path.icl)):
        rows, columns = path.cut(step)
        assert [rows.max() + 1, columns.max() + 1] == path.n_clusters[step].tolist()
        assert path.icl[step] == pytest.approx(model.icl(X, rows, columns), abs=1e-7)
    with pytest.raises(ValueError, match="step must be"):
        path.cut(len(path.icl))
    assert [len(fit.to_pandas(table)) for table in ("items", "columns")] == [20, 12]
