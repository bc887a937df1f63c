"""Expected-loss consensus with a number of clusters, co-association, resampled ensembles, and single cells."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import partita as pt
from partita.cli import app
from partita.ensembles import NBCE, Ascent, as_base, co_association, consensus, kmeans_ensemble
from support.ensemble_reference import noisy_clusterings


@pytest.fixture
def base():
    return noisy_clusterings(errors=0.15)


def copied():
    """Clusterings that agree, and more copies of another, in which two of their clusters are one."""
    base = noisy_clusterings(errors=0.15)
    merged = np.where(base[:, 0] == base[:, 0].max(), base[:, 0].min(), base[:, 0])
    return np.column_stack([base, np.repeat(merged[:, None], 3 * base.shape[1], axis=1)])


def test_python_and_the_command_have_one_default(tmp_path):
    base = copied()
    pd.DataFrame(base, columns=[f"m{m}" for m in range(base.shape[1])]).to_csv(tmp_path / "base.csv", index=False)
    answer = CliRunner().invoke(app, ["ensemble", str(tmp_path / "base.csv"), "--seed", "1", "--json"])
    assert json.loads(answer.stdout)["labels"] == consensus(base, rng=1).tolist()
    answer = CliRunner().invoke(
        app, ["ensemble", str(tmp_path / "base.csv"), "--weights", "equal", "--seed", "1", "--json"]
    )
    assert json.loads(answer.stdout)["labels"] == consensus(base, weights=None, rng=1).tolist()


def test_weights_by_dependence_have_a_name(base):
    by_name = consensus(base, weights="dependence", rng=1)
    assert by_name.tolist() == consensus(base, rng=1).tolist()
    assert by_name.tolist() == consensus(base, weights=pt.ensembles.dependence(base).weights, rng=1).tolist()
    with pytest.raises(
        ValueError, match="weights must be 'dependence', None or one number per clustering, but it is 'dependance'"
    ):
        consensus(base, weights="dependance")


def test_a_clustering_with_one_cluster_does_not_outweigh_copies(tmp_path):
    truth = np.repeat([0, 1, 2], 15)
    base = np.column_stack([truth] * 6 + [np.zeros(45, int)])
    base[np.random.default_rng(1).random(base.shape) < 0.1] = -1
    assert consensus(base, rng=1).tolist() == truth.tolist()
    pd.DataFrame(base, columns=list("abcdefg")).to_csv(tmp_path / "base.csv", index=False)
    answer = CliRunner().invoke(
        app, ["ensemble", str(tmp_path / "base.csv"), "--missing", "-1", "--seed", "1", "--json"]
    )
    assert json.loads(answer.stdout)["labels"] == truth.tolist()


def test_a_number_of_clusters_is_kept(base):
    for loss in ("vi", "binder"):
        for k in (1, 2, 3, 5, 8):
            assert consensus(base, loss, k=k, rng=1).max() + 1 == k


def test_with_the_best_number_the_answer_is_the_best():
    """Equal to the enumerated optimum among partitions with k clusters."""
    base = np.random.default_rng(3).integers(3, size=(7, 5))
    for k in (2, 3):
        found = consensus(base, k=k, rng=1)
        partitions = [p for p in pt.enumerate_partitions(7) if p.max() + 1 <= k]
        losses = pt.expected_loss(np.array(partitions), base.T, "vi")
        best = partitions[int(np.argmin(losses))]
        if best.max() + 1 == k:
            assert pt.expected_loss(found, base.T, "vi") == pytest.approx(losses.min())


def test_more_clusters_than_can_be_told_apart_are_refused():
    base = [[0, 0]] * 4 + [[1, 1]] * 4
    with pytest.raises(ValueError, match="do not tell 3 clusters apart: the most that were found are 2"):
        consensus(base, k=3, rng=1)
    with pytest.raises(ValueError, match="use 'vi' or 'binder'"):
        consensus(base, "nvi", k=3, rng=1)
    with pytest.raises(ValueError, match="8, but it is 9"):
        consensus(base, k=9)


def test_co_association_counts_pairs_with_weights():
    base = np.array([[0, 0, -1], [0, 1, 2], [1, 1, 2], [-1, -1, 2]])
    weights = np.array([2.0, 1.0, 1.0])
    expected = np.full((4, 4), np.nan)
    for i in range(4):
        for j in range(4):
            both = (base[i] >= 0) & (base[j] >= 0)
            if both.any():
                expected[i, j] = weights[both & (base[i] == base[j])].sum() / weights[both].sum()
    np.testing.assert_allclose(co_association(base, weights=weights), expected)
    assert np.isnan(expected[0, 3])


def test_resampled_runs_leave_gaps_and_repeat_each_other_less():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2))
    whole, some = kmeans_ensemble(X, 4, rng=1), kmeans_ensemble(X, 4, resample=0.8, rng=1)
    assert ((some == -1).sum(axis=0) == 40).all()
    assert (whole >= 0).all()
    with pytest.raises(ValueError, match="resample must be a probability"):
        kmeans_ensemble(X, 4, resample=1.5)


@pytest.fixture
def cells(base):
    """What AnnData offers, as far as it matters here."""
    obs = pd.DataFrame({f"leiden_{m}": pd.Categorical(column.astype(str)) for m, column in enumerate(base.T)})
    obs["n_genes"] = 7
    obs.index = [f"cell{n}" for n in range(len(obs))]
    return SimpleNamespace(obs=obs, obs_names=obs.index)


def test_single_cells_there_and_back(cells, base):
    read = as_base(cells, keys="leiden_*")
    for ours, given in zip(read.codes.T, base.T, strict=True):
        assert np.array_equal(pt.canonical(ours), pt.canonical(given))
    assert read.names[:2] == ("cell0", "cell1")
    assert as_base(cells, keys=["leiden_1", "leiden_3"]).n_clusterings == 2
    found = NBCE("vb", truncation=8, ascent=Ascent(restarts=2), random_state=1).fit(read)
    found.to_anndata(cells)
    assert cells.obs["consensus"].tolist() == [str(label) for label in found.labels_]
    assert cells.obs["consensus_certainty"].tolist() == found.certainty_.tolist()
    assert (cells.obs["consensus"].astype(str) != cells.obs["consensus_next"].astype(str)).all()
    likely = found.predict_proba(read)
    second = [np.argsort(-row)[1] for row in likely]
    agree = found.predict(read) == found.labels_
    assert np.array_equal(cells.obs["consensus_next"].astype(int).to_numpy()[agree], np.array(second)[agree])


def test_mistakes_with_single_cells_are_named(cells, base):
    with pytest.raises(ValueError, match=r'keys="leiden_\*"'):
        as_base(cells)
    with pytest.raises(ValueError, match="no column matches 'louvain_\\*'"):
        as_base(cells, keys="louvain_*")
    with pytest.raises(TypeError, match="keys= is for data frames"):
        as_base(base, keys="a*")
    found = NBCE("vb", truncation=8, ascent=Ascent(restarts=1), random_state=1).fit(base)
    with pytest.raises(ValueError, match="adata has 3 cells, but the consensus has 60 items"):
        found.to_anndata(SimpleNamespace(obs=cells.obs.iloc[:3]))
