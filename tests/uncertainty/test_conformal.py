"""Conformal sets: the p-value against its definition, and its size in simulations, with dependent draws too."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from partita.datasets import make_draws
from partita.draws.sample import as_sample
from partita.estimation.convergence import MixingWarning
from partita.losses.losses import LOSSES
from partita.uncertainty import conformal
from partita.uncertainty.conformal import conformal_set
from support import reference as ref


def sticky(draws, stay, rng):
    """A chain that keeps its state with probability `stay`, else takes the next of the independent draws."""
    keep = rng.random(len(draws)) < stay
    keep[0] = False
    return draws[np.maximum.accumulate(np.where(keep, 0, np.arange(len(draws))))]


def p_values(replications, n_draws, stay=0.0, loss="vi", seed=1):
    """The p-values of new draws, one per replication."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(replications):
        draws = make_draws(40, n_draws + 1, 4, rng=rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MixingWarning)
            fitted = conformal_set(sticky(draws[:-1], stay, rng), loss=loss, references=30, n_jobs=1)
        found.append(fitted.p_value(draws[-1]))
    return np.array(found)


def test_p_value_is_that_of_the_definition():
    draws = make_draws(8, 40, 3, rng=1)
    found = conformal_set(draws, level=0.8)
    typical = draws[:20].tolist()
    scale = np.median([[ref.vi(y, x) for x in typical] for y in draws[20:].tolist()])

    def score(y):
        return np.mean([np.exp(-ref.vi(y, x) / scale) for x in typical])

    scores = np.array([score(y) for y in draws[20:].tolist()])
    assert found.scale == pytest.approx(scale)
    np.testing.assert_allclose(np.sort(found.scores.ravel()), np.sort(scores))
    assert found.n_calibration == 20
    for y in draws[:10].tolist():
        at_most = (scores <= score(y) + 1e-12).mean()
        extra = max(0, 0.5 - at_most) * (1 / found.n_effective - 1 / 20)
        assert found.p_value(y) == pytest.approx(min(1, (1 + 20 * at_most) / 21 + extra))
        assert found.contains(y) == (found.p_value(y) > 0.2 + 1e-15)
    inside = {ref.canonical(y) for y in draws[20:].tolist() if found.contains(y)}
    assert {tuple(row) for row in found.members.tolist()} == inside


@pytest.mark.parametrize("stay", [0.0, 0.6])
def test_size_of_the_p_value(stay):
    replications = 100
    rejected = (p_values(replications, 200, stay) <= 0.05).mean()
    assert rejected <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / replications)


def test_the_simulation_finds_a_p_value_that_ignores_dependence(monkeypatch):
    limit = 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)
    assert (p_values(100, 200, stay=0.9) <= 0.05).mean() <= limit
    monkeypatch.setattr(conformal, "_effective", lambda scores, weights, level: scores.size)
    assert (p_values(100, 200, stay=0.9) <= 0.05).mean() > limit


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("stay", [0.0, 0.6])
def test_size_is_five_percent_for_every_loss(loss, stay):
    """A new draw has p <= 0.05 in 5 ± 1 % of the cases; the zero-one loss has too many ties to be exact."""
    rejected = (p_values(3000, 400, stay, loss) <= 0.05).mean()
    assert rejected <= 0.06
    assert rejected >= 0.04 or loss == "zero-one"


def test_every_loss_weights_and_names():
    draws = make_draws(6, 60, 2, rng=2)
    for loss in LOSSES:
        assert 0 < conformal_set(draws, loss=loss).p_value(draws[-1]) <= 1
    sample = as_sample(draws, np.arange(1, 61) ** 3, names=list("abcdef"))
    found = conformal_set(sample)
    assert found.n_effective < found.n_calibration == 30
    assert found.weights.sum() == pytest.approx(1)
    import pandas as pd

    turned = pd.Series(draws[0][::-1], index=list("fedcba"))
    assert found.p_value(turned) == found.p_value(draws[0])


def test_constant_draws_and_few_draws():
    found = conformal_set([[0, 0, 1]] * 100)
    assert found.p_value([1, 1, 0]) == 1
    assert found.p_value([0, 1, 1]) == pytest.approx(1 / 51)
    assert found.members.tolist() == [[0, 0, 1]]
    with pytest.warns(MixingWarning, match="too small for level 0.95: the set contains every partition"):
        few = conformal_set([[0, 0, 1], [0, 1, 1]] * 5)
    assert few.contains([0, 1, 2])
    assert "too small" in repr(few)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="at least 2 draws of each chain, but one has 1"):
        conformal_set([[0, 1, 1]])
    with pytest.raises(ValueError, match="label every item"):
        conformal_set(as_sample([[0, -1], [0, 1]], missing=-1))
    with pytest.raises(ValueError, match="level must be above 0"):
        conformal_set([[0, 1]] * 4, level=0)
    with pytest.raises(ValueError, match="partition has 2 items, but draws has 3"):
        conformal_set([[0, 0, 1]] * 100).p_value([0, 1])
