"""Monte Carlo error: batch means against the spread over independent samples, and parts that disagree."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt
from partita.datasets import make_draws
from partita.draws.sample import as_sample
from partita.estimation.estimate import estimate
from partita.losses.expected import distances
from partita.search.settings import Search
from partita.uncertainty.ball import credible_ball
from partita.uncertainty.certainty import item_certainty
from partita.uncertainty.monte_carlo import monte_carlo_error

QUICK = Search(runs=1, n_jobs=1)


def spread_and_errors(stay, seed, replications=40, n_draws=400):
    """Standard deviations over replications of (loss, radius, certainty of item 0), and their mean standard errors."""
    rng = np.random.default_rng(seed)
    pool = make_draws(10, 4000, 3, rng=seed)
    best = estimate(pool, search=QUICK, rng=1).labels
    values, errors = [], []
    for _ in range(replications):
        keep = rng.random(n_draws) < stay
        keep[0] = False
        fresh = pool[rng.integers(len(pool), size=n_draws)]
        draws = fresh[np.maximum.accumulate(np.where(keep, 0, np.arange(n_draws)))]
        found = estimate(draws, search=QUICK, rng=1, start=best, check_draws=False)
        error = monte_carlo_error(found, parts=2, search=QUICK, rng=1)
        errors.append((error.expected_loss, error.radius, error.certainty[0]))
        ball = credible_ball(best, draws)
        values.append((distances(best, draws).mean(), ball.radius, item_certainty(best, draws).probability[0]))
    return np.std(values, axis=0), np.mean(errors, axis=0)


@pytest.mark.parametrize("stay", [0.0, 0.7])
def test_standard_errors_are_the_spread_over_samples(stay):
    """The standard deviation of 40 values has itself a standard error of 11 %."""
    spread, errors = spread_and_errors(stay, seed=3)
    assert errors[0] == pytest.approx(spread[0], rel=0.35)
    assert errors[2] == pytest.approx(spread[2], rel=0.35)
    assert 0.5 * spread[1] <= errors[1] <= 2.5 * spread[1]  # batches are short for a quantile


def test_the_comparison_finds_errors_that_ignore_dependence():
    spread, errors = spread_and_errors(0.9, seed=3)
    naive = errors[0] / np.sqrt((1 + 0.9) / (1 - 0.9))
    assert abs(naive - spread[0]) > 0.35 * spread[0]


def test_parts_that_disagree_are_counted():
    first, second = [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]
    chains = np.array([[first] * 50, [first] * 50, [second] * 50, [first] * 50])
    error = monte_carlo_error(estimate(chains, rng=1), rng=1)
    assert error.n_clusters == (2, 2, 3, 2)
    assert error.same == 0.75
    assert "3 of 4 parts of the draws give this partition" in repr(error)
    sure = monte_carlo_error(estimate([first] * 100, rng=1), rng=1)
    assert (sure.same, sure.expected_loss, sure.radius) == (1, 0, 0)


def test_bad_input_is_named():
    with pytest.raises(TypeError, match=r"needs a result of partita\.estimate, not list"):
        monte_carlo_error([0, 0, 1])
    weighted = estimate(as_sample([[0, 0, 1], [0, 1, 1]], [1, 2]), rng=1)
    with pytest.raises(ValueError, match="draws of equal weight"):
        monte_carlo_error(weighted)
    with pytest.raises(ValueError, match="too few for 2 blocks"):
        monte_carlo_error(estimate([[0, 0, 1]], rng=1))


@pytest.mark.parametrize("kept", [0.0, 0.7])
def test_the_error_of_the_radius_is_right_where_it_takes_few_values(kept):
    """Seven items: the radius of other chains is one of five values, and quantiles of batches vary too little."""
    rng = np.random.default_rng(1)
    base, radii, errors, balls = np.array([0, 0, 0, 1, 1, 2, 2]), [], [], []
    for _ in range(60):
        draws = np.where(rng.random((1500, 7)) < 0.12, rng.integers(4, size=(1500, 7)), base)
        last = np.maximum.accumulate(np.where(rng.random(1500) < kept, 0, np.arange(1500)))
        best = pt.estimate(draws[last], "vi", rng=1, search=pt.Search(runs=1), check_draws=False)
        ball = pt.credible_ball(best)
        radii.append(ball.radius)
        balls.append(ball.standard_error)
        errors.append(pt.monte_carlo_error(best, parts=2, search=pt.Search(runs=1), rng=1).radius)
    assert 0.7 < np.mean(errors) / np.std(radii) < 1.4
    assert 0.7 < np.mean(balls) / np.std(radii) < 1.4


def test_the_largest_distance_has_no_standard_error():
    best = pt.estimate(pt.datasets.make_draws(8, 200, 3, rng=1), rng=1, check_draws=False)
    error = pt.monte_carlo_error(best, level=1, parts=2, rng=1)
    assert np.isnan(error.radius)
    assert "radius" not in repr(error)
