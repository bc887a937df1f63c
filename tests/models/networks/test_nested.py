"""Nested block models: against the definition with every mean summed one by one, enumeration, and planted levels."""

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import beta, gamma

from partita.losses.agreement import nmi
from partita.models import NestedBlockModel, StochasticBlockModel, edge_probability, held_out
from partita.models.networks.nested_prior import DOUBLINGS, log_evidence, make_grid, mean_weights, once
from partita.models.networks.nested_search import best_groups, groups_value
from support.block_reference import bernoulli, blocks, dyads, log_partition, poisson
from support.reference import all_partitions

KINDS = list(itertools.product((True, False), (True, False)))
POWERS = range(-DOUBLINGS, DOUBLINGS + 1)


def prior(power, shape, counts, mean):
    """The two parameters of the prior with this mean."""
    if counts:
        return shape, shape / (mean * 2.0**power)
    return (shape, shape / 2.0**power) if power <= 0 else (shape * 2.0**power, shape)


def neighbourhood(above, power, shape, counts, mean):
    """The probability of a mean below another: the mass of the other's prior between the borders of the grid."""
    first, second = prior(above, shape, counts, mean)
    ends = [-np.inf if power == POWERS[0] else power - 0.5, np.inf if power == POWERS[-1] else power + 0.5]
    if counts:
        low, high = (mean * 2.0**end for end in ends)
        return gamma.cdf(high, first, scale=1 / second) - gamma.cdf(low, first, scale=1 / second)
    low, high = (1 / (1 + 2.0**-end) for end in ends)
    return beta.cdf(high, first, second) - beta.cdf(low, first, second)


@functools.cache
def neighbourhoods(shape, counts, mean):
    chances = [[neighbourhood(above, power, shape, counts, mean) for power in POWERS] for above in POWERS]
    return np.maximum(chances, 0)


def reference_icl(X, levels, *, directed, loops, n0, shape, counts):
    """log p(X, z_1, z_2): a sum over the mean of all and, if there are groups, over that of each pair of groups."""
    labels = np.asarray(levels[0])
    cells = blocks(X, labels, labels, dyads(len(labels), directed, loops), directed)
    cell = poisson if counts else bernoulli
    mean = np.nanmean([X[i, j] for i, j in dyads(len(X), directed, loops)])
    given = [prior(power, shape, counts, mean) for power in POWERS]
    logs = {at: np.array([cell(*dyad, *each) for each in given]) for at, dyad in cells.items()}
    total = log_partition(labels, n0)
    if len(levels) == 1:
        top = sum(logs.values())
    else:
        group_of = dict(zip(labels.tolist(), levels[1], strict=True))
        total += log_partition(np.array([group_of[k] for k in range(labels.max() + 1)]), n0)
        pairs: dict = {}
        for (k, m), log in logs.items():
            pair = (group_of[k], group_of[m])
            pair = pair if directed else tuple(sorted(pair))
            pairs[pair] = pairs.get(pair, 0.0) + log
        top = np.zeros(len(given))
        for below in pairs.values():
            for at, chances in enumerate(neighbourhoods(shape, counts, mean)):
                top[at] += logsumexp(below, b=chances)
    if counts:
        total -= sum(gammaln(X[i, j] + 1) for i, j in dyads(len(X), directed, loops) if not np.isnan(X[i, j]))
    return total + logsumexp(top) - np.log(len(given))


def network(rng, n, directed, loops, counts=False, gaps=True):
    X = rng.poisson(0.9, (n, n)).astype(float) if counts else (rng.random((n, n)) < 0.4).astype(float)
    if gaps:
        X[0, 1] = X[1, 0] = np.nan
    X = X if directed else np.triu(X) + np.triu(X, 1).T
    if not loops:
        np.fill_diagonal(X, 0)
    return X


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize(("directed", "loops"), KINDS)
def test_icl_is_the_sum_over_all_means(directed, loops, counts):
    rng = np.random.default_rng(1)
    X = network(rng, 5, directed, loops, counts)
    kind = {"directed": directed, "loops": loops, "n0": 0.7, "shape": 1.3}
    model = NestedBlockModel(**kind, edges="counts" if counts else "binary")
    for levels in (
        [[0, 0, 1, 2, 2]],
        [[0, 1, 2, 3, 3], [0, 1, 1, 0, 0]],
        [[0, 0, 1, 1, 1], [0] * 5],
    ):
        expected = reference_icl(X, levels, counts=counts, **kind)
        assert model.icl(X, levels) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("levels", [[[0, 1, 2]], [[0, 1, 2], [0, 0, 1]], [[0, 1, 2], [0, 1, 1], [0, 0, 0]]])
@pytest.mark.parametrize(("directed", "loops"), [(True, False), (False, True)])
def test_the_probabilities_of_all_networks_sum_to_one(levels, directed, loops):
    model = NestedBlockModel(directed, loops)
    pairs = dyads(3, directed, loops)
    total = 0.0
    for entries in itertools.product((0, 1), repeat=len(pairs)):
        X = np.zeros((3, 3))
        for (i, j), entry in zip(pairs, entries, strict=True):
            X[i, j] = entry
            if not directed:
                X[j, i] = entry
        total += np.exp(model.icl(X, levels))
    parents = [
        np.array(levels[0]),
        *(np.unique(below_and_above(*pair), axis=0)[:, 1] for pair in itertools.pairwise(levels)),
    ]
    assert total == pytest.approx(np.exp(sum(log_partition(parent, 1.0) for parent in parents)), rel=1e-8)


def below_and_above(below, above):
    return np.stack([below, above], axis=1)


def all_levels(n, most=3):
    """Every hierarchy of at most so many levels, each level coarser than the one before it."""
    for first in all_partitions(n):
        yield from extended([np.array(first)], most)


def extended(levels, most):
    yield levels
    k = levels[-1].max() + 1
    if len(levels) < most and k > 1:
        for groups in all_partitions(int(k)):
            if max(groups) > 0:
                yield from extended([*levels, np.array(groups)[levels[-1]]], most)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("seed", "n"), [(1, 4), (2, 4), pytest.param(3, 6, marks=pytest.mark.slow)])
def test_the_search_finds_the_best_of_all_levels(directed, seed, n):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) * 2 // n
    chance = np.where(labels[:, None] == labels, 0.95, 0.05)
    X = (rng.random((n, n)) < chance).astype(float)
    X = X if directed else np.triu(X, 1) + np.triu(X, 1).T
    np.fill_diagonal(X, 0)
    model = NestedBlockModel(directed)
    fit = model.maximize(X, rng=1)
    assert fit.icl == pytest.approx(model.icl(X, [level.labels for level in fit.levels]), abs=1e-8)
    best = max(model.icl(X, levels) for levels in all_levels(n, most=2))
    assert fit.icl == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("directed", [True, False])
def test_groups_are_the_best_of_all_partitions_of_the_clusters(directed):
    """Blocks of six clusters in two groups: merges and moves against all 203 partitions."""
    rng = np.random.default_rng(3)
    group = np.array([0, 1, 0, 1, 1, 0])
    chance = np.where(group[:, None] == group, 0.5, 0.01)
    edges, dyads_of = rng.binomial(200, chance), np.full((6, 6), 200.0)
    grid = make_grid(counts=False, shape=1.0, mean=0.1)
    cells = grid.cells(edges, dyads_of)
    cells = cells if directed else once(cells)
    found = best_groups(grid, cells, 1.0, directed)
    best = max(groups_value(grid, cells, np.array(part), 1.0, directed) for part in all_partitions(6))
    assert groups_value(grid, cells, found, 1.0, directed) == pytest.approx(best)
    assert nmi(found, group) == pytest.approx(1.0)


def planted(seed=1, n=90):
    rng = np.random.default_rng(seed)
    fine, coarse = np.arange(n) * 9 // n, np.arange(n) * 3 // n
    chance = np.where(fine[:, None] == fine, 0.9, np.where(coarse[:, None] == coarse, 0.25, 0.02))
    X = np.triu(rng.random((n, n)) < chance, 1)
    return (X | X.T).astype(int), fine, coarse


@pytest.fixture(scope="module")
def planted_fit():
    X, _, _ = planted()
    return NestedBlockModel(directed=False).maximize(X, restarts=3, rng=1)


def test_planted_levels_are_found(planted_fit):
    X, fine, coarse = planted()
    assert nmi(planted_fit.levels[0].labels, fine) == pytest.approx(1.0)
    assert any(nmi(level.labels, coarse) == pytest.approx(1.0) for level in planted_fit.levels[1:])
    assert planted_fit.icl > StochasticBlockModel(directed=False).maximize(X, rng=1).icl
    model = NestedBlockModel(directed=False)
    levels = [level.labels for level in planted_fit.levels]
    for at, level in enumerate(planted_fit.levels):
        assert level.icl == pytest.approx(model.icl(X, levels[at:]), abs=1e-8)
    assert planted_fit.path.labels.tolist() == planted_fit.labels.tolist()


def test_blocks_are_averages_over_the_means(planted_fit):
    """One mean at a time: the weights by Bayes' rule from the ICL, the intervals from draws of the mixture."""
    table = planted_fit.blocks(0.9)
    edges, dyads_of = table.edges, table.dyads
    grid = planted_fit.grid
    weights = mean_weights(grid, once(grid.cells(edges, dyads_of)), planted_fit.parents, False)
    np.testing.assert_allclose(weights.sum(axis=-1), 1.0)
    rng = np.random.default_rng(1)
    which = rng.choice(len(grid.first), p=weights[0, 1], size=40_000)
    draws = rng.beta(grid.first[which] + edges[0, 1], grid.second[which] + dyads_of[0, 1] - edges[0, 1])
    assert table.mean[0, 1] == pytest.approx(draws.mean(), rel=0.01)
    assert table.lower[0, 1] == pytest.approx(np.quantile(draws, 0.05), rel=0.02)
    assert table.upper[0, 1] == pytest.approx(np.quantile(draws, 0.95), rel=0.02)
    pairs = [[0, 1], [0, 89], [89, 0]]
    labels = planted_fit.labels
    expected = [table.mean[labels[i], labels[j]] for i, j in pairs]
    np.testing.assert_allclose(edge_probability(planted_fit, pairs), expected)


def test_weights_of_means_are_the_derivative_of_the_evidence():
    """Adding t to a block at mean q raises log p by t times the weight of q."""
    rng = np.random.default_rng(4)
    grid = make_grid(counts=True, shape=1.5, mean=0.3)
    cells = once(grid.cells(rng.poisson(20, (4, 4)), np.full((4, 4), 50.0)))
    parents = [np.array([0, 0, 1, 1]), np.array([0, 1])]
    weights = mean_weights(grid, cells, parents, False)
    for block, q in (((0, 1), 20), ((1, 2), 19), ((3, 3), 21)):
        more = cells.copy()
        more[(*block, q)] += 1e-6
        change = (log_evidence(grid, more, parents, False) - log_evidence(grid, cells, parents, False)) / 1e-6
        assert weights[(*block, q)] == pytest.approx(change, abs=1e-4)


def test_degree_correction_with_loops_is_exact_and_searched():
    rng = np.random.default_rng(5)
    X = rng.poisson(0.8, (4, 4)).astype(float)
    model = NestedBlockModel(degree_corrected=True, loops=True, edges="counts")
    flat = StochasticBlockModel(degree_corrected=True, loops=True, edges="counts", b0=1.0)
    plain, counted = (
        NestedBlockModel(loops=True, edges="counts"),
        StochasticBlockModel(loops=True, edges="counts", b0=1.0),
    )
    for labels in ([0, 0, 1, 1], [0, 1, 2, 2]):
        degrees = flat.icl(X, labels) - counted.icl(X, labels)  # both have the same blocks
        assert model.icl(X, [labels]) == pytest.approx(plain.icl(X, [labels]) + degrees)
    fit = model.maximize(X, rng=1)
    assert fit.icl == pytest.approx(model.icl(X, [level.labels for level in fit.levels]))


def test_a_nested_model_predicts(planted_fit):
    X, _, _ = planted()
    scored = held_out(NestedBlockModel(directed=False), X[:30, :30], rng=1, restarts=1)
    assert scored.log_score > scored.baseline
    assert scored.auc > 0.7


def test_levels_as_a_table(planted_fit):
    table = planted_fit.to_pandas("levels")
    assert list(table.columns) == [f"level_{at}" for at in range(len(planted_fit.levels))]
    assert "levels of 9" in repr(planted_fit)
    again = NestedBlockModel(directed=False, random_state=1).fit(np.kron(np.eye(2), np.ones((4, 4))) - np.eye(8))
    assert again.n_clusters_ == again.fit_.n_clusters == 2


def test_a_network_without_edges_and_one_node():
    for X in (np.zeros((6, 6)), np.zeros((1, 1))):
        fit = NestedBlockModel().maximize(X, rng=1)
        assert fit.n_clusters == 1
        assert np.isfinite(fit.icl)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, X: m.icl(X, [[0, 1, 0, 1], [0, 0, 1, 1]]), r"levels\[1\] cuts a cluster of levels\[0\]"),
        (lambda m, X: m.icl(X, []), "levels must list partitions"),
        (lambda m, X: m.icl(X, np.array([0, 0, 1, 1])), "levels must list partitions"),
        (lambda m, X: m.icl(X, [[0, 1]]), r"levels\[0\] must have 4 labels"),
        (lambda m, X: m.maximize(X, k_max=0), "k_max"),
        (lambda m, X: m.maximize(X, restarts=0), "restarts"),
        (lambda m, X: NestedBlockModel(edges="real"), "edges must be one of binary, counts, but it is 'real'"),
        (lambda m, X: NestedBlockModel(shape=0), "shape"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(NestedBlockModel(), np.zeros((4, 4)))


def test_k_max_is_obeyed():
    X, _, _ = planted()
    assert NestedBlockModel(directed=False).maximize(X, k_max=4, restarts=1, rng=1).n_clusters <= 4


@pytest.mark.parametrize("count", [1, 2**31 - 1])
@pytest.mark.parametrize("density", [0.0, 0.3, 1.0])
def test_extreme_networks_have_one_answer_on_any_number_of_threads(density, count):
    upper = np.triu(np.random.default_rng(1).random((12, 12)) < density, 1) * count
    model = NestedBlockModel(directed=False, edges="counts")
    fits = [model.maximize(upper + upper.T, restarts=2, rng=1, n_jobs=threads) for threads in (1, 3)]
    assert np.isfinite(fits[0].icl)
    assert fits[0].icl == fits[1].icl
    for one, other in zip(fits[0].levels, fits[1].levels, strict=True):
        assert np.array_equal(one.labels, other.labels)


def test_ctrl_c_in_a_part_of_the_search_ends_all_of_it(monkeypatch):
    """The flat search of one cluster, or of all nodes, was ended, and everything after it was done: 20 seconds."""
    adjacency = np.triu(np.random.default_rng(1).random((30, 30)) < 0.3, 1).astype(int)
    adjacency += adjacency.T
    search, asked = StochasticBlockModel.maximize, []

    def interrupted(model, graph, *args, **settings):
        asked.append(graph.n_nodes)
        fit = search(model, graph, *args, **settings)
        return replace(fit, found=replace(fit.found, interrupted=len(asked) == at))

    monkeypatch.setattr(StochasticBlockModel, "maximize", interrupted)
    for at in (1, 2):
        asked.clear()
        fit = NestedBlockModel(directed=False).maximize(adjacency, restarts=1, rng=1)
        assert len(asked) == at
        assert fit.interrupted
        assert np.isfinite(fit.icl)
