"""Constraints that the unconstrained estimate obeys cost nothing."""

import numpy as np
import pytest

import partita as pt
from support import pair_reference as ref

LOSSES = {
    "binder": pt.Binder(),
    "vi": pt.VI(),
    "vi(2, 1)": pt.VI(2.0, 1.0),
    "vi(0.5, 1)": pt.VI(0.5, 1.0),
    "nvi": pt.NVI(),
    "id": pt.ID(),
    "nid": pt.NID(),
    "omari": pt.OneMinusARI(),
}


def random_draws(rng, n):
    """Noise, or noisy copies of one partition."""
    n_draws, groups = int(rng.integers(3, 40)), int(rng.integers(2, 7))
    noise = rng.integers(groups, size=(n_draws, n))
    if rng.random() < 0.4:
        return noise
    return np.where(rng.random(noise.shape) < rng.uniform(0.1, 0.5), noise, rng.integers(groups, size=n))


def obeyed_constraints(rng, labels):
    """Constraints that a partition obeys: a pair apart, and in some problems a pair together or sources."""
    n = len(labels)
    pairs = rng.permutation(np.argwhere(np.triu(np.ones((n, n)), 1) > 0))
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    apart, together = pairs[~same][:1].tolist(), pairs[same][: int(rng.random() < 0.3)].tolist()
    rank = np.array([(labels[:i] == labels[i]).sum() for i in range(n)])
    sources = [None if rng.random() < 0.5 else int(r) for r in rank] if rng.random() < 0.2 else None
    return {"apart": apart, "together": together, "one_per": sources}


def check_free(name, seed):
    """Equal without a limit on clusters; with the default limit, which constraints do not have, never worse."""
    rng = np.random.default_rng([seed, len(name)])
    draws = random_draws(rng, int(rng.choice([6, 8, 10, 13, 16, 20, 30, 40])))
    for limit in (np.inf, None):
        options = {"search": pt.Search(max_clusters=limit, n_jobs=1), "rng": seed, "check_draws": False}
        free = pt.estimate(draws, LOSSES[name], **options)
        asked = obeyed_constraints(rng, free.labels)
        bound = pt.estimate(draws, LOSSES[name], constraints=pt.Constraints(**asked), **options)
        assert ref.obeys(bound.labels, **asked)
        assert bound.expected_loss <= free.expected_loss * (1 + 1e-9), (name, seed)
        assert limit is None or bound.expected_loss >= free.expected_loss * (1 - 1e-9), (name, seed)


@pytest.mark.parametrize("name", LOSSES)
def test_a_constraint_that_does_not_bind_costs_nothing(name):
    for seed in range(12):
        check_free(name, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOSSES)
def test_a_constraint_that_does_not_bind_costs_nothing_in_500_problems(name):
    for seed in range(500):
        check_free(name, seed)


def test_six_items_whose_every_run_ended_at_single_items():
    draws = [[0, 1, 0, 0, 2, 3], [0, 0, 1, 2, 3, 4], [0, 1, 1, 2, 3, 0]]
    rule = pt.Constraints(apart=[(5, 1)])
    best = pt.estimate(draws, pt.VI(1.8114431703219824), constraints=rule, rng=1, check_draws=False)
    assert best.labels.tolist() == [0, 0, 0, 1, 2, 3]
    assert best.proven
