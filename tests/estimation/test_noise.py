"""Noise is a verdict: an item that a draw calls noise is alone in it, and the estimate reports noise as -1."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import partita as pt
from partita.losses.losses import LOSSES
from support import reference as ref
from support.enumerated import least, tables

NOISE = -1


def noisy_draws(n: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Copies of one partition with errors, in which some items are often noise."""
    truth, odd = rng.integers(0, 2, n), rng.random(n) * (rng.random(n) < 0.5)
    labels = np.where(rng.random((draws, n)) < 0.15, rng.integers(0, 3, (draws, n)), truth)
    return np.where(rng.random((draws, n)) < odd, NOISE, labels)


def plain(draws: np.ndarray) -> np.ndarray:
    """The draws as partitions: each noise item with a label of its own, by a plain loop."""
    return np.array([[9 + i if label == NOISE else label for i, label in enumerate(row)] for row in draws.tolist()])


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("seed", range(3))
def test_estimate_equals_enumeration_over_partitions(loss, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 8))
    draws, weights = noisy_draws(n, 9, rng), rng.gamma(3.0, size=9)
    best = pt.estimate(pt.as_sample(draws, weights, noise=NOISE), loss, rng=1, check_draws=False)
    partitions = np.array([ref.canonical(row) for row in plain(draws).tolist()])
    assert best.expected_loss == pytest.approx(least(tables(partitions)[loss](), weights, n), abs=1e-12)
    own = ref.expected_loss(best.partition.tolist(), partitions.tolist(), ref.LOSSES[loss], weights)
    assert best.expected_loss == pytest.approx(own, abs=1e-12)


def test_share_of_noise_is_that_of_the_draws_that_label_the_item():
    draws = [[0, 0, -1, -1, 7], [0, 0, -1, 0, 7], [0, 0, 0, 7, 7], [0, 0, 7, -1, 7]]
    sample = pt.as_sample(draws, noise=-1, missing=7)
    np.testing.assert_array_equal(sample.noise, [0, 0, 2 / 3, 2 / 3, np.nan])
    weighted = pt.as_sample(draws, [1e300, 3e300, 0, 4e300], noise=-1, missing=7)
    np.testing.assert_allclose(weighted.noise, [0, 0, 1, 5 / 8, np.nan])
    with pytest.raises(ValueError, match="weights has 3 entries, but there are 4 draws"):
        pt.as_sample(draws, [1, 1, 1], noise=-1, missing=7)


def test_equal_partitions_with_different_marks_are_one_draw():
    sample = pt.as_sample([[0, 0, 1], [0, 0, -1], [0, 0, -1]], noise=-1)
    assert sample.n_unique == 1
    np.testing.assert_array_equal(sample.noise, [0, 0, 2 / 3])


def test_an_item_that_is_mostly_noise_is_reported_as_noise():
    """Noise in 19 of 20 runs: not the cluster of the twentieth."""
    runs = np.array([[0] * 20 + [1] * 20 + [NOISE]] * 19 + [[0] * 20 + [1] * 20 + [0]])
    best = pt.estimate(pt.as_sample(runs, noise=NOISE), rng=1, check_draws=False)
    assert best.labels[-1] == -1
    assert best.noise[-1] == 0.95
    assert best.n_clusters == 2
    assert best.sizes.tolist() == [20, 20]
    assert best.partition.max() == 2
    assert best.is_noise.sum() == 1
    assert pt.item_certainty(best).probability[-1] == 0.95
    assert pt.cluster_stability(best).size.tolist() == [20, 20]
    assert any("1 item is noise" in note for note in best.notes)
    assert "noise         1 item" in repr(best)
    assert pt.ensembles.consensus(pt.ensembles.as_base(runs.T, noise=NOISE), weights=None, rng=1)[-1] == -1
    assert pt.ensembles.consensus(runs.T, weights=None, rng=1)[-1] == 0  # as missing labels


def test_a_single_cluster_that_no_draw_calls_noise_stays_a_cluster():
    best = pt.estimate(pt.as_sample([[0, 0, 1, -1]] * 5, noise=-1), rng=1, check_draws=False)
    assert best.labels.tolist() == [0, 0, 1, -1]


def test_never_labelled_and_noise_are_told_apart():
    best = pt.estimate(pt.as_sample([[0, 0, -1, 9]] * 4, noise=-1, missing=9), rng=1, check_draws=False)
    assert best.labels.tolist() == [0, 0, -1, -1]
    assert best.is_noise.tolist() == [False, False, True, False]
    assert best.verdicts.tolist() == [0, 0, 1, -1]
    notes = " ".join(best.notes)
    assert "1 item is noise" in notes
    assert "1 item has no label in any draw" in notes
    assert np.isnan(pt.item_certainty(best).probability[-1])


def test_order_of_items_draws_and_names_of_labels_change_nothing():
    rng = np.random.default_rng(5)
    draws = noisy_draws(25, 12, rng)
    best = pt.estimate(pt.as_sample(draws, noise=NOISE), rng=1, check_draws=False)
    items, rows = rng.permutation(25), rng.permutation(12)
    renamed = np.where(draws == NOISE, NOISE, (draws + 1) * 7)[rows][:, items]
    other = pt.estimate(pt.as_sample(renamed, noise=NOISE), rng=1, check_draws=False)
    assert other.expected_loss == pytest.approx(best.expected_loss, abs=1e-12)
    np.testing.assert_array_equal(other.noise, best.noise[items])
    np.testing.assert_array_equal(ref.canonical(best.partition[items].tolist()), other.partition)


def test_no_limit_on_clusters_by_default():
    """Every draw has 2 clusters and one noise item, each time another one; all of them may be alone."""
    draws = np.array([[0] * 5 + [1] * 5 + [NOISE] * 6] * 3 + [[0] * 16] * 2)
    assert pt.estimate(pt.as_sample(draws, noise=NOISE), rng=1, check_draws=False).n_clusters == 2
    limited = pt.estimate(pt.as_sample(draws, noise=NOISE), search=pt.Search(max_clusters=4), rng=1, check_draws=False)
    assert limited.partition.max() < 4
    assert "as many clusters as were allowed (4)" in " ".join(limited.notes)


@pytest.mark.parametrize("loss", ["vi", "binder", "nvi"])
def test_ball_certainty_and_other_answers_are_those_of_plain_partitions(loss):
    draws = noisy_draws(12, 30, np.random.default_rng(2))
    marked, unmarked = pt.as_sample(draws, noise=NOISE), pt.as_sample(plain(draws))
    best = pt.estimate(marked, loss, rng=1, check_draws=False)
    same = pt.estimate(unmarked, loss, rng=1, check_draws=False, search=pt.Search(max_clusters=np.inf))
    np.testing.assert_array_equal(best.partition, same.labels)
    assert pt.credible_ball(best).radius == pt.credible_ball(same).radius
    certainty, other = pt.item_certainty(best), pt.item_certainty(same)
    np.testing.assert_allclose(certainty.probability, other.probability)
    np.testing.assert_array_equal(certainty.labels, best.labels)
    np.testing.assert_allclose(
        pt.cluster_stability(best).jaccard,
        pt.cluster_stability(same).jaccard[np.unique(same.labels[best.labels >= 0])],
    )
    assert pt.expected_loss(best.labels, marked, loss) == pytest.approx(best.expected_loss)
    assert pt.hierarchy(best).levels.shape == pt.hierarchy(same).levels.shape
    assert pt.modes(marked, 2, loss, rng=1).distance == pytest.approx(pt.modes(unmarked, 2, loss, rng=1).distance)


@pytest.mark.parametrize("method", ["search", "salso", "greedy", "hasse", "draws", "map", "enumerate"])
def test_every_method_takes_noise(method):
    draws = noisy_draws(6, 10, np.random.default_rng(4))
    best = pt.estimate(pt.as_sample(draws, noise=NOISE), method=method, rng=1, check_draws=False)
    assert best.expected_loss == pytest.approx(pt.expected_loss(best.partition, plain(draws)))


def test_saved_samples_keep_the_shares(tmp_path: Path):
    sample = pt.as_sample([[0, 0, -1, -1], [0, 0, 0, -1]], noise=-1, names=list("abcd"))
    sample.save(tmp_path / "kept")
    for again in (pt.open_sample(tmp_path / "kept"), pt.read_draws(tmp_path / "kept")):
        np.testing.assert_array_equal(again.noise, sample.noise)
        np.testing.assert_array_equal(again.labels, sample.labels)
    stored = pt.as_sample([[0, 0, -1, -1], [0, 0, 0, -1]], noise=-1, store=tmp_path / "stored")
    np.testing.assert_array_equal(stored.noise, sample.noise)
    np.testing.assert_array_equal(pt.as_sample(stored, names=list("wxyz")).noise, sample.noise)
    assert "37.5% noise" in repr(stored)
    assert "1 clusters per draw" in repr(stored)


def test_files_say_what_a_label_means():
    text = "a,b,c,d\n0,0,-1,NA\n0,0,0,-1\n"
    read = pt.read_draws(io.StringIO(text), noise="-1", missing="NA")
    np.testing.assert_array_equal(read.noise, [0, 0, 0.5, 1])
    with pytest.raises(ValueError, match=r"missing=-1 if the draw does not label.*noise=-1 if the draw says"):
        pt.read_draws(io.StringIO(text), missing=None)
    with pytest.raises(ValueError, match=r"is -1: .* \(noise=-1 if"):
        pt.read_draws(io.StringIO(text), missing="NA")
    with pytest.raises(ValueError, match=r"-1 is in missing= and in noise="):
        pt.as_sample([[0, -1]], missing=-1, noise=-1)


@pytest.mark.parametrize("change", [{"weights": [1, 2]}, {"burn": 1}, {"thin": 2}, {"noise": -1}])
def test_a_sample_keeps_its_noise_or_refuses(change):
    sample = pt.as_sample([[0, 0, -1], [0, 0, 0]], noise=-1)
    with pytest.raises(ValueError, match="noise"):
        pt.as_sample(sample, **change)


@pytest.mark.parametrize("labels", [[["a", "noise"], ["a", "b"]], np.ma.masked_equal([[0, 5], [0, 1]], 9)])
def test_noise_may_be_any_label(labels):
    marker = "noise" if isinstance(labels, list) else 5
    np.testing.assert_array_equal(pt.as_sample(labels, noise=marker).noise, [0, 0.5])


def test_all_noise_is_an_answer():
    best = pt.estimate(pt.as_sample([[-1, -1, -1]] * 3, noise=-1), rng=1, check_draws=False)
    assert best.labels.tolist() == [-1, -1, -1]
    assert best.n_clusters == 0
    assert best.sizes.size == 0
    assert "0 clusters" in repr(best)
    np.testing.assert_array_equal(pt.item_certainty(best).probability, 1.0)
    assert pt.cluster_stability(best).size.size == 0


def test_noise_is_not_joined_with_items_that_no_draw_labels_with_it():
    """Joining them costs nothing, but all draws that label them call them noise."""
    draws = [[0, 0, 0, -1, -2, -2], [0, 0, -2, -2, -1, -2], [-2, 0, 0, -2, -2, -1]]
    best = pt.estimate(pt.as_sample(draws, noise=-1, missing=-2), rng=1, check_draws=False)
    assert best.labels.tolist() == [0, 0, 0, -1, -1, -1]
