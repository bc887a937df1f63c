"""Collapsed samplers of block models against exact posteriors, and their runs on disk."""

import numpy as np
import pytest
from scipy.special import gammaln

import partita as pt
from partita.models.chains.sampling import resume
from partita.models.networks.core import BLOCKS, constant
from partita.models.networks.graph import as_graph
from partita.models.networks.lbm import LatentBlockModel
from partita.models.networks.sbm import StochasticBlockModel
from support.block_reference import lbm_icl, log_partition, log_partition_k_unknown, sbm_icl
from support.reference import all_partitions

BATCHES = 50


def assert_frequencies(draws: np.ndarray, log_weights: dict[tuple[int, ...], float]) -> None:
    """Every frequent partition within 4.5 Monte Carlo standard errors of its probability (from batch means)."""
    states = {state: place for place, state in enumerate(log_weights)}
    logs = np.array(list(log_weights.values()))
    exact = np.exp(logs - np.logaddexp.reduce(logs))
    places = np.array([states[tuple(draw)] for draw in draws.tolist()])
    batches = np.stack(
        [np.bincount(batch, minlength=len(states)) / len(batch) for batch in np.array_split(places, BATCHES)]
    )
    error = batches.std(axis=0, ddof=1) / np.sqrt(BATCHES)
    likely = exact > 0.003
    z = (batches.mean(axis=0) - exact)[likely] / error[likely]
    assert np.abs(z).max() < 4.5, f"largest z {np.abs(z).max():.1f}"


def sbm_weights(X, n0, kind, **priors):
    return {
        part: sbm_icl(X, part, n0=n0, **kind, **priors)
        - log_partition(np.array(part), n0)
        + log_partition_k_unknown(np.array(part), n0)
        for part in all_partitions(len(X))
    }


@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize(
    "kind",
    [
        {"directed": True, "loops": False, "counts": False},
        {"directed": False, "loops": True, "counts": False},
        {"directed": True, "loops": True, "counts": True},
    ],
)
def test_sbm_sampler_has_the_exact_posterior(blocks, kind):
    rng = np.random.default_rng(1)
    X = rng.poisson(0.8, (6, 6)).astype(float)
    X = X if kind["counts"] else np.minimum(X, 1)
    X[1, 3] = X[3, 1] = np.nan
    X = X if kind["directed"] else np.triu(X) + np.triu(X, 1).T
    if not kind["loops"]:
        np.fill_diagonal(X, 0)
    edges = "counts" if kind["counts"] else "binary"
    model = StochasticBlockModel(
        kind["directed"], kind["loops"], n0=0.7, eta0=0.6, zeta0=0.9, edges=edges, blocks=blocks, a0=1.2, b0=0.8
    )
    first, second = (1.2, 0.8) if kind["counts"] else (0.6, 0.9)
    kind = {**kind, "affiliation": blocks == "affiliation"}
    chain = model.sample(X, draws=15_000, warmup=200, thin=2, chains=2, rng=2)
    assert_frequencies(chain.labels.reshape(-1, 6), sbm_weights(X, 0.7, kind, first=first, second=second))


@pytest.mark.parametrize("wrong", [{"n0": 1.1, "affiliation": False}, {"n0": 0.7, "affiliation": True}])
def test_the_check_can_fail(wrong):
    """The same draws against the posterior of a slightly different prior, and of other blocks."""
    rng = np.random.default_rng(1)
    X = np.minimum(rng.poisson(0.8, (6, 6)), 1).astype(float)
    np.fill_diagonal(X, 0)
    kind = {"directed": True, "loops": False, "counts": False}
    chain = StochasticBlockModel(n0=0.7).sample(X, draws=15_000, warmup=200, chains=1, rng=2)
    weights = sbm_weights(X, wrong["n0"], kind, first=1.0, second=1.0, affiliation=wrong["affiliation"])
    with pytest.raises(AssertionError, match="largest z"):
        assert_frequencies(chain.labels.reshape(-1, 6), weights)


def test_number_of_clusters_counts_empty_ones():
    """With no data in the blocks (all dyads missing) K has its prior: Poisson(1) given K ≥ 1."""
    X = np.full((3, 3), np.nan)
    chain = StochasticBlockModel(loops=True).sample(X, draws=40_000, warmup=100, thin=2, chains=1, rng=3)
    frequency = np.bincount(chain.stats["k"].ravel().astype(int), minlength=5)[1:5] / chain.n_draws
    exact = np.array([1, 1 / 2, 1 / 6, 1 / 24]) / (np.e - 1)
    np.testing.assert_allclose(frequency, exact, atol=0.02)


def test_prior_of_k_is_an_argument():
    X = np.kron(np.eye(4), np.ones((5, 5)))
    model = StochasticBlockModel(directed=False, loops=True, k_prior=[0.5, 0.5])
    chain = model.sample(X, draws=200, warmup=50, chains=1, rng=1)
    assert chain.stats["k"].max() <= 2


def test_lbm_sampler_has_the_exact_posterior():
    rng = np.random.default_rng(4)
    X = (rng.random((4, 3)) < 0.5).astype(float)
    X[1, 2] = np.nan
    weights = {
        rows + columns: lbm_icl(X, rows, columns, n0=0.5, first=0.5, second=0.5)
        - log_partition(np.array(rows), 0.5)
        - log_partition(np.array(columns), 0.5)
        + log_partition_k_unknown(np.array(rows), 0.5)
        + log_partition_k_unknown(np.array(columns), 0.5)
        for rows in all_partitions(4)
        for columns in all_partitions(3)
    }
    model = LatentBlockModel(n0=0.5, eta0=0.5, zeta0=0.5)
    chain = model.sample(X, draws=15_000, warmup=200, thin=2, chains=2, rng=5)
    assert chain.rows.shape == (2, 15_000, 4)
    assert chain.columns.shape == (2, 15_000, 3)
    draws = np.concatenate([chain.rows, chain.columns], axis=2).reshape(-1, 7)
    assert_frequencies(draws, weights)


@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("degree_corrected", [False, True])
def test_log_density_is_that_of_the_draw(blocks, degree_corrected):
    rng = np.random.default_rng(6)
    X = np.minimum(rng.poisson(0.5, (12, 12)), 1).astype(float)
    np.fill_diagonal(X, 0)
    if not degree_corrected:
        X[0, 5] = np.nan
    model = StochasticBlockModel(n0=0.5, blocks=blocks, degree_corrected=degree_corrected)
    chain = model.sample(X, draws=20, warmup=10, chains=1, rng=7)
    graph = as_graph(X)
    constants = constant(graph, model._edge_model(graph))
    for t in range(20):
        labels, k = chain.labels[0, t], int(chain.stats["k"][0, t])
        log_k = -np.log(np.arange(1, k + 1)).sum() - np.log(np.e - 1)
        likelihood = model.icl(X, labels) - log_partition(labels, 0.5) - constants
        expected = likelihood + log_partition(labels, 0.5, k) + log_k
        assert chain.log_density[0, t] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        StochasticBlockModel(directed=False),
        StochasticBlockModel(directed=False, blocks="affiliation"),
        LatentBlockModel(),
    ],
)
def test_a_resumed_run_is_the_same_run(tmp_path, model):
    rng = np.random.default_rng(8)
    X = np.minimum(rng.poisson(0.5, (15, 15)), 1).astype(float)
    X = np.triu(X, 1) + np.triu(X, 1).T
    settings = {"draws": 30, "warmup": 20, "thin": 2, "chains": 2, "rng": 9}
    chain = model.sample(X, **settings, path=tmp_path / "run")
    again = resume(tmp_path / "run")
    assert (again.labels == chain.labels).all()
    assert type(again) is type(chain)
    assert again.model.params() == model.params()
    plan_samplers = model.samplers(chain.inputs, _plan(chain))
    sampler = plan_samplers[1]
    sampler.advance(33, 20, 2)
    fresh = model.samplers(chain.inputs, _plan(chain))[1]
    fresh.restore(sampler.state())
    ahead = [each.advance(40, 20, 2) for each in (sampler, fresh)]
    assert (ahead[0][0] == ahead[1][0]).all()
    assert (ahead[0][1] == ahead[1][1]).all()
    with pytest.raises(ValueError, match="state"):
        fresh.restore(sampler.state()[:-3])


def _plan(chain):
    from partita.models.chains.checkpoint import Plan

    return Plan(30, chain.attrs["warmup"], chain.attrs["thin"], 2, chain.attrs["seed"])


def test_the_chain_of_a_matrix_is_a_sample_of_its_rows():
    X = np.kron(np.eye(2), np.ones((4, 3)))
    chain = LatentBlockModel().sample(X, draws=20, warmup=20, chains=2, rng=1)
    sample = pt.as_sample(chain)
    assert (sample.n_draws, sample.n_items) == (40, 8)
    with pytest.raises(ValueError, match="variable='x'"):
        pt.as_sample(chain, variable="x")


def sbm_weights_of_k(X, n0, log_k):
    """Log posterior of every partition for any prior of K; partitions that no K allows are left out."""
    weights = {}
    for part in all_partitions(len(X)):
        likelihood = sbm_icl(X, part, n0=n0, directed=True, loops=False, first=1.0, second=1.0)
        t = max(part) + 1
        terms = [
            log + log_partition(np.array(part), n0, k) + gammaln(k + 1) - gammaln(k - t + 1)
            for k, log in enumerate(log_k, start=1)
            if k >= t and np.isfinite(log)
        ]
        if terms:
            weights[part] = likelihood - log_partition(np.array(part), n0) + float(np.logaddexp.reduce(terms))
    return weights


@pytest.mark.parametrize(
    "k_prior", [[1, 0, 1], [0.3, 0, 0, 0.7], [0, 0, 1], [0, 1, 0, 2, 0], [0] * 7 + [1], [1, 0, 0, 0, 0, 1, 0, 1]]
)
def test_a_prior_of_k_with_zeros_has_the_exact_posterior(k_prior):
    """Steps of one cluster could not pass a K of probability 0 ([1, 0, 1]: total variation 0.03 to 0.1)."""
    X = np.minimum(np.random.default_rng(1).poisson(0.8, (6, 6)), 1).astype(float)
    np.fill_diagonal(X, 0)
    model = StochasticBlockModel(n0=0.7, k_prior=k_prior)
    chain = model.sample(X, draws=15_000, warmup=200, thin=3, chains=2, rng=2)
    logs = np.log(np.array(k_prior, dtype=float), where=np.array(k_prior) > 0, out=np.full(len(k_prior), -np.inf))
    assert_frequencies(chain.labels.reshape(-1, 6), sbm_weights_of_k(X, 0.7, logs))
    assert {int(k) for k in np.unique(chain.stats["k"])} <= {k for k, p in enumerate(k_prior, start=1) if p}


def test_a_fixed_k_of_rows_and_columns():
    X = (np.random.default_rng(2).random((7, 5)) < 0.5).astype(int)
    chain = LatentBlockModel(k_prior=[0, 0, 1]).sample(X, draws=50, warmup=10, chains=2, rng=1)
    assert (chain.stats["k_rows"] == 3).all()
    assert (chain.stats["k_columns"] == 3).all()
    chain = LatentBlockModel(k_prior=[0, 0, 1]).sample(X[:2], draws=50, warmup=10, chains=1, rng=1)  # more than rows
    assert (chain.stats["k_rows"] == 3).all()


@pytest.mark.parametrize("k_prior", [[], [0, 0], [-1, 1], [np.nan], [[1, 1]], 0, -1.0, np.inf])
def test_a_prior_of_k_that_is_none_is_refused(k_prior):
    with pytest.raises(ValueError, match="k_prior"):
        StochasticBlockModel(k_prior=k_prior).sample(np.eye(4)[::-1], draws=2, chains=1)


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_degree_correction_with_missing_dyads_is_refused(directed, loops):
    """Directed, loops, 4 missing: the ICL was -22.287, Monte Carlo says -24.256."""
    X = np.zeros((5, 5))
    X[0, 1] = X[1, 0] = 2
    X[2, 3] = X[3, 2] = np.nan
    model = StochasticBlockModel(directed, loops, edges="counts", degree_corrected=True)
    labels = [0, 0, 1, 1, 1]
    for call in (model.sample, model.maximize, model.fit, lambda graph: model.icl(graph, labels)):
        with pytest.raises(ValueError, match=r"graph has 2 missing dyads, .* leave out degree_corrected=True"):
            call(X)
    X[2, 3] = X[3, 2] = 0
    X[4, 4] = np.nan
    if loops:
        with pytest.raises(ValueError, match="graph has 1 missing dyads"):
            model.icl(X, labels)
    else:
        assert np.isfinite(model.icl(X, labels))  # a loop is then no dyad


def test_degree_correction_with_a_missing_entry_on_the_diagonal_of_rows_and_columns_is_refused():
    """The diagonal of a bipartite matrix has no loops: it was taken for observed zeros."""
    X = np.eye(4)
    X[1, 1] = np.nan
    with pytest.raises(ValueError, match="graph has 1 missing dyads"):
        LatentBlockModel(degree_corrected=True).maximize(X, rng=1)
