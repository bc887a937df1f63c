"""Stochastic and latent block models: exact ICL, changes of swaps and merges, and the search."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from partita.losses.agreement import nmi
from partita.models.networks.core import BLOCKS, EdgeModel, native_model
from partita.models.networks.graph import as_bipartite
from partita.models.networks.lbm import LatentBlockModel
from partita.models.networks.sbm import StochasticBlockModel
from partita.models.search_runs import MergePath
from support.block_reference import affiliation_blocks, dyads, lbm_icl, log_partition, sbm_icl
from support.reference import all_partitions

VARIANTS = [
    {"blocks": blocks, "directed": directed, "loops": loops, "edges": edges}
    for blocks in BLOCKS
    for directed in (True, False)
    for loops in (True, False)
    for edges in ("binary", "counts")
]
CORRECTED = [
    {"blocks": blocks, "directed": directed, "loops": loops, "degree_corrected": True, "edges": "counts"}
    for blocks in BLOCKS
    for directed in (True, False)
    for loops in (True, False)
]


def random_graph(rng, n, *, directed, loops, edges, gaps=0.0, degree_corrected=False, **_):
    X = rng.poisson(0.7, (n, n)).astype(float)
    if edges == "binary":
        X = np.minimum(X, 1)
    if not degree_corrected:  # which has no exact ICL with missing dyads, and refuses them
        X[rng.random((n, n)) < gaps] = np.nan
    if not directed:
        X = np.triu(X) + np.triu(X, 1).T
    if not loops:
        np.fill_diagonal(X, 0)
    return X


def random_labels(rng, n):
    """Few clusters, some of one node, so that clusters vanish."""
    return np.unique(rng.integers(rng.integers(1, n + 1), size=n), return_inverse=True)[1].astype(np.uint32)


@pytest.mark.parametrize("variant", VARIANTS)
def test_icl_is_the_definition(variant):
    rng = np.random.default_rng(1)
    for n in (1, 2, 7, 12):
        X = random_graph(rng, n, gaps=0.15, **variant)
        labels = random_labels(rng, n)
        counts = variant["edges"] == "counts"
        model = StochasticBlockModel(n0=0.6, eta0=0.5, zeta0=2.0, a0=1.5, b0=0.8, **variant)
        first, second = (1.5, 0.8) if counts else (0.5, 2.0)
        kind = {"directed": variant["directed"], "loops": variant["loops"], "counts": counts}
        kind["affiliation"] = variant["blocks"] == "affiliation"
        reference = sbm_icl(X, labels, n0=0.6, first=first, second=second, **kind)
        assert model.icl(X, labels) == pytest.approx(reference, abs=1e-9)


@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("directed", [True, False])
def test_degree_corrected_icl_is_the_multigraph_integral(blocks, directed):
    """With loops Σ_x p(x | z) over all multigraphs, here of two nodes, is 1: the ICL is a log probability."""
    n0, a0, b0 = 1.0, 1.0, 8.0  # a high rate b0 keeps the counts small
    model = StochasticBlockModel(
        directed=directed, loops=True, blocks=blocks, degree_corrected=True, edges="counts", n0=n0, a0=a0, b0=b0
    )
    for labels in ([0, 0], [0, 1]):
        total = 0.0
        top = 5 if directed else 7
        for x in np.ndindex(*((top,) * (4 if directed else 3))):
            X = np.array([[x[0], x[1]], [x[2], x[3]]] if directed else [[x[0], x[1]], [x[1], x[2]]], dtype=float)
            total += np.exp(model.icl(X, labels) - log_partition(np.array(labels), n0))
        assert total == pytest.approx(1.0, abs=0.02)
        assert total < 1.0 + 1e-9


def test_degree_corrected_icl_by_hand():
    """One directed cluster: Poisson total, shares of out- and in-edges uniform on the simplex."""
    X = np.array([[0.0, 2, 1], [0, 0, 3], [1, 0, 0]])
    e, n, b0 = X.sum(), 3, 0.5
    block = gammaln(1 + e) + np.log(b0) - (1 + e) * np.log(b0 + n * n)
    shares = [gammaln(n) - gammaln(n + e) + e * np.log(n) + gammaln(X.sum(axis=a) + 1).sum() for a in (0, 1)]
    prior = gammaln(1) - gammaln(1 + n) + gammaln(1 + n)
    expected = prior + block + sum(shares) - gammaln(X + 1).sum()
    model = StochasticBlockModel(loops=True, degree_corrected=True, edges="counts", b0=b0)
    assert model.icl(X, [0, 0, 0]) == pytest.approx(expected)


@pytest.mark.parametrize("variant", VARIANTS + CORRECTED)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 14), gaps=st.sampled_from([0.0, 0.2]))
def test_change_of_every_swap_is_the_recomputed_change(variant, seed, n, gaps):
    rng = np.random.default_rng(seed)
    model = StochasticBlockModel(n0=0.7, eta0=0.5, zeta0=1.5, b0=0.9, **variant)
    graph = model._graph(random_graph(rng, n, gaps=gaps, **variant))
    native = native_model(graph, model._edge_model(graph), model.n0)
    labels = random_labels(rng, n)
    before = native.icl(labels)
    node = int(rng.integers(n))
    for target, change in enumerate(native.swap_changes(labels, node)):
        moved = labels.copy()
        moved[node] = target
        moved = np.unique(moved, return_inverse=True)[1].astype(np.uint32)
        assert change == pytest.approx(native.icl(moved) - before, abs=1e-8)


@pytest.mark.parametrize("variant", VARIANTS + CORRECTED)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 14))
def test_change_of_every_merge_is_the_recomputed_change(variant, seed, n):
    rng = np.random.default_rng(seed)
    model = StochasticBlockModel(n0=0.7, b0=0.9, **variant)
    graph = model._graph(random_graph(rng, n, gaps=0.1, **variant))
    native = native_model(graph, model._edge_model(graph), model.n0)
    labels = random_labels(rng, n)
    k = int(labels.max()) + 1
    changes = native.merge_changes(labels).reshape(k, k)
    before = native.icl(labels)
    for a in range(k):
        for b in range(a):
            merged = np.unique(np.where(labels == a, b, labels), return_inverse=True)[1].astype(np.uint32)
            assert changes[a, b] == pytest.approx(native.icl(merged) - before, abs=1e-8)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(2, 9), columns=st.integers(2, 6))
def test_latent_block_swaps_and_merges(seed, rows, columns):
    rng = np.random.default_rng(seed)
    X = (rng.random((rows, columns)) < 0.5).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = LatentBlockModel(n0=0.7, eta0=0.5, zeta0=1.5)
    native = native_model(as_bipartite(X), model._edge_model(as_bipartite(X)), 0.7, 0.7)
    parts = [random_labels(rng, rows), random_labels(rng, columns)]

    def reference(r, c):
        return lbm_icl(X, first_seen(r), first_seen(c), n0=0.7, first=0.5, second=1.5)

    before = native.icl(np.concatenate(parts))
    assert before == pytest.approx(reference(*parts), abs=1e-9)
    for side, size in ((0, rows), (1, columns)):
        node = int(rng.integers(size))
        changes = native.swap_changes(np.concatenate(parts), node + side * rows)
        for target, change in enumerate(changes):
            moved = [part.copy() for part in parts]
            moved[side][node] = target
            assert change == pytest.approx(reference(*moved) - before, abs=1e-8)


def first_seen(labels):
    return np.unique(labels, return_inverse=True)[1]


@pytest.mark.parametrize("variant", VARIANTS + CORRECTED)
def test_merge_path_ends_at_one_cluster_with_the_right_icl(variant):
    rng = np.random.default_rng(3)
    model = StochasticBlockModel(**variant)
    X = random_graph(rng, 20, gaps=0.1, **variant)
    graph = model._graph(X)
    labels = np.arange(20) % 6
    kept, absorbed, change = native_model(graph, model._edge_model(graph), 1.0).merge_path(labels.astype(np.uint32))
    path = MergePath(labels, kept, absorbed, model.icl(X, labels) + np.concatenate([[0.0], np.cumsum(change)]))
    for k in range(1, 7):
        cut = path.cut(k)
        assert cut.max() + 1 == k
        assert path.icl[6 - k] == pytest.approx(model.icl(X, cut), abs=1e-7)
    with pytest.raises(ValueError, match="k must be"):
        path.cut(7)


@pytest.mark.parametrize("variant", VARIANTS + CORRECTED)
def test_maximize_reaches_the_enumerated_maximum(variant):
    rng = np.random.default_rng(4)
    for n in (3, 6, 7):
        model = StochasticBlockModel(n0=0.5, **variant)
        X = random_graph(rng, n, **variant)
        graph = model._graph(X)
        native = native_model(graph, model._edge_model(graph), model.n0)
        best = max(native.icl(np.array(part, dtype=np.uint32)) for part in all_partitions(n))
        fit = model.maximize(X, rng=0)
        assert fit.icl == pytest.approx(model.icl(X, fit.labels), abs=1e-9)
        offset = fit.icl - native.icl(fit.labels.astype(np.uint32))
        assert fit.icl - offset == pytest.approx(best, abs=1e-8)


def test_maximize_reaches_the_enumerated_maximum_of_structured_graphs_of_eight_nodes():
    rng = np.random.default_rng(5)
    for directed in (True, False):
        for _ in range(3):
            blocks = np.kron(rng.integers(0, 2, (2, 2)), np.ones((4, 4)))
            X = np.where(rng.random((8, 8)) < 0.15, 1 - blocks, blocks)
            X = X if directed else np.triu(X) + np.triu(X, 1).T
            np.fill_diagonal(X, 0)
            model = StochasticBlockModel(directed=directed)
            graph = model._graph(X)
            native = native_model(graph, model._edge_model(graph), 1.0)
            best = max(native.icl(np.array(part, dtype=np.uint32)) for part in all_partitions(8))
            assert model.maximize(X, rng=0).icl == pytest.approx(best, abs=1e-8)


def test_latent_block_maximum_by_enumeration():
    rng = np.random.default_rng(6)
    for shape in ((5, 4), (4, 5), (6, 3)):
        X = (rng.random(shape) < 0.5).astype(float)
        model = LatentBlockModel(n0=0.5, eta0=0.5, zeta0=0.5)
        fit = model.maximize(X, rng=0)
        best = max(
            lbm_icl(X, rows, columns, n0=0.5, first=0.5, second=0.5)
            for rows in all_partitions(shape[0])
            for columns in all_partitions(shape[1])
        )
        assert fit.icl == pytest.approx(best, abs=1e-8)


def planted(rng, n, k, inside, outside):
    labels = np.arange(n) % k
    p = np.where(labels[:, None] == labels, inside, outside)
    X = (rng.random((n, n)) < p).astype(float)
    np.fill_diagonal(X, 0)
    return X, labels


@pytest.mark.parametrize("blocks", BLOCKS)
def test_planted_clusters_come_back(blocks):
    X, labels = planted(np.random.default_rng(7), 150, 5, 0.4, 0.02)
    fit = StochasticBlockModel(blocks=blocks).maximize(X, rng=1)
    assert fit.labels.tolist() == labels.tolist()
    np.testing.assert_allclose(np.diag(fit.blocks().mean), 0.4, atol=0.06)
    assert (fit.reordered().toarray() == X[fit.order][:, fit.order]).all()


def test_affiliation_finds_communities_that_free_blocks_cannot_pay_for():
    X, labels = planted(np.random.default_rng(3), 120, 6, 0.16, 0.01)
    fits = {blocks: StochasticBlockModel(blocks=blocks).maximize(X, rng=1) for blocks in BLOCKS}
    assert fits["affiliation"].n_clusters == 6
    assert fits["free"].n_clusters < 6
    assert nmi(fits["affiliation"].labels, labels) > nmi(fits["free"].labels, labels)


@pytest.mark.parametrize("variant", [v for v in VARIANTS if v["blocks"] == "affiliation"])
def test_affiliation_blocks_are_two_posteriors(variant):
    rng = np.random.default_rng(12)
    X = random_graph(rng, 12, gaps=0.1, **variant)
    model = StochasticBlockModel(eta0=0.5, zeta0=2.0, a0=1.5, b0=0.8, **variant)
    fit = model.maximize(X, rng=1, starts=[np.arange(12) % 3])
    fit = replace(fit, labels=np.arange(12) % 3)  # whatever was found
    cells = affiliation_blocks(X, fit.labels, dyads(12, variant["directed"], variant["loops"]))
    for inside, (e, m) in cells.items():
        mean = (1.5 + e) / (0.8 + m) if variant["edges"] == "counts" else (0.5 + e) / (2.5 + m)
        table = fit.blocks()
        np.testing.assert_allclose(table.mean[np.eye(3, dtype=bool) == inside], mean)
        assert (table.lower < table.mean).all()
        assert (table.mean < table.upper).all()
        pair = next((i, j) for i, j in np.ndindex(12, 12) if i != j and (fit.labels[i] == fit.labels[j]) == inside)
        assert fit.predict([pair]) == pytest.approx(mean)


def test_unknown_blocks_are_refused():
    with pytest.raises(ValueError, match="blocks must be one of free, affiliation, but it is 'communities'"):
        StochasticBlockModel(blocks="communities")
    model = StochasticBlockModel().set_params(blocks="communities")
    with pytest.raises(ValueError, match="blocks must be one of free, affiliation"):
        model.maximize(np.ones((6, 6)) - np.eye(6))
    with pytest.raises(ValueError, match="a bipartite network has no affiliation"):
        native_model(as_bipartite(np.ones((3, 4))), EdgeModel(False, False, False, 1.0, 1.0, affiliation=True), 1.0)


def test_the_same_seed_gives_the_same_fit_on_any_number_of_threads():
    X, _ = planted(np.random.default_rng(8), 60, 4, 0.25, 0.1)
    fits = [StochasticBlockModel().maximize(X, rng=5, n_jobs=jobs) for jobs in (1, 2, 3)]
    for fit in fits[1:]:
        assert fit.icl == fits[0].icl
        assert (fit.labels == fits[0].labels).all()
        assert (fit.run_icl == fits[0].run_icl).all()


def test_k_max_is_obeyed():
    X, _ = planted(np.random.default_rng(9), 60, 5, 0.5, 0.02)
    assert StochasticBlockModel().maximize(X, rng=1).n_clusters == 5
    for most in (1, 3):
        assert StochasticBlockModel().maximize(X, k_max=most, rng=1).n_clusters == most
    rows, columns = LatentBlockModel().maximize(X, k_max=(3, 2), rng=1).n_clusters
    assert rows <= 3
    assert columns <= 2


def test_missing_dyads_are_predicted():
    X, labels = planted(np.random.default_rng(10), 80, 4, 0.7, 0.02)
    held_out = np.array([[i, j] for i in range(0, 80, 9) for j in range(0, 80, 7) if i != j])
    truth = X[held_out[:, 0], held_out[:, 1]]
    seen = X.copy()
    seen[held_out[:, 0], held_out[:, 1]] = np.nan
    fit = StochasticBlockModel().maximize(seen, rng=1)
    assert (fit.labels == labels).all()
    predicted = fit.predict(held_out)
    assert predicted[truth == 1].mean() > 0.6
    assert predicted[truth == 0].mean() < 0.15


def test_estimator_face():
    X, labels = planted(np.random.default_rng(11), 60, 3, 0.5, 0.02)
    model = StochasticBlockModel(random_state=1)
    assert (model.fit_predict(X) == labels).all()
    assert model.n_clusters_ == 3
    assert "3 clusters" in repr(model.fit_)
    assert "<table>" in model.fit_._repr_html_()
    lbm = LatentBlockModel(random_state=1).fit(X)
    assert len(lbm.labels_) == len(lbm.column_labels_) == 60


@pytest.mark.parametrize(
    "model", [StochasticBlockModel(n0=0.5, blocks="affiliation", random_state=1), LatentBlockModel(eta0=2.0)]
)
def test_parameters_go_in_and_out(model):
    again = type(model)(**model.get_params())
    assert again.get_params() == model.get_params()
    again.set_params(n0=-1.0)
    with pytest.raises(ValueError, match="n0 must be a positive number"):
        again.maximize(np.ones((6, 6)) - np.eye(6))
    with pytest.raises(ValueError, match="Invalid parameter 'gamma'"):
        again.set_params(gamma=1)


@pytest.mark.parametrize(
    "model", [StochasticBlockModel(directed=False, random_state=1), LatentBlockModel(random_state=1)]
)
def test_a_fitted_model_is_sampled_when_asked(model):
    X = np.kron(np.eye(2), np.ones((6, 6))) - np.eye(12)
    with pytest.raises(AttributeError, match="not fitted yet"):
        _ = model.chain_
    fitted = model.fit(X)
    assert fitted.labels_.tolist() == [0] * 6 + [1] * 6
    assert fitted.chain_ is fitted.chain_
    assert fitted.chain_.labels.shape == (4, 1000, 12)
    assert fitted.estimate_.labels.tolist() == fitted.labels_.tolist()
    chain = fitted.chain_
    assert fitted.fit(X).chain_ is not chain
    np.testing.assert_array_equal(fitted.chain_.labels, chain.labels)
    fitted.set_params(random_state=np.random.RandomState(1)).fit(X).set_params(n0=1e6)
    X[:] = 0  # neither the data nor the settings of today, but those of the fit
    assert fitted.estimate_.labels.tolist() == fitted.labels_.tolist()
