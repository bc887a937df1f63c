"""Where the limit on clusters binds: the same answer from different seeds and threads, and the number of runs made."""

import numpy as np
import pytest

import partita as pt
from partita.datasets import make_draws
from support.enumerated import least, tables

LOSSES = [pt.Binder(0.5, 1.5), pt.VI(0.5, 1.5), pt.NVI()]


@pytest.fixture(scope="module")
def hard():
    """Draws of many clusters, of which the estimate may have few: runs end at different partitions."""
    return pt.as_sample(make_draws(60, 200, 15, rng=3))


def search(runs=None, limit=6, threads=1):
    return pt.Search(runs=runs, max_clusters=limit, n_jobs=threads)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_answer_is_the_same_on_any_number_of_threads(hard, loss):
    alone, together = (
        pt.estimate(hard, loss, search=search(threads=threads), rng=1, check_draws=False) for threads in (1, 3)
    )
    assert np.array_equal(alone.labels, together.labels)
    assert [run.loss for run in alone.runs] == [run.loss for run in together.runs]
    assert alone.n_clusters <= 6
    assert alone.expected_loss == pytest.approx(pt.expected_loss(alone.labels, hard, loss), rel=1e-12)
    assert min(run.loss for run in alone.runs) == pytest.approx(alone.expected_loss, rel=1e-6)


def test_sixteen_runs_are_sixteen(hard):
    loss = pt.Binder(0.5, 1.5)
    assert pt.estimate(hard, loss, search=search(16), rng=1, check_draws=False).n_runs == 16
    by_default = {pt.estimate(hard, loss, search=search(), rng=seed, check_draws=False).n_runs for seed in range(4)}
    assert by_default <= {16, 48}


def test_more_runs_are_made_only_where_they_disagree():
    easy = pt.as_sample(make_draws(60, 200, 4, rng=1))
    assert pt.estimate(easy, "binder", rng=1, check_draws=False).n_runs == 16


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_all_partitions_within_the_limit_is_found(loss, seed):
    rng = np.random.default_rng(seed)
    draws = rng.integers(0, 6, (12, 8))
    weights = (loss.a, loss.b) if hasattr(loss, "a") else ()
    best = least(tables(draws)[loss.name](*weights), np.ones(12), 8, max_clusters=3)
    found = pt.estimate(draws, loss, search=search(limit=3), rng=seed, check_draws=False)
    assert found.n_clusters <= 3
    assert found.expected_loss == pytest.approx(best, rel=1e-9)


@pytest.mark.slow
def test_more_items_than_every_start_can_search_with_tabu_have_a_population():
    """Thirty clusters in ten: the runs of 2,100 items end 2 % above what their population finds."""
    many = pt.as_sample(make_draws(2100, 60, 30, rng=3))
    loss = pt.Binder(0.5, 1.5)
    found = pt.estimate(many, loss, search=search(limit=10), rng=1, check_draws=False)
    few = pt.estimate(many, loss, search=search(7, limit=10), rng=1, check_draws=False)  # too few to insist
    assert found.n_clusters == 10
    assert found.n_runs == 16
    assert found.expected_loss < 0.99 * few.expected_loss
