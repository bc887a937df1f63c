"""Pooled imputations: the mixture of their posteriors, whatever their lengths and orders, and how far they disagree."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from partita.datasets import make_draws
from partita.results.present import present


def test_each_imputation_has_the_same_weight():
    first, second = [[0, 0, 1]] * 6, [[0, 1, 1], [0, 1, 2]]
    pooled = pt.pool([first, second])
    weights = {tuple(row): weight for row, weight in zip(pooled.labels.tolist(), pooled.weights, strict=True)}
    assert weights == {(0, 0, 1): pytest.approx(0.5), (0, 1, 1): pytest.approx(0.25), (0, 1, 2): pytest.approx(0.25)}
    np.testing.assert_allclose(pt.similarity(pooled), (pt.similarity(first) + pt.similarity(second)) / 2)
    assert pooled.sources == 2
    assert pt.estimate(pooled, rng=1).sample is pooled


def test_disagreement_is_that_of_the_imputations():
    draws = make_draws(n_items=30, n_draws=200, n_clusters=3, rng=1)
    assert pt.pool([draws[::2], draws[1::2]]).disagreement < 0.05
    assert pt.pool([draws[:100], draws[100:, ::-1]]).disagreement > 0.2
    assert pt.pool([draws]).disagreement == 0


def test_items_are_matched_by_name():
    first = pt.as_sample([[0, 0, 1]], names=["a", "b", "c"])
    second = pt.as_sample([[1, 0, 0]], names=["c", "a", "b"])
    assert pt.pool([first, second]).n_unique == 1
    with pytest.raises(ValueError, match="samples\\[1\\] has 2 items, but samples\\[0\\] has 3"):
        pt.pool([first, [[0, 1]]])
    with pytest.raises(TypeError, match="samples must be a list"):
        pt.pool(first)
    with pytest.raises(TypeError, match="samples must be a list"):
        pt.pool(5)


def test_noise_stays_noise():
    """The pooled shares are those of all draws at once: labels that are missing count for nothing."""
    rows = np.random.default_rng(1).integers(-2, 3, (40, 5))
    rows[:30, 4] = -2
    names = list("abcde")
    first = pt.as_sample(rows[:20], missing=-2, noise=-1, names=names)
    second = pt.as_sample(rows[20:, ::-1], missing=-2, noise=-1, names=names[::-1])
    together = pt.as_sample(rows, missing=-2, noise=-1, names=names)
    np.testing.assert_allclose(pt.pool([first, second]).noise, together.noise)
    assert pt.pool([first, [[0, 0, 1, 1, 2]]]).noise[0] == pytest.approx(first.noise[0] * together_share(first))


def together_share(sample):
    """The share of the labels of item 0 that are of this sample, if pooled with one where it is always labelled."""
    labelled = float(sample.weights @ (sample.labels[:, 0] >= 0))
    return labelled / (labelled + 1)


def test_a_paragraph_for_a_paper_has_the_facts(tmp_path):
    best = pt.estimate(make_draws(n_items=20, n_draws=300, n_clusters=3, rng=1), pt.VI(a=0.5), rng=7)
    text = best.methods_text()
    for part in ("300 posterior draws", "20 items", "a = 0.5", "seed 7", f"partition has {best.n_clusters} clusters"):
        assert part in text
    assert f"{best.expected_loss:.4f} bits" in text
    assert all(note in text for note in best.notes)
    with pytest.warns(UserWarning, match="not a metric"):
        ball = pt.credible_ball(best)
    quantities = present(best).tables["mixing"].rows
    fewest, most = np.unique(best.sample.cluster_counts[ball.inside])[[0, -1]]
    assert f"has radius {ball.radius:.4f} bits" in text
    assert f"with {fewest} to {most} clusters" in text
    assert (pt.item_certainty(best).probability >= 0.5).all()
    assert "For no item the mean posterior probability" in text
    assert f"effective sample size is at least {min(row[-1] for row in quantities):,.0f}" in text
    references = text.rpartition("References: ")[2]
    assert "Wade, S." in references
    assert "Vehtari, A." in references
    assert "Binder, D. A." not in references
    assert "It is proven that no partition has a lower expected loss" in best.methods_text(best.bound(1))
    pt.report(best, ball, path=tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert all(part.split("; its")[0] in page for part in text.split("\n\n")[:2])
