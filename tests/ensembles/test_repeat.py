"""Many runs of a clusterer, and how stable their clusters are."""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import t
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import partita as pt
from partita.ensembles import NullComparison, as_base, consensus, repeat, stability
from partita.ensembles.clusterers import labels_from

X, TRUTH = make_blobs(90, centers=3, cluster_std=0.6, random_state=3)
KMEANS = KMeans(3, n_init=1)


def with_noise(n_noise: int = 30, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """The clusters with uniform noise around them, and which items are noise."""
    spread = np.random.default_rng(seed).uniform(X.min(axis=0) - 4, X.max(axis=0) + 4, (n_noise, 2))
    return np.vstack([X, spread]), np.repeat([False, True], [len(X), n_noise])


def test_runs_depend_on_the_seed_alone():
    one, two = (np.asarray(repeat(KMEANS, X, 6, 0.8, rng=1, n_jobs=jobs)) for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)
    assert one.shape == (90, 6)
    assert (np.asarray(repeat(KMEANS, X, 6, 0.8, rng=2)) != one).any()
    again = repeat(KMEANS, X, 3, 0.8, rng=1)
    np.testing.assert_array_equal(np.asarray(again), one[:, :3])


def test_dask_makes_the_same_runs():
    joblib = pytest.importorskip("joblib")
    distributed = pytest.importorskip("distributed")
    client = distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None)
    with client, joblib.parallel_config("dask"):
        runs = repeat(KMEANS, X, 4, 0.8, rng=1, n_jobs=2)
    np.testing.assert_array_equal(np.asarray(runs), np.asarray(repeat(KMEANS, X, 4, 0.8, rng=1)))


def test_data_without_clusters_are_run_by_the_same_processes(tmp_path):
    def clusterer(data, seed):
        (tmp_path / str(os.getpid())).touch()
        return np.arange(len(data)) % 3

    stability(clusterer, X, 6, rng=1, null="gaussian", null_sets=2, n_jobs=2)
    assert len([*tmp_path.iterdir()]) <= 2


def test_items_left_out_are_missing_and_not_noise():
    data, _ = with_noise()
    base = repeat(HDBSCAN(min_cluster_size=8, copy=True), data, 8, 0.75, rng=1)
    labels = np.asarray(base)
    assert ((labels == -2).mean(axis=0) == 0.25).all()
    assert 0 < (labels == -1).mean() < 0.3
    np.testing.assert_array_equal(base.noise, labels == -1)
    np.testing.assert_array_equal(np.asarray(as_base(labels, noise=-1)), labels)
    assert repeat(KMEANS, X, 3, 0.5, rng=1).noise is None


def test_consensus_finds_planted_noise():
    """Noise that half of the runs call so is reported; as missing labels, much of it is put into clusters."""
    data, is_noise = with_noise()
    base = repeat(HDBSCAN(min_cluster_size=8, copy=True), data, 25, 0.8, rng=1)
    labels = consensus(base, rng=1)
    with pytest.warns(UserWarning, match="without a base label"):
        missing = consensus(as_base(np.where(np.asarray(base) < 0, -1, np.asarray(base))), weights=None, rng=1)
    assert labels.max() == 2
    assert (labels[is_noise] == -1).mean() > 0.6
    assert (labels[~is_noise] == -1).mean() < 0.1
    assert (missing[is_noise] >= 0).mean() > (labels[is_noise] >= 0).mean()


@pytest.mark.parametrize(
    "clusterer",
    [
        KMEANS,
        GaussianMixture(3),
        AgglomerativeClustering(3),
        make_pipeline(StandardScaler(), KMEANS),
        lambda data, seed: KMeans(3, n_init=1, random_state=seed).fit_predict(data),
        lambda data, random_state: [str(k) for k in KMeans(3, random_state=random_state).fit_predict(data)],
    ],
)
def test_estimators_pipelines_and_functions(clusterer):
    labels = np.asarray(repeat(clusterer, X, 4, 0.9, rng=1))
    assert labels.shape == (90, 4)
    assert (np.unique(labels) >= -2).all()
    found = consensus(as_base(labels, noise=-1), weights=None, rng=1)
    assert pt.adjusted_rand(found, TRUTH) > 0.95


@pytest.mark.parametrize("resample", [None, 0.9, "bootstrap"])
@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, sparse.csr_array])
def test_tables_of_all_kinds(kind, resample):
    data = pd.DataFrame(X, index=[f"i{k}" for k in range(90)]) if kind is pd.DataFrame else kind(X)
    base = repeat(KMEANS, data, 3, resample, rng=1, columns=0.5)
    np.testing.assert_array_equal(np.asarray(base), np.asarray(repeat(KMEANS, X, 3, resample, rng=1, columns=0.5)))
    assert (base.names is not None) == (kind is pd.DataFrame)
    left_out = {None: 0.0, 0.9: 0.1, "bootstrap": 0.37}[resample]
    assert (np.asarray(base) == -2).mean() == pytest.approx(left_out, abs=0.08)


def test_communities_of_a_network():
    graph = nx.relabel_nodes(nx.karate_club_graph(), lambda node: f"member {node}")
    louvain = nx.community.louvain_communities
    base = repeat(louvain, graph, 8, 0.9, rng=1, vary={"resolution": [0.5, 1.0]})
    assert base.names is not None
    assert base.names[0] == "member 0"
    assert base.settings[:2] == ({"resolution": 0.5}, {"resolution": 1.0})
    counts = [row["clusters"] for row in stability(base, rng=1).settings]
    assert counts[0] < counts[1]
    as_members = repeat(lambda g, seed: types.SimpleNamespace(membership=[seed % 2] * len(g)), graph, 2, rng=1)
    assert np.asarray(as_members).max() == 0
    by_node = repeat(lambda g, seed: {node: int(node.endswith("1")) for node in g}, graph, 2, rng=1)
    assert np.asarray(by_node)[1, 0] != np.asarray(by_node)[0, 0]


def test_anndata_and_topic_models_are_known_by_their_parts():
    cells = types.SimpleNamespace(obs_names=[f"c{k}" for k in range(90)], obsm={"X_pca": X}, X=np.zeros((90, 2)))
    base = repeat(KMEANS, cells, 3, rng=1)
    assert base.names[1] == "c1"
    np.testing.assert_array_equal(np.asarray(base), np.asarray(repeat(KMEANS, X, 3, rng=1)))
    from sklearn.decomposition import PCA

    model = types.SimpleNamespace(umap_model=PCA(2), hdbscan_model=HDBSCAN(min_cluster_size=8, copy=True))
    assert (np.asarray(repeat(model, X, 3, 0.8, rng=1)) >= 0).any()


def test_settings_are_varied_in_turn():
    base = repeat(KMEANS, X, 8, 0.8, {"n_clusters": [2, 3], "init": ["random", "k-means++"]}, rng=1)
    assert [own["n_clusters"] for own in base.settings] == [2, 2, 3, 3] * 2
    assert base.clusterings[0] == "run 1 (n_clusters=2, init=random)"
    found = stability(base, rng=1)
    assert [(row["setting"], row["value"], row["runs"]) for row in found.settings] == [
        ("n_clusters", 2, 4),
        ("n_clusters", 3, 4),
        ("init", "random", 4),
        ("init", "k-means++", 4),
    ]
    assert [row["clusters"] for row in found.settings[:2]] == [2.0, 3.0]


def test_runs_end_when_more_would_not_change_the_consensus(monkeypatch):
    module = sys.modules["partita.ensembles.repeat"]
    monkeypatch.setattr(module, "FIRST_CHECK_SECONDS", 0.0)
    monkeypatch.setattr(module, "CHECK_SHARE", 1e9)
    base = repeat(KMeans(3, n_init=3), X, 200, 0.8, rng=1)
    assert base.settled
    assert base.n_clusterings == 24
    assert "more would hardly change the consensus" in repr(base)
    again = repeat(KMeans(3, n_init=3), X, 200, 0.8, rng=1, n_jobs=2)  # gives no warning of runs that were begun
    np.testing.assert_array_equal(np.asarray(again), np.asarray(base))
    assert repeat(KMeans(3, n_init=3), X, 30, 0.8, rng=1, stop=False).n_clusterings == 30


def test_runs_are_written_and_continued(tmp_path: Path):
    calls = []

    def clusterer(data, seed):
        calls.append(seed)
        return KMeans(3, n_init=1, random_state=seed).fit_predict(data)

    whole = np.asarray(repeat(clusterer, X, 6, 0.8, rng=1))
    calls.clear()
    repeat(clusterer, X, 4, 0.8, rng=1, path=tmp_path / "runs")
    assert len(calls) == 4
    (tmp_path / "runs" / "run-00002.npy").write_bytes(b"broken")
    for rng in (1, None):
        again = repeat(clusterer, X, 6, 0.8, rng=rng, path=tmp_path / "runs")
        np.testing.assert_array_equal(np.asarray(again), whole)
    assert len(calls) == 4 + 3
    for change in ({"resample": 0.7}, {"resample": 0.8, "rng": 2}, {"resample": 0.8, "columns": 0.5}):
        with pytest.raises(ValueError, match=r"path .* contains runs with"):
            repeat(clusterer, X, 6, path=tmp_path / "runs", **change)
    with pytest.raises(ValueError, match="contains runs on other data"):
        repeat(clusterer, X + 1, 6, 0.8, path=tmp_path / "runs")
    repeat(KMEANS, X, 2, path=tmp_path / "estimator")
    with pytest.raises(ValueError, match="contains runs with clusterer="):
        repeat(KMeans(4, n_init=1), X, 2, path=tmp_path / "estimator")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="contains files, but no runs of repeat"):
        repeat(clusterer, X, 3, path=tmp_path / "other")


def test_progress_says_how_many_seconds_are_left():
    seen = []
    repeat(KMEANS, X, 4, rng=1, progress=lambda done, seconds: seen.append((done, seconds)))
    assert [done for done, _ in seen] == [1, 2, 3, 4]
    assert seen[0][1] > 0
    assert seen[-1][1] == 0


def test_ctrl_c_gives_the_runs_so_far():
    def clusterer(data, seed):
        if len(calls) == 3:
            raise KeyboardInterrupt
        calls.append(seed)
        return np.zeros(len(data), int)

    calls: list[int] = []
    with pytest.warns(RuntimeWarning, match="interrupted after 3 runs"):
        base = repeat(clusterer, X, 10, rng=1)
    assert base.interrupted
    assert base.n_clusterings == 3


def test_runs_that_agree_confirm_each_other():
    """They are independent, given the data: 19 equal runs outweigh the twentieth."""
    runs = iter([[0] * 10 + [1] * 10 + [-1]] * 19 + [[0] * 10 + [1] * 10 + [0]])
    base = repeat(lambda data, seed: next(runs), np.zeros((21, 1)), 20, rng=1)
    assert consensus(base, rng=1)[-1] == -1


@pytest.mark.parametrize(
    ("clusterer", "problem"),
    [
        (lambda data, seed: 1 / 0, "run 0 .seed .* failed: division by zero"),
        (lambda data, seed: [0, 1], r"labels of shape \(2,\) for 90 items"),
        (lambda data, seed: np.full(len(data), 0.5), "label of item 0 is 0.5: labels must be whole numbers"),
        (lambda data, seed: np.full(len(data), np.nan), "label of item 0 is nan"),
        (lambda data, seed: np.full(len(data), -3), "label of item 0 is -3: labels must not be negative"),
        (lambda data, seed: [{0, 1}, {1, 2}], "put node 1 into two communities"),
    ],
)
def test_clusterers_that_fail(clusterer, problem):
    with pytest.raises(ValueError, match=problem):
        repeat(clusterer, X, 3, rng=1)


def test_bad_input():
    for options, problem in (
        ({"runs": 0}, "runs must be at least 1"),
        ({"resample": 1.5}, "resample must be above 0 and at most 1"),
        ({"resample": "half"}, "share of the items"),
        ({"vary": {"n_clusters": []}}, "must be a list of values"),
        ({"vary": {"n_clusters": [2, 3, 4]}, "runs": 2}, "3 combinations of settings"),
        ({"vary": {"clusters": [2]}}, "Invalid parameter 'clusters'"),
    ):
        with pytest.raises(ValueError, match=problem):
            repeat(KMEANS, X, **{"runs": 4, "rng": 1, **options})
    with pytest.raises(TypeError, match="clusterer must be a scikit-learn estimator"):
        repeat("kmeans", X)
    with pytest.raises(ValueError, match="a graph has each node once"):
        repeat(nx.community.louvain_communities, nx.path_graph(4), resample="bootstrap")
    with pytest.warns(UserWarning, match="all runs are the same"):
        repeat(AgglomerativeClustering(2), X, 2, rng=1)
    with pytest.raises(ValueError, match="its shape is"):
        repeat(KMEANS, np.zeros((2, 2, 2)))


def test_one_cluster_and_all_noise_are_answers():
    one = stability(lambda data, seed: np.zeros(len(data), int), X, 3, rng=1)
    assert one.n_clusters == 1
    assert one.agreement == 0.0
    noise = stability(lambda data, seed: np.full(len(data), -1), X, 12, rng=1)
    assert noise.n_clusters == 0
    assert noise.estimate.is_noise.all()
    assert "90 items are noise" in noise.answer()


def test_stability_says_which_clusters_are_found_again():
    """Two clusters that some runs merge are found again less often than the third."""
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1, 2], 30)

    def clusterer(data, seed):
        return np.where(np.random.default_rng(seed).random() < 0.4, np.minimum(truth, 1), truth)

    found = stability(clusterer, rng.normal(size=(90, 1)), 40, None, rng=1)
    share = np.mean([codes.max() == 1 for codes in found.base.codes.T])
    np.testing.assert_allclose(found.recovery, [1, 1 - share / 2, 1 - share / 2])
    table = found.to_pandas("clusters")
    assert table["verdict"][0] == "stable"
    assert set(found.to_pandas("runs")["clusters"]) == {2, 3}
    assert found.to_pandas().shape == (90, 3)
    assert any("Stability is not truth" in note for note in found.notes)
    with pytest.raises(ValueError, match="table must be one of clusters, items, runs, but it is 'rows'"):
        found.to_pandas("rows")


def test_order_of_items_and_runs_changes_nothing():
    base = repeat(KMEANS, X, 12, 0.8, rng=1)
    labels = np.asarray(base)
    found = stability(as_base(labels, noise=-1), rng=1)
    rng = np.random.default_rng(2)
    items, runs = rng.permutation(90), rng.permutation(12)
    other = stability(as_base(labels[items][:, runs], noise=-1), rng=1)
    assert sorted(other.recovery.round(9)) == sorted(found.recovery.round(9))
    np.testing.assert_allclose(other.certainty, found.certainty[items])
    assert other.agreement == pytest.approx(found.agreement)


@pytest.mark.parametrize("null", ["gaussian", "permuted"])
def test_data_without_clusters_are_reported_as_such(null):
    rng = np.random.default_rng(3)
    options = {"runs": 12, "rng": 1, "null": null, "null_sets": 12}
    empty = stability(KMEANS, rng.normal(size=(80, 2)), **options)
    assert not empty.null.is_more_than_chance
    assert "no more than chance" in " ".join(empty.notes)
    assert "no more than on data without clusters" in empty.answer()
    planted = stability(KMEANS, X, **options)
    assert planted.null.is_more_than_chance
    values = -np.log(1.001 - planted.null.values)
    off = (-np.log(1.001 - planted.null.agreement) - values.mean()) / values.std(ddof=1) / np.sqrt(1 + 1 / 12)
    assert planted.null.p_value == pytest.approx(t.sf(off, 11), rel=1e-6)


def test_one_more_data_set_without_clusters_is_more_than_chance_at_the_stated_level():
    rng = np.random.default_rng(4)
    agreements = 1.001 - np.exp(-rng.normal(1.5, 0.3, (20_000, 4)))
    found = [NullComparison("gaussian", own[0], own[1:]).is_more_than_chance for own in agreements]
    assert abs(np.mean(found) - 0.025) < 4 * np.sqrt(0.025 * 0.975 / 20_000)


def test_null_needs_numbers():
    with pytest.raises(ValueError, match="table of numbers"):
        stability(nx.community.louvain_communities, nx.path_graph(9), null="gaussian")
    with pytest.raises(ValueError, match=r"X\[1, 0\] is nan"):
        stability(KMEANS, [[0.0], [np.nan]], null="permuted")
    with pytest.raises(ValueError, match="must be 'both', 'gaussian' or 'permuted'"):
        stability(KMEANS, X, null="uniform")
    with pytest.raises(ValueError, match="needs the clusterer and X"):
        stability(np.zeros((4, 2), int), null="gaussian")


def test_labels_of_other_kinds():
    assert labels_from(["a", "b", "a"], 3).tolist() == [0, 1, 0]
    assert labels_from([{0, 2}], 3).tolist() == [0, -1, 0]
    assert labels_from(np.array([1.0, -1.0]), 2).tolist() == [1, -1]
