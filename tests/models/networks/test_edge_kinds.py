"""Edges with weights, categories and signs, layers of networks, degree correction of rows and columns: against plain
definitions, and every change of a move against the recomputed one."""

import functools
import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln
from scipy.stats import gamma, norm
from test_block_samplers import assert_frequencies

from partita.losses.agreement import nmi
from partita.models import LatentBlockModel, LayeredBlockModel, StochasticBlockModel, as_graph, resume
from partita.models.networks.core import BLOCKS, constants, native_layers, native_model
from partita.models.networks.marks import default_weight_prior
from support.block_reference import (
    categories_one_by_one,
    lbm_icl,
    log_partition,
    log_partition_k_unknown,
    marked_icl,
    marks_by_block,
    weights_one_by_one,
)
from support.reference import all_partitions

PRIOR = (0.3, 0.4, 1.5, 0.8)
KINDS = {
    "real": functools.partial(weights_one_by_one, mu0=0.3, kappa0=0.4, shape=1.5, rate=0.8),
    "signed": functools.partial(categories_one_by_one, alpha=0.6, n_categories=2),
    "categories": functools.partial(categories_one_by_one, alpha=0.6, n_categories=3),
}
VARIANTS = [
    {"edges": edges, "directed": directed, "loops": loops, "blocks": blocks}
    for edges, directed, loops, blocks in itertools.product(KINDS, (True, False), (True, False), BLOCKS)
]
BETA = {"first": 0.5, "second": 2.0}


def values_of(rng, edges, shape):
    if edges == "real":
        return rng.normal(1.0, 2.0, shape)
    return rng.choice([-1.0, 1.0], shape) if edges == "signed" else rng.integers(1, 4, shape).astype(float)


def random_network(rng, n, *, edges, directed, loops, gaps=0.1, **_):
    X = np.where(rng.random((n, n)) < 0.6, values_of(rng, edges, (n, n)), 0.0)
    X[rng.random((n, n)) < gaps] = np.nan
    if not directed:
        X = np.triu(X) + np.triu(X, 1).T
    if not loops:
        np.fill_diagonal(X, 0)
    if edges == "categories" and n > 1:  # so that there are three of them
        X[0, 1] = X[1, 0] = 3.0
    return X


def model_of(variant, **more):
    return StochasticBlockModel(n0=0.7, eta0=0.5, zeta0=2.0, weight_prior=PRIOR, category_prior=0.6, **variant, **more)


def random_labels(rng, n):
    return np.unique(rng.integers(rng.integers(1, n + 1), size=n), return_inverse=True)[1].astype(np.uint32)


@pytest.mark.parametrize("variant", VARIANTS)
def test_icl_is_the_definition(variant):
    rng = np.random.default_rng(1)
    where = {"directed": variant["directed"], "loops": variant["loops"]}
    where["affiliation"] = variant["blocks"] == "affiliation"
    for n in (2, 7, 11):
        X, labels = random_network(rng, n, **variant), random_labels(rng, n)
        expected = marked_icl(X, labels, n0=0.7, marks=KINDS[variant["edges"]], **BETA, **where)
        assert model_of(variant).icl(X, labels) == pytest.approx(expected, abs=1e-9)


def test_weights_one_by_one_is_the_integral():
    """The reference itself, against the integral over mean and precision."""
    mu0, kappa0, shape, rate = PRIOR
    values = [0.4, 1.9, -0.2]

    tau, d_tau = np.linspace(1e-6, 40, 1001, retstep=True)
    mu, d_mu = np.linspace(-25, 25, 501, retstep=True)
    prior = norm.pdf(mu[:, None], mu0, 1 / np.sqrt(kappa0 * tau)) * gamma.pdf(tau, shape, scale=1 / rate)
    likelihood = np.prod([norm.pdf(x, mu[:, None], 1 / np.sqrt(tau)) for x in values], axis=0)
    integral = (prior * likelihood).sum() * d_tau * d_mu
    assert weights_one_by_one(values, *PRIOR) == pytest.approx(np.log(integral), abs=2e-3)


@pytest.mark.parametrize("variant", VARIANTS)
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 12))
def test_changes_of_moves_and_merges_are_the_recomputed_ones(variant, seed, n):
    rng = np.random.default_rng(seed)
    model = model_of(variant)
    graph = model._graph(random_network(rng, n, **variant))
    check_changes(native_model(graph, model._edge_model(graph), model.n0), random_labels(rng, n), rng)


def check_changes(native, labels, rng):
    before, node, k = native.icl(labels), int(rng.integers(len(labels))), int(labels.max()) + 1
    swaps = native.swap_changes(labels, node)
    slots = np.unique([labels[node], k - 1, k]).astype(np.uint32)
    some = dict(zip(slots.tolist(), native.some_swap_changes(labels, node, slots), strict=True))
    for target, change in enumerate(swaps):
        moved = labels.copy()
        moved[node] = target
        again = native.icl(np.unique(moved, return_inverse=True)[1].astype(np.uint32)) - before
        assert change == pytest.approx(again, abs=1e-8)
        assert some.get(target, again) == pytest.approx(again, abs=1e-8)
    merges = native.merge_changes(labels).reshape(k, k)
    for a, b in itertools.combinations(range(k), 2):
        merged = np.unique(np.where(labels == b, a, labels), return_inverse=True)[1].astype(np.uint32)
        assert merges[b, a] == pytest.approx(native.icl(merged) - before, abs=1e-8)


@pytest.mark.parametrize("variant", VARIANTS[::3])
def test_maximize_reaches_the_enumerated_maximum_and_the_path_is_right(variant):
    rng = np.random.default_rng(3)
    model = model_of(variant)
    X = random_network(rng, 6, **variant)
    fit = model.maximize(X, rng=1)
    best = max(model.icl(X, part) for part in all_partitions(6))
    assert fit.icl == pytest.approx(best, abs=1e-8)
    for k in range(1, fit.n_clusters + 1):
        assert fit.path.icl[fit.n_clusters - k] == pytest.approx(model.icl(X, fit.path.cut(k)), abs=1e-7)


@pytest.mark.parametrize(("edges", "blocks"), [("real", "free"), ("categories", "free"), ("signed", "affiliation")])
def test_samplers_have_the_exact_posterior(edges, blocks):
    variant = {"edges": edges, "directed": edges == "real", "loops": False, "blocks": blocks}
    X = random_network(np.random.default_rng(5), 5, gaps=0.05, **variant)
    model = model_of(variant)
    weights = {
        part: model.icl(X, part) - log_partition(np.array(part), 0.7) + log_partition_k_unknown(np.array(part), 0.7)
        for part in all_partitions(5)
    }
    chain = model.sample(X, draws=6_000, warmup=200, thin=2, chains=2, rng=2)
    assert_frequencies(chain.labels.reshape(-1, 5), weights)


def weights_with_holes(model, X, n, k_prior):
    """Log posterior of every partition when only some K are possible: clusters are labelled, and may be empty."""
    weights = {}
    for part in all_partitions(n):
        t = max(part) + 1
        terms = [
            np.log(p) + log_partition(np.array(part), 0.7, k) + gammaln(k + 1) - gammaln(k - t + 1)
            for k, p in enumerate(k_prior, start=1)
            if p and k >= t
        ]
        if terms:
            weights[part] = model.icl(X, part) - log_partition(np.array(part), 0.7) + np.logaddexp.reduce(terms)
    return weights


@pytest.mark.parametrize("k_prior", [[1, 0, 1], [0, 1, 0, 0, 2]])
@pytest.mark.parametrize("edges", ["real", "categories", "signed", "degree-corrected", "layers"])
def test_priors_of_k_with_holes_have_the_exact_posterior_for_every_kind(edges, k_prior):
    rng, n = np.random.default_rng(12), 4
    if edges == "layers":
        models, X = layered(rng, n)
        model = LayeredBlockModel(models, n0=0.7, k_prior=k_prior)
    elif edges == "degree-corrected":
        X = rng.poisson(0.8, (n, n)).astype(float)
        model = StochasticBlockModel(n0=0.7, loops=True, edges="counts", degree_corrected=True, k_prior=k_prior)
    else:
        variant = {"edges": edges, "directed": True, "loops": True, "blocks": "free"}
        X = random_network(rng, n, **variant)
        model = model_of(variant, k_prior=k_prior)
    chain = model.sample(X, draws=4_000, warmup=100, thin=2, chains=2, rng=3)
    assert_frequencies(chain.labels.reshape(-1, n), weights_with_holes(model, X, n, k_prior))
    assert {int(k) for k in np.unique(chain.stats["k"])} <= {k for k, p in enumerate(k_prior, start=1) if p}


@pytest.mark.parametrize("edges", KINDS)
def test_rows_and_columns_with_marks(edges):
    rng = np.random.default_rng(6)
    X = np.where(rng.random((6, 4)) < 0.7, values_of(rng, edges, (6, 4)), 0.0)
    X[0, 0], X[1, 2] = np.nan, 1.0 if edges != "categories" else 3.0
    model = LatentBlockModel(n0=0.7, eta0=0.5, zeta0=2.0, edges=edges, weight_prior=PRIOR, category_prior=0.6)
    graph = model._graph(X)
    native = native_model(graph, model._edge_model(graph), 0.7, 0.7)
    pairs = list(itertools.product(range(6), range(4)))
    for _ in range(5):
        rows, columns = random_labels(rng, 6), random_labels(rng, 4)
        present = np.where(np.isnan(X), np.nan, X != 0)
        expected = lbm_icl(present, rows, columns, n0=0.7, **BETA)
        expected += sum(KINDS[edges](values) for values in marks_by_block(X, rows, columns, pairs, True).values())
        assert model.icl(X, rows, columns) == pytest.approx(expected, abs=1e-9)
        labels = np.concatenate([rows, columns])
        for node, target in ((0, 0), (7, 0)):
            moved = labels.copy()
            moved[node] = target
            parts = [np.unique(part, return_inverse=True)[1] for part in (moved[:6], moved[6:])]
            change = native.swap_changes(labels, node)[target]
            assert change == pytest.approx(model.icl(X, *parts) - expected, abs=1e-8)


def test_blocks_of_weights_are_their_posteriors():
    rng = np.random.default_rng(7)
    labels = np.arange(40) % 2
    means = np.array([[3.0, -1.0], [0.5, 1.0]])
    X = np.where(rng.random((40, 40)) < 0.5, rng.normal(means[labels[:, None], labels], 0.5), 0.0)
    np.fill_diagonal(X, 0)
    fit = StochasticBlockModel(edges="real").maximize(X, rng=1)
    assert fit.labels.tolist() == labels.tolist()
    marks = fit.blocks().marks
    np.testing.assert_allclose(marks.mean, means, atol=0.2)
    np.testing.assert_allclose(marks.variance, 0.25, atol=0.1)
    assert ((marks.lower < marks.mean) & (marks.mean < marks.upper)).all()
    np.testing.assert_allclose(fit.blocks().mean, 0.5, atol=0.1)
    mu0, kappa0, _, _ = default_weight_prior(X[X != 0])
    block = X[:, labels == 1][labels == 0]
    block = block[block != 0]
    assert marks.mean[0, 1] == pytest.approx((kappa0 * mu0 + block.sum()) / (kappa0 + len(block)))


def test_blocks_of_signs_are_their_posteriors():
    X = np.kron([[1, -1], [-1, 1]], np.ones((5, 5), dtype=int)) * (1 - np.eye(10, dtype=int))
    fit = StochasticBlockModel(directed=False, edges="signed").maximize(X, rng=1)
    assert fit.n_clusters == 2
    marks = fit.blocks().marks
    assert marks.categories == ("-1", "+1")
    np.testing.assert_allclose(marks.probabilities[0, 0], [1 / 12, 11 / 12])  # ten edges, each once
    np.testing.assert_allclose(marks.probabilities[0, 1], [26 / 27, 1 / 27])
    pooled = StochasticBlockModel(directed=False, edges="signed", blocks="affiliation").maximize(X, rng=1).blocks()
    np.testing.assert_allclose(pooled.marks.probabilities[1, 1], [1 / 22, 21 / 22])


def layered(rng, n=7):
    models = {
        "friends": StochasticBlockModel(directed=False, eta0=0.5),
        "calls": StochasticBlockModel(edges="counts", degree_corrected=True, loops=True, b0=0.7),
        "trust": StochasticBlockModel(edges="real", weight_prior=PRIOR, blocks="affiliation"),
    }
    calls = rng.poisson(0.8, (n, n)).astype(float)
    friends = random_network(rng, n, edges="signed", directed=False, loops=False) ** 2
    trust = random_network(rng, n, edges="real", directed=True, loops=False)
    return models, {"friends": friends, "calls": calls, "trust": trust}


def test_layers_sum():
    rng = np.random.default_rng(8)
    models, graphs = layered(rng)
    model = LayeredBlockModel(models, n0=0.7)
    seen = model._read(graphs)
    native = native_layers(list(seen.values()), 0.7)
    for _ in range(4):
        labels = random_labels(rng, 7)
        parts = [models[name].icl(graphs[name], labels) - log_partition(labels, 1.0) for name in models]
        assert model.icl(graphs, labels) == pytest.approx(sum(parts) + log_partition(labels, 0.7), abs=1e-8)
        check_changes(native, labels, rng)
    fit = model.maximize(graphs, rng=1)
    best = max(native.icl(np.array(part, np.uint32)) for part in all_partitions(7)) + constants(list(seen.values()))
    assert fit.icl == pytest.approx(best, abs=1e-8)
    assert fit.icl == pytest.approx(model.icl(graphs, fit.labels), abs=1e-9)
    assert set(fit.layers) == set(models)
    assert fit.layers["friends"].blocks().mean.shape == (fit.n_clusters, fit.n_clusters)


def test_layers_sampler_has_the_exact_posterior_and_resumes(tmp_path):
    models, graphs = layered(np.random.default_rng(9), n=4)
    model = LayeredBlockModel(models, n0=0.7)
    weights = {
        part: model.icl(graphs, part)
        - log_partition(np.array(part), 0.7)
        + log_partition_k_unknown(np.array(part), 0.7)
        for part in all_partitions(4)
    }
    chain = model.sample(graphs, draws=6_000, warmup=100, thin=2, chains=2, rng=3, path=tmp_path / "run")
    assert_frequencies(chain.labels.reshape(-1, 4), weights)
    again = resume(tmp_path / "run")
    assert (again.labels == chain.labels).all()
    assert again.model.params() == model.params()


def test_layers_join_what_one_cannot_tell():
    rng = np.random.default_rng(10)
    truth = np.arange(60) % 4
    one, other = truth // 2, truth % 2
    graphs = {
        name: np.triu((rng.random((60, 60)) < np.where(part[:, None] == part, 0.5, 0.1)), 1).astype(int)
        for name, part in (("one", one), ("other", other))
    }
    graphs = {name: X + X.T for name, X in graphs.items()}
    models = {name: StochasticBlockModel(directed=False) for name in graphs}
    fit = LayeredBlockModel(models).maximize(graphs, rng=1)
    assert nmi(fit.labels, truth) == pytest.approx(1.0)
    assert LayeredBlockModel(models, random_state=1).fit(graphs).n_clusters_ == 4


def test_layers_of_other_nodes_are_refused_or_aligned():
    models = {name: StochasticBlockModel(directed=False) for name in ("a", "b")}
    model = LayeredBlockModel(models)
    with pytest.raises(ValueError, match="layer 'b' has 5 nodes but layer 'a' has 4"):
        model.maximize({"a": np.zeros((4, 4)), "b": np.zeros((5, 5))})
    with pytest.raises(ValueError, match="graphs must have a graph for each layer"):
        model.maximize({"a": np.zeros((4, 4))})
    edges = [("x", "y"), ("y", "z")]
    stranger = as_graph([("x", "y"), ("y", "w")], directed=False)
    with pytest.raises(ValueError, match="node 'z' of layer 'a' is not in layer 'b'"):
        model.maximize({"a": as_graph(edges, directed=False), "b": stranger})
    turned = as_graph(edges, directed=False, nodes=["z", "x", "y"])
    fit = model.maximize({"a": as_graph(edges, directed=False), "b": turned}, rng=1)
    assert (fit.layers["a"].graph.adjacency.toarray() == fit.layers["b"].graph.adjacency.toarray()).all()
    with pytest.raises(ValueError, match="layers must have a StochasticBlockModel"):
        LayeredBlockModel({})


def test_degree_correction_of_rows_and_columns_is_the_integral():
    """Counts of a matrix with one cluster on each side: Poisson total, shares uniform on both simplices."""
    X = np.array([[2.0, 1], [0, 3], [1, 0]])
    e, (n, m), b0 = X.sum(), X.shape, 0.5
    block = gammaln(1 + e) + np.log(b0) - (1 + e) * np.log(b0 + n * m)
    sides = ((n, X.sum(axis=1)), (m, X.sum(axis=0)))
    shares = [gammaln(k) - gammaln(k + e) + e * np.log(k) + gammaln(d + 1).sum() for k, d in sides]
    prior = sum(log_partition(np.zeros(k, int), 1.0) for k in (n, m))
    model = LatentBlockModel(degree_corrected=True, edges="counts", b0=b0)
    expected = prior + block + sum(shares) - gammaln(X + 1).sum()
    assert model.icl(X, [0] * 3, [0] * 2) == pytest.approx(expected)


def test_degree_correction_of_rows_and_columns_sums_to_one():
    model = LatentBlockModel(degree_corrected=True, edges="counts", b0=12.0)
    for columns in ([0, 0], [0, 1]):
        priors = log_partition(np.zeros(2, int), 1.0) + log_partition(np.array(columns), 1.0)
        total = sum(
            np.exp(model.icl(np.reshape(x, (2, 2)).astype(float), [0, 0], columns) - priors)
            for x in np.ndindex(4, 4, 4, 4)
        )
        assert 0.97 < total < 1 + 1e-9


def test_degree_correction_of_rows_and_columns_is_searched_exactly():
    rng = np.random.default_rng(11)
    X = rng.poisson(0.8, (4, 3)).astype(float)
    model = LatentBlockModel(degree_corrected=True, edges="counts", n0=0.6)
    fit = model.maximize(X, rng=1)
    best = max(model.icl(X, r, c) for r in all_partitions(4) for c in all_partitions(3))
    assert fit.icl == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize(
    ("edges", "value", "message"),
    [
        ("real", np.inf, "entries must be finite"),
        ("signed", 2, "entries must be -1, 0 or 1"),
        ("categories", 1.5, "entries must be categories"),
        ("categories", -1, "entries must be categories"),
        ("categories", 101, "entries must be categories"),
        ("counts", -1, "entries must be counts"),
        ("binary", 0.5, "edges='real' any weights"),
    ],
)
def test_wrong_values_are_refused(edges, value, message):
    X = np.zeros((4, 4))
    X[1, 2] = value
    with pytest.raises(ValueError, match=rf"graph has {value:g} at row 1, column 2.*{message}"):
        StochasticBlockModel(edges=edges).maximize(X)


@pytest.mark.parametrize("weight", [np.nan, None])
def test_an_edge_without_a_weight_is_refused(weight):
    with pytest.raises(ValueError, match=r"edge 1 has no weight"):
        as_graph([("a", "b", 1.5), ("b", "c", weight)], edges="real")
    with pytest.raises(ValueError, match="weight"):
        as_graph(pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, weight]}), edges="real")
    with pytest.raises(ValueError, match="edge 1 has no weight"):
        as_graph([("a", "b", 2), ("b", "c", np.nan)], edges="counts")


def test_edges_with_marks_are_listed_once_and_not_zero():
    with pytest.raises(ValueError, match="an edge is listed twice, and edges='real'"):
        as_graph([("a", "b", 1.5), ("b", "a", 2.5)], directed=False, edges="real")
    with pytest.raises(ValueError, match="edge 0 has weight 0, which is no edge"):
        as_graph([("a", "b", 0.0)], edges="real")
    with pytest.raises(ValueError, match="edge 0 has no weight"):
        as_graph([("a", "b")], edges="real")
    with pytest.raises(ValueError, match="edges must be one of binary, counts"):
        as_graph([("a", "b")], edges="weights")


@pytest.mark.parametrize("prior", [(1, 2, 3), (np.nan, 1, 1, 1), (0, -1, 1, 1), (0, 1, 0, 1), (0, 1, 1, np.inf)])
def test_wrong_priors_of_marks_are_refused(prior):
    with pytest.raises(ValueError, match="weight_prior"):
        StochasticBlockModel(edges="real", weight_prior=prior)
    with pytest.raises(ValueError, match="category_prior"):
        StochasticBlockModel(edges="signed", category_prior=0)
    with pytest.raises(ValueError, match="degree_corrected=True has counted edges"):
        StochasticBlockModel(edges="real", degree_corrected=True)


@pytest.mark.parametrize("size", [1e308, 1e154])
@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("model", [StochasticBlockModel, LatentBlockModel])
def test_weights_whose_squares_are_not_finite_are_refused(size, equal, model):
    """The ICL of weights of 1e308 was wrong, and equal ones ended in a LinAlgError."""
    weights = np.where(equal | (np.indices((10, 10)).sum(axis=0) % 2 == 0), size, -size) * (1 - np.eye(10))
    for use in (model(edges="real").maximize, lambda graph, rng: model(edges="real").sample(graph, draws=2, rng=rng)):
        with pytest.raises(ValueError, match=f"graph has a weight of size {size:g}".replace("+", r"\+")):
            use(weights, rng=1)
    fit = model(edges="real").maximize(weights / size * 1e150, rng=1, restarts=1)
    assert np.isfinite(fit.icl)


def test_a_prior_whose_distances_are_not_finite_is_refused():
    model = StochasticBlockModel(edges="real", weight_prior=(1e200, 1.0, 1.0, 1.0))
    with pytest.raises(ValueError, match=r"mu0 of weight_prior is 1e\+200, which is too large"):
        model.maximize(np.ones((4, 4)) - np.eye(4), rng=1)


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e150])
def test_layers_of_extreme_weights_have_one_answer_on_any_number_of_threads(size):
    upper = np.triu(np.random.default_rng(1).normal(size=(12, 12)), 1)
    graphs = {"ties": ((upper + upper.T) > 0).astype(int), "weights": (upper + upper.T) * size}
    sbm = functools.partial(StochasticBlockModel, directed=False)
    model = LayeredBlockModel({"ties": sbm(), "weights": sbm(edges="real")})
    fits = [model.maximize(graphs, restarts=2, rng=1, n_jobs=threads) for threads in (1, 3)]
    assert np.isfinite(fits[0].icl)
    assert fits[0].icl == fits[1].icl
    assert np.array_equal(fits[0].labels, fits[1].labels)
    with pytest.raises(ValueError, match="graph has a weight of size"):
        model.maximize({**graphs, "weights": graphs["weights"] / size * 1e200}, rng=1)
