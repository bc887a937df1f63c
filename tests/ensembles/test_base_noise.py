"""Noise in base clusterings: a verdict for the consensus, a label of its own for models of labels."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from partita.ensembles import as_base, co_association, consensus, dependence, summarize
from partita.ensembles.summary import pair_agreement

LABELS = np.array([[0, 0, 0], [0, 0, -1], [1, 1, 1], [1, -2, 1], [-1, -1, 1], [-1, -2, -1], [-2, -2, -2]])


def test_base_tells_noise_from_missing_labels():
    base = as_base(LABELS, noise=-1)
    np.testing.assert_array_equal(np.asarray(base), LABELS)
    np.testing.assert_array_equal(np.asarray(as_base(np.asarray(base), noise=-1)), LABELS)
    assert base.labelled.tolist() == [True] * 6 + [False]
    assert as_base([[0, -1]]).noise is None
    np.testing.assert_array_equal(base.rows(np.arange(2, 6)).columns([2, 0]).noise, LABELS[2:6, [2, 0]] == -1)


@pytest.mark.parametrize("noise", ["x", ["x", -1]])
def test_noise_may_be_a_word(noise):
    base = as_base([["a", "x"], ["b", "a"]], noise=noise)
    assert base.noise.tolist() == [[False, True], [False, False]]
    assert [len(known) for known in base.levels] == [2, 1]


def test_noise_as_a_label_of_its_own():
    coded = as_base(LABELS, noise=-1).noise_as_label()
    np.testing.assert_array_equal(coded.codes, np.where(LABELS == -1, 2, np.maximum(LABELS, -1)))
    assert coded.levels[0].tolist() == [0, 1, "noise"]
    with pytest.warns(UserWarning, match="1 item without a base label"):
        model = pt.ensembles.NBCE("vb", truncation=5, random_state=1).fit(as_base(LABELS, noise=-1))
    assert model.labels_[-1] == -1
    assert (model.labels_[:-1] >= 0).all()


def test_co_association_counts_noise_as_apart():
    found = co_association(as_base(LABELS, noise=-1))
    assert found[0, 1] == pytest.approx(2 / 3)
    assert found[4, 5] == 0.0
    assert np.isnan(found[0, 6])


def test_agreement_is_that_of_partitions_in_which_noise_is_alone():
    base = as_base(LABELS[:6], noise=-1)
    alone = np.where(LABELS[:6] == -1, 10 + np.arange(6)[:, None], LABELS[:6])
    expected = [[_rand(alone[:, m], alone[:, k]) for k in range(3)] for m in range(3)]
    np.testing.assert_allclose(pair_agreement(base), expected, atol=1e-12)
    labels = np.array([0, 0, 1, 1, -1, -1])
    summary = summarize(labels, base)
    whole = np.array([0, 0, 1, 1, 2, 3])
    np.testing.assert_allclose(summary.agreement, [_rand(whole, alone[:, m]) for m in range(3)], atol=1e-12)
    np.testing.assert_allclose(summary.certainty[4:], [2 / 3, 1.0])
    assert "2 of 6 items are noise" in summary.notes[0]


def _rand(x: np.ndarray, y: np.ndarray) -> float:
    both = (x != -2) & (y != -2)
    return pt.adjusted_rand(x[both], y[both])


def test_consensus_reports_noise_and_unlabelled_items():
    base = as_base(np.repeat(LABELS, 4, axis=1), noise=-1)
    with pytest.warns(UserWarning, match="1 item without a base label"):
        assert consensus(base, weights=None, rng=1).tolist() == [0, 0, 1, 1, -1, -1, -1]
    with pytest.warns(UserWarning, match="without a base label"):
        copies = consensus(base, weights=None, item_weights=[2, 1, 1, 3, 1, 1, 1], rng=1)
    assert copies.tolist() == [0, 0, 1, 1, -1, -1, -1]


def test_dependence_sees_noise():
    """Two clusterings that differ only in their noise are no copies."""
    one = np.repeat([0, 1, 2], 20)
    other = one.copy()
    other[::5] = -1
    assert dependence(as_base(np.column_stack([one, other]), noise=-1)).effective > 1.05
    assert dependence(as_base(np.column_stack([one, one]), noise=-1)).effective == pytest.approx(1.0)


def test_bad_input():
    with pytest.raises(ValueError, match="noise= is for labels, not for a Base"):
        as_base(as_base(LABELS, noise=-1), noise=-1)
    with pytest.raises(ValueError, match="membership probabilities"):
        as_base([[[0.9, 0.1], [0.5, 0.5]]], noise=-1)
    with pytest.raises(ValueError, match=r"base row 0, column 1, is -3"):
        as_base([[0, -3], [1, 0]], noise=-1)
