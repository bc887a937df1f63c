"""What is computed does not depend on the order of items, draws, rows and columns, on the names of labels, or on
whether equal draws are listed or weighted.

Every public estimator and summary is in one of the tables below, or in `EXCEPTIONS` with the reason.
"""

import inspect

import numpy as np
import pytest

import partita as pt
from partita import ensembles, models, uncertainty
from partita.search import METHODS
from support.invariance import assert_same, draws_of, moved

LOSS_OF = {"exact": "binder", "laugreen": "binder", "map": "zero-one"}

EXCEPTIONS = {
    "monitor": "follows a chain: the order of the draws is its subject",
    "compare_posteriors": "permutes blocks of consecutive draws, at random: its p-value depends on their order",
    "as_base": "reads base clusterings, and computes nothing",
    "kmeans_ensemble": "runs k-means from random starts, which are drawn row by row",
    "repeat": "runs somebody else's clusterer, with random subsamples of the rows",
    "stability": "runs somebody else's clusterer; its consensus is that of `consensus`",
    "fit_distributed": "is NBCE on several hosts; tests/ensembles/test_ensembles_distributed.py",
    "NBCE": "chains and variational starts draw random numbers item by item and label by label; its weights do not",
    "memberships": "of equally good matchings one is taken, which depends on the order of the items; where one is best:"
    " test_invariance_after.py",
    "cspa": "METIS breaks ties by the numbers of the vertices",
    "hgpa": "Mt-KaHyPar breaks ties by the numbers of the vertices",
    "mcla": "METIS breaks ties by the numbers of the vertices",
}
#: Need draws of equal weight in their order, so that only items and labels may change.
ORDERED = {"monte_carlo_error", "diagnostics", "cluster_parameters"}


def estimated(draws, weights, loss="vi", method="search"):
    return pt.estimate(draws, loss, method, weights=weights, rng=1, check_draws=False)


@pytest.mark.parametrize("how", ["items", "draws", "labels", "duplicates"])
@pytest.mark.parametrize("method", METHODS)
def test_estimates(method, how):
    for seed in range(3):
        draws, counts = draws_of(seed)
        changed, weights, items = moved(how, draws, counts, np.random.default_rng(seed))
        loss = LOSS_OF.get(method, "vi")
        one, other = estimated(draws, counts, loss, method), estimated(changed, weights, loss, method)
        assert one.expected_loss == pytest.approx(other.expected_loss, rel=1e-9)
        assert_same({("labels", "labels"): one.labels}, {("labels", "labels"): other.labels}, items)


def _ball(draws, weights):
    ball = pt.credible_ball(estimated(draws, weights))
    found = {("value", "radius"): ball.radius, ("value", "mass"): ball.mass}
    bounds = {("partitions", name): getattr(ball, name) for name in ("upper", "lower", "horizontal")}
    return found | bounds


def _certainty(draws, weights):
    found = pt.item_certainty(estimated(draws, weights))
    return {("item", "probability"): found.probability, ("item", "loss_share"): found.loss_share}


def _stability(draws, weights):
    found = pt.cluster_stability(estimated(draws, weights))
    return {("value", name): np.sort(getattr(found, name)) for name in ("size", "cohesion", "jaccard", "exact")}


def _chosen(function):
    """Items that a function names, as 0 and 1."""

    def view(draws, weights):
        named = function(estimated(draws, weights))
        return {("item", "named"): np.isin(np.arange(draws.shape[1]), named).astype(int)}

    return view


def _modes(draws, weights):
    found = pt.modes(pt.as_sample(draws, weights=weights), 2, rng=1)
    order = np.argsort(-found.weights)
    return {("value", "weights"): found.weights[order], ("partitions", "labels"): found.labels}


def _partial(draws, weights):
    found = pt.partial_clustering(pt.as_sample(draws, weights=weights), 0.3, rng=1)
    return {("value", "probability"): found.probability, ("labels", "labels"): found.labels}


def _hierarchy(draws, weights):
    found = pt.hierarchy(pt.as_sample(draws, weights=weights), rng=1)
    return {("value", "expected_loss"): found.expected_loss, ("partitions", "levels"): found.levels}


def _conformal(draws, weights):
    found = pt.conformal_set(pt.as_sample(draws, weights=weights), references=10_000)
    center = estimated(draws, weights)
    return {("value", "p_value"): found.p_value(center.labels)}


SUMMARIES = {
    "credible_ball": _ball,
    "item_certainty": _certainty,
    "cluster_stability": _stability,
    "exemplars": _chosen(pt.exemplars),
    "items_to_check": _chosen(lambda best: pt.items_to_check(best, count=4)),
    "n_clusters_posterior": lambda d, w: {
        ("value", "posterior"): sorted(pt.n_clusters_posterior(pt.as_sample(d, weights=w)).items())
    },
    "lower_bound": lambda d, w: {("value", "bound"): estimated(d, w).bound(1).value},
    "merge_tree": lambda d, w: {("value", "expected_loss"): pt.merge_tree(estimated(d, w)).expected_loss},
    "modes": _modes,
    "partial_clustering": _partial,
    "hierarchy": _hierarchy,
    "conformal_set": _conformal,
    "similarity": lambda d, w: {("pair", "similarity"): pt.similarity(pt.as_sample(d, weights=w))},
    "expected_loss": lambda d, w: {
        ("value", "losses"): [
            pt.expected_loss(np.zeros(d.shape[1], int), pt.as_sample(d, weights=w), loss) for loss in pt.losses.LOSSES
        ]
    },
    "weights_for": lambda d, w: {("value", "a"): pt.weights_for(d, "vi", n_clusters=3, weights=w, rng=1).a},
}


@pytest.mark.parametrize("how", ["items", "draws", "labels", "duplicates"])
@pytest.mark.parametrize("name", SUMMARIES)
def test_summaries(name, how):
    for seed in range(3):
        draws, counts = draws_of(seed)
        changed, weights, items = moved(how, draws, counts, np.random.default_rng(seed))
        assert_same(SUMMARIES[name](draws, counts), SUMMARIES[name](changed, weights), items)


@pytest.mark.parametrize("how", ["items", "labels"])
def test_summaries_of_ordered_draws(how):
    draws, counts = draws_of(1)
    draws = np.repeat(draws, counts, axis=0)
    changed, _, items = moved(how, draws, counts, np.random.default_rng(1))

    def view(rows, order):
        best = estimated(rows, None)
        error = pt.monte_carlo_error(best, parts=2, rng=1)
        told = pt.diagnostics(best, rng=1)
        theta = np.arange(10.0)[order] + np.zeros(rows.shape)
        means = pt.cluster_parameters(best, theta, rng=1)
        return {
            ("value", "errors"): [error.expected_loss, error.radius, error.same],
            ("item", "certainty"): error.certainty,
            ("value", "quantities"): [(quantity.r_hat, quantity.ess) for quantity in told.quantities],
            ("value", "means"): np.sort(np.ravel(means.clusters.mean)),
        }

    assert_same(view(draws, np.arange(10)), view(changed, items), items)


def test_every_summary_is_tested_or_excepted():
    public = {name for name in uncertainty.__all__ if inspect.isfunction(getattr(uncertainty, name))}
    assert public <= SUMMARIES.keys() | ORDERED | EXCEPTIONS.keys()


def base_of(seed):
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], [16, 12, 8])
    noise = rng.integers(3, size=(36, 7))
    base = np.where(rng.random(noise.shape) < 0.15, noise, truth[:, None])
    return np.where(rng.random(base.shape) < 0.03, -1, base)


def _summarised(base):
    found = ensembles.summarize(ensembles.consensus(base, rng=1), base)
    return {("labels", "labels"): found.labels, ("item", "certainty"): found.certainty}


def _labels(function):
    return lambda base: {("labels", "labels"): function(base)}


ENSEMBLES = {
    "co_association": lambda base: {("pair", "table"): ensembles.co_association(base)},
    "consensus": _labels(lambda base: ensembles.consensus(base, rng=1)),
    "evidence_accumulation": _labels(lambda base: ensembles.evidence_accumulation(base, 3)),
    "voting": _labels(ensembles.voting),
    "dependence": lambda base: {("value", "effective"): ensembles.dependence(base).effective},
    "summarize": _summarised,
    "ambiguity": lambda base: {("value", "pac"): ensembles.ambiguity({3: base}, rng=1).pac},
    "BCE": _labels(lambda base: ensembles.BCE(3, random_state=1).fit(base).labels_),
    "MixtureModel": _labels(lambda base: ensembles.MixtureModel(3, random_state=1).fit(base).labels_),
}


@pytest.mark.parametrize("how", ["rows", "columns", "labels"])
@pytest.mark.parametrize("name", ENSEMBLES)
def test_ensembles(name, how):
    base, rng = base_of(1), np.random.default_rng(2)
    items, changed = np.arange(len(base)), base
    if how == "rows":
        items = rng.permutation(len(base))
        changed = base[items]
    elif how == "columns":
        changed = base[:, rng.permutation(base.shape[1])]
    else:
        changed = np.stack([np.append(rng.permutation(3), -1)[column] for column in base.T], axis=1)
    assert_same(ENSEMBLES[name](base), ENSEMBLES[name](changed), items)


def test_every_ensemble_is_tested_or_excepted():
    public = {name for name in ensembles.__all__ if callable(getattr(ensembles, name)) and name[0].islower()}
    public |= {name for name in ensembles.__all__ if hasattr(getattr(ensembles, name), "fit")}
    assert public <= ENSEMBLES.keys() | EXCEPTIONS.keys()


def planted(seed=1):
    rng = np.random.default_rng(seed)
    groups = np.repeat([0, 1, 2], 8)
    upper = np.triu(rng.random((24, 24)) < np.where(np.equal.outer(groups, groups), 0.8, 0.1), 1)
    return (upper | upper.T).astype(int), rng.normal(size=(24, 2)) + 8 * groups[:, None]


def _of_network(model):
    return lambda graph, _, order: model.maximize(graph[np.ix_(order, order)], rng=1)


def _layers(graph, _, order):
    own = graph[np.ix_(order, order)]
    sbm = models.StochasticBlockModel(directed=False)
    return models.LayeredBlockModel({"a": sbm, "b": sbm}).maximize({"a": own, "b": own}, rng=1)


def _matrix(graph, _, order):
    fit = models.LatentBlockModel().maximize(graph[order], rng=1)
    return type("Rows", (), {"labels": fit.rows, "icl": fit.icl})


MAXIMA = {
    "StochasticBlockModel": _of_network(models.StochasticBlockModel(directed=False)),
    "NestedBlockModel": _of_network(models.NestedBlockModel(directed=False)),
    "LayeredBlockModel": _layers,
    "LatentBlockModel": _matrix,
    "GaussianDPM": lambda _, table, order: models.GaussianDPM().maximize(table[order], rng=1),
    "MixtureDPM": lambda _, table, order: models.MixtureDPM().maximize(table[order], rng=1),
}


@pytest.mark.parametrize("name", MAXIMA)
def test_maxima_do_not_depend_on_the_order_of_nodes_and_rows(name):
    data, order = planted(), np.random.default_rng(3).permutation(24)
    one, other = MAXIMA[name](*data, np.arange(24)), MAXIMA[name](*data, order)
    views = [{("labels", "labels"): fit.labels, ("value", "icl"): fit.icl} for fit in (one, other)]
    assert_same(*views, order)


def test_every_model_is_tested():
    public = {name for name in models.__all__ if hasattr(getattr(models, name), "maximize")}
    assert public == MAXIMA.keys()
