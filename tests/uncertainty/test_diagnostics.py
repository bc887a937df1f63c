"""Diagnostics: agreement with ArviZ, chains that mix, chains that do not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from partita.draws.sample import as_sample
from partita.estimation.convergence import quantities
from partita.estimation.estimate import estimate
from partita.estimation.r_hat import effective_sample_size
from partita.uncertainty.diagnostics import diagnostics
from support import reference as ref

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    arviz = pytest.importorskip("arviz")


def r_hat(values):
    return quantities({"": values})[0].r_hat


def correlated(chains, draws, rho, rng):
    noise = rng.normal(size=(chains, draws))
    out = np.zeros_like(noise)
    for t in range(1, draws):
        out[:, t] = rho * out[:, t - 1] + noise[:, t]
    return out


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.95])
@pytest.mark.parametrize("chains", [1, 4])
def test_own_formulas_agree_with_arviz(rho, chains):
    values = correlated(chains, 400, rho, np.random.default_rng(3))
    assert r_hat(values) == pytest.approx(float(arviz.rhat(values)) if chains > 1 else r_hat(values), rel=1e-6)
    assert effective_sample_size(values) == pytest.approx(float(arviz.ess(values)), rel=0.05)


def test_chains_that_mix_need_no_advice():
    rng = np.random.default_rng(1)
    found = diagnostics(rng.integers(2, size=(4, 200, 6)), log_density=rng.normal(size=(4, 200)), rng=1)
    assert found.converged
    assert [q.name for q in found.quantities] == [
        "clusters",
        "entropy",
        "largest cluster",
        "distance to estimate",
        "log density",
    ]
    assert found.chain_distances.shape == (4, 4)
    assert "R-hat" in repr(found)
    assert found.to_pandas().shape == (5, 4)


def test_chains_in_different_modes_get_advice():
    rng = np.random.default_rng(2)
    chains = np.stack([rng.integers(2, size=(100, 6)), rng.integers(6, size=(100, 6))])
    with pytest.warns(UserWarning, match="have not mixed"):
        found = diagnostics(chains, rng=1)
    assert not found.converged


def test_sticky_chains_get_advice():
    rng = np.random.default_rng(2)
    draws = np.repeat(rng.integers(3, size=(8, 6)), 50, axis=0)
    with pytest.warns(UserWarning, match="small effective sample size"):
        diagnostics(draws, rng=1)


def test_summaries_are_the_definitions():
    rng = np.random.default_rng(4)
    draws = rng.integers(3, size=(40, 6))
    est = estimate(draws, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {q.name: q.mean for q in diagnostics(est).quantities}
    rows = draws.tolist()
    assert found["clusters"] == pytest.approx(np.mean([len(set(r)) for r in rows]))
    assert found["entropy"] == pytest.approx(np.mean([ref.entropy(r) for r in rows]))
    assert found["largest cluster"] == pytest.approx(np.mean([max(np.bincount(r)) for r in rows]))
    assert found["distance to estimate"] == pytest.approx(est.expected_loss)


def test_degenerate_chains_have_answers():
    constant = diagnostics(np.zeros((2, 100, 4), int), rng=1)
    assert all(q.r_hat == 1 and q.ess == 200 for q in constant.quantities)
    short = diagnostics([[0, 1], [0, 0]], rng=1)
    assert all(np.isnan(q.r_hat) for q in short.quantities)
    with pytest.raises(ValueError, match="log_density has 1 values, but there are 2 draws"):
        diagnostics([[0, 1], [0, 0]], log_density=[0.0], rng=1)
    gaps = as_sample(np.tile([[0, 0, -1], [0, 1, 1]], (100, 1)), missing=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(diagnostics(gaps, rng=1).quantities) == 4
