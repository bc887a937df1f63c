"""The sampler against the exact posterior over all partitions, for every base, prior and move."""

import numpy as np
import pytest

from partita.models import FiniteMixture, GammaAlpha, GaussianDPM, PowerAlpha, SplitMergeMoves, WishartGrid
from support import mixture_reference as reference

X = np.array([[-1.2, 0.3], [-0.8, -0.1], [0.1, 0.4], [1.4, -0.6], [1.1, 0.2]])
FULL = {"mu0": np.array([0.1, -0.1]), "kappa0": 0.4, "nu0": 3.5, "scale": np.array([[0.5, 0.1], [0.1, 0.3]])}
DIAG = {
    "mu0": np.array([0.1, -0.1]),
    "c": np.array([0.4, 0.7]),
    "a": np.array([1.5, 2.5]),
    "b": np.array([0.3, 0.2]),
}
POWER = PowerAlpha(clusters=(1, 4), power=0.8, size=6)


def power_prior(sizes):
    values, log_prior = POWER.grid(sum(sizes))
    weights = np.exp(log_prior) / np.exp(log_prior).sum()
    return np.log(sum(w * np.exp(reference.log_crp(sizes, alpha)) for w, alpha in zip(weights, values, strict=True)))


PRIORS = {
    "fixed": ({"alpha": 0.7}, lambda s: reference.log_crp(s, 0.7)),
    "gamma": ({"alpha": GammaAlpha(1.5, 2.0)}, lambda s: reference.log_crp_gamma(s, 1.5, 2.0)),
    "power": ({"alpha": POWER}, power_prior),
    "pitman-yor": ({"alpha": 0.7, "discount": 0.3}, lambda s: reference.log_crp(s, 0.7, 0.3)),
    "pitman-yor-gamma": (
        {"alpha": GammaAlpha(1.5, 2.0), "discount": 0.3},
        lambda s: reference.log_crp_gamma(s, 1.5, 2.0, 0.3),
    ),
    "finite": ({"components": FiniteMixture(0.8, 1.5)}, lambda s: reference.log_finite(s, 0.8, 1.5)),
}
BASES = {
    "full": ({"covariance": "full", **FULL}, lambda x: reference.log_marginal_full(x, **FULL)),
    "diag": ({"covariance": "diag", **DIAG}, lambda x: reference.log_marginal_diag(x, **DIAG)),
}


def run(model, data, chains=24, draws=4000, rng=5):
    """Frequency of every partition in each chain, (chains, partitions)."""
    labels = model.sample(data, draws=draws, warmup=50, chains=chains, rng=rng).labels
    codes = labels @ (np.uint64(10) ** np.arange(data.shape[0], dtype=np.uint64))
    every = reference.partitions(len(data))
    keys = np.array(every, dtype=np.uint64) @ (np.uint64(10) ** np.arange(data.shape[0], dtype=np.uint64))
    order = np.argsort(keys)
    places = order[np.searchsorted(keys[order], codes)]
    return np.array([np.bincount(row, minlength=len(keys)) / draws for row in places])


def excess(frequencies, exact):
    """Total variation from the exact posterior, over what Monte Carlo error alone leads one to expect."""
    error = frequencies.std(axis=0, ddof=1) / np.sqrt(len(frequencies))
    total_variation = np.abs(frequencies.mean(axis=0) - exact).sum() / 2
    return total_variation / (np.sqrt(2 / np.pi) * error.sum() / 2)


def exact_of(log_prior, log_marginal):
    _, weights, _ = reference.exact_posterior(X, log_prior, log_marginal)
    return weights / weights.sum()


@pytest.mark.parametrize("split_merge", [0, 2])
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("base", BASES)
def test_long_run_has_the_exact_posterior(base, prior, split_merge):
    arguments, log_marginal = BASES[base]
    more, log_prior = PRIORS[prior]
    model = GaussianDPM(**arguments, **more, moves=SplitMergeMoves(split_merge))
    assert excess(run(model, X), exact_of(log_prior, log_marginal)) < 1.6


@pytest.mark.parametrize("split_merge", [0, 2])
def test_wishart_grid_has_the_exact_posterior(split_merge):
    grid = WishartGrid(a=(0.05, 2.0), u=(0.01, 2.0), v=(0.1, 1.0), size=3)
    total, best = 0.0, -np.inf
    for a, nu, v in reference.grid_product(*grid.grids(2)):
        _, weights, top = reference.exact_posterior(
            X,
            lambda s: reference.log_crp(s, 0.7),
            lambda x, a=a, nu=nu, v=v: reference.log_marginal_full(x, np.zeros(2), a, nu, nu * v * np.eye(2)),
        )
        new_best = max(best, top)
        total = total * np.exp(best - new_best) + weights * np.exp(top - new_best)
        best = new_best
    model = GaussianDPM(alpha=0.7, hyperprior=grid, moves=SplitMergeMoves(split_merge))
    assert excess(run(model, X), total / total.sum()) < 1.6


def test_wrong_degrees_of_freedom_are_noticed():
    """The seeded fault: half a degree of freedom more in the reference."""
    arguments, _ = BASES["full"]
    fault = exact_of(
        lambda s: reference.log_crp(s, 0.7),
        lambda x: reference.log_marginal_full(x, **{**FULL, "nu0": FULL["nu0"] + 0.5}),
    )
    assert excess(run(GaussianDPM(alpha=0.7, **arguments), X), fault) > 2.0


@pytest.mark.parametrize("base", BASES)
def test_log_density_is_that_of_the_formulas(base):
    arguments, log_marginal = BASES[base]
    for more, log_prior in [PRIORS["fixed"], PRIORS["pitman-yor"], PRIORS["finite"]]:
        chain = GaussianDPM(**arguments, **more).sample(X, draws=300, warmup=0, chains=1, rng=3)
        for labels, value in zip(chain.labels[0, ::50], chain.log_density[0, ::50], strict=True):
            groups = [X[labels == k] for k in range(labels.max() + 1)]
            expected = log_prior(tuple(len(g) for g in groups)) + sum(map(log_marginal, groups))
            np.testing.assert_allclose(value, expected, rtol=1e-12)
