"""Levels of varied settings, data without clusters, community detection, and the ways out of a stability analysis."""

from __future__ import annotations

import sys
import types

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import make_blobs

import partita as pt
from partita.ensembles import as_base, consensus, repeat, stability
from partita.ensembles.clusterers import as_data
from partita.ensembles.null import null_data

X, TRUTH = make_blobs(120, centers=[(0, 0), (9, 0), (0, 9), (9, 9)], random_state=1)
KMEANS = KMeans(4, n_init=2)


@pytest.fixture(scope="module")
def varied():
    return stability(KMEANS, X, 15, vary={"n_clusters": [4, 2, 6]}, rng=1)


def test_levels_are_the_consensus_of_each_value(varied):
    levels = varied.levels()
    assert list(levels) == [2, 4, 6]  # from few clusters to many
    for value, labels in levels.items():
        runs = [r for r, own in enumerate(varied.base.settings) if own["n_clusters"] == value]
        expected = consensus(varied.base.columns(runs), weights=None, rng=20)
        np.testing.assert_array_equal(labels, expected)
    assert pt.adjusted_rand(levels[4], TRUTH) == 1
    with pytest.raises(ValueError, match="setting must be one of n_clusters, but it is 'k'"):
        varied.levels("k")
    with pytest.raises(ValueError, match="no varied settings"):
        stability(KMEANS, X, 4, rng=1).levels()


def test_where_clusters_split(varied):
    rows = varied.to_pandas("splits")
    first = rows[rows["value"] == "2"]
    assert first["items"].sum() == len(X)
    own, after = varied.levels()[2], varied.levels()[4]
    for k, told in enumerate(first["goes_to"]):
        into, counts = np.unique(after[own == k], return_counts=True)
        shares = counts / counts.sum()
        assert told.count("%") == (shares >= 0.05).sum()
        assert f"{into[counts.argmax()]} ({counts.max() / counts.sum():.0%})" in told
    labels = [text.get_text() for text in varied.plot().get_yticklabels()]
    assert labels == ["2", "4", "6"]


def test_the_report_draws_the_tree(varied, tmp_path):
    text = pt.report(varied, path=tmp_path / "s.html").read_text(encoding="utf-8")
    assert 'id="fig-tree-n_clusters"' in text
    assert 'id="fig-agreement-n_clusters"' in text
    assert text.count("<title>4, cluster") == 4


def test_anndata_out():
    found = stability(HDBSCAN(min_cluster_size=8, copy=True), np.vstack([X, [[30.0, 30.0]]]), 6, rng=1)
    cells = types.SimpleNamespace(obs=pd.DataFrame(index=[f"c{k}" for k in range(121)]))
    found.to_anndata(cells, key_added="mine")
    assert list(cells.obs) == ["mine", "mine_certainty", "mine_noise"]
    assert cells.obs["mine"].isna().to_numpy().nonzero()[0].tolist() == np.flatnonzero(found.labels < 0).tolist()
    np.testing.assert_array_equal(cells.obs["mine_noise"], found.noise)
    with pytest.raises(ValueError, match="adata has 2 cells, but the consensus has 121 items"):
        found.to_anndata(types.SimpleNamespace(obs=pd.DataFrame(index=["a", "b"])))


def test_anndata_itself():
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(X.astype(np.float32))
    cells.obsm["X_pca"] = X
    found = stability(KMEANS, cells, 4, rng=1)
    found.to_anndata(cells)
    assert list(cells.obs["stability"].cat.categories) == ["0", "1", "2", "3"]
    assert found.base.names is None or found.base.names[0] == cells.obs_names[0]


def _histogram(column: np.ndarray) -> np.ndarray:
    return np.histogram(column, 12, (-3, 12))[0]


def test_columns_with_several_modes_are_not_permuted():
    """Permuted, two modes in each of two columns would be four clusters."""
    rng = np.random.default_rng(1)
    single = rng.normal(4, 2, (120, 1))
    made = null_data(as_data(np.hstack([X, single])), "permuted")(rng)
    for k in (0, 1):
        assert (_histogram(X[:, k])[4:8] < 3).all()  # an empty middle
        assert (_histogram(made[:, k])[3:9] > 3).all()
    np.testing.assert_array_equal(np.sort(made[:, 2]), np.sort(single[:, 0]))
    coarse = np.repeat([[0.0], [1.0], [2.0], [9.0], [10.0], [11.0]], 20, axis=0)
    assert set(null_data(as_data(coarse), "permuted")(rng)[:, 0].tolist()) <= set(coarse[:, 0].tolist())


def test_separated_clusters_in_a_plane_are_more_than_chance():
    found = stability(KMEANS, X, 10, rng=1, null="both", null_sets=8)
    assert found.null.is_more_than_chance
    assert found.verdicts == ("stable",) * 4


def test_a_square_has_no_stable_clusters():
    """k-means cuts it into quarters, nearly always in the same way: the agreement is high, and no more than chance."""
    square = np.random.default_rng(2).uniform(size=(120, 2))
    found = stability(KMEANS, square, 10, rng=1, null="permuted", null_sets=8)
    assert found.agreement > 0.8
    assert set(found.verdicts) == {"chance"}
    assert "no stable clusters" in found.answer()
    assert "stable." not in found._presentation.answer.split("They agree")[0]


def test_base_clusterings_have_the_weights_of_the_consensus():
    """Nine copies of a clustering count as one, as for `consensus`."""
    runs = np.array([[0] * 6 + [1] * 6] * 9 + [[0] * 3 + [1] * 3 + [2] * 3 + [3] * 3] * 2)
    runs = np.vstack([runs, np.random.default_rng(1).permuted(runs[-3:], axis=1)])
    found = stability(runs.T, rng=1)
    np.testing.assert_array_equal(found.labels, consensus(runs.T, rng=1))
    assert np.ptp(found.summary.weights) > 0


def test_leiden_of_igraph_and_networkx():
    igraph, leidenalg = pytest.importorskip("igraph"), pytest.importorskip("leidenalg")
    network = nx.karate_club_graph()

    def leiden(graph, seed, resolution=1.0):
        kind = leidenalg.RBConfigurationVertexPartition
        return leidenalg.find_partition(graph, kind, seed=seed, resolution_parameter=resolution)

    graph = igraph.Graph.from_networkx(network)
    base = repeat(leiden, graph, 6, 0.9, {"resolution": [0.5, 2.0]}, rng=1)
    labels = np.asarray(base)
    assert (labels == -2).mean(axis=0) == pytest.approx(0.1, abs=0.03)
    assert labels[:, 0].max() < labels[:, 1].max()
    found = stability(leiden, graph, 8, None, rng=1)
    modularity = nx.community.modularity(
        network, [set(np.flatnonzero(found.labels == k)) for k in range(found.n_clusters)]
    )
    assert modularity > 0.4
    fixed = repeat(lambda graph, seed: graph.community_leiden("modularity"), graph, 2, rng=1)
    assert np.asarray(fixed).shape == (34, 2)


@pytest.mark.parametrize("clusterer", ["hdbscan"])
def test_hdbscan_of_its_own_package(clusterer):
    package = pytest.importorskip(clusterer)
    base = repeat(package.HDBSCAN(min_cluster_size=8), X, 4, 0.8, rng=1)
    assert pt.adjusted_rand(consensus(base, rng=1), TRUTH) > 0.9


def test_settings_that_a_function_does_not_have():
    def clusterer(data, seed, levels=2):
        return np.arange(len(data)) % levels

    with pytest.raises(ValueError, match="no setting 'level'; its settings are: levels"):
        repeat(clusterer, X, 2, vary={"level": [2, 3]})
    assert repeat(clusterer, X, 2, vary={"levels": [2, 3]}, rng=1).codes.max() == 2


def test_memory_is_predicted_after_the_first_run(monkeypatch):
    calls = []

    def clusterer(data, seed):
        calls.append(seed)
        return np.zeros(len(data), int)

    monkeypatch.setattr(sys.modules["partita._support.memory"], "free_bytes", lambda: 10_000)
    with pytest.raises(MemoryError, match=r"50 runs and their consensus need at least .* GiB"):
        repeat(clusterer, X, 50, 0.8, rng=1)
    assert len(calls) == 1


def test_progress_goes_on_over_data_without_clusters():
    seen: list[int] = []
    stability(KMEANS, X, 4, rng=1, null="both", null_sets=2, progress=lambda done, seconds: seen.append(done))
    assert seen == [1, 2, 3, 4, 10, 20, 30, 40]


@pytest.mark.parametrize(("label", "n_clusters"), [(0, 1), (-1, 0)])
def test_one_cluster_and_all_noise(label, n_clusters):
    found = stability(lambda data, seed: np.full(len(data), label), X, 6, 0.8, rng=1)
    assert found.n_clusters == n_clusters
    assert found.agreement == 0
    assert (found.labels == label).all()


def test_clusters_smaller_than_those_of_the_runs_are_explained():
    runs = np.repeat(np.arange(2), 10)[:, None].repeat(9, axis=1)
    torn = np.vstack([runs, [0, 0, 0, 0, 1, 1, 1, 1, -1]])
    note = "1 cluster of the consensus is smaller than every cluster of the runs (10 items)"
    found = stability(as_base(torn, noise=-1), rng=1)
    assert found.labels[-1] == 2
    assert note in " ".join(found.notes)
    assert "smaller" not in " ".join(stability(as_base(runs), rng=1).notes)
