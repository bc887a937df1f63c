"""On real posterior draws the default search is never worse than the estimators that it replaces."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt

SETS = ["galaxy", "iris", "cls15", "gaskins_like", "simce_like"]
OTHERS = {"draws": None, "medv": None, "pear": None, "greedy": pt.Search(runs=16)}
QUICK, ALL = ["vi", "binder"], ["vi", "binder", "omari", "nvi", "id", "nid"]


def reference_sample(shared, name: str) -> pt.PartitionSample:
    return pt.as_sample(np.load(shared / "reference" / "draws" / f"{name}.npz")["draws"])


def check_never_worse(sample: pt.PartitionSample, loss: str) -> None:
    ours = pt.estimate(sample, loss, rng=1).expected_loss
    for method, search in OTHERS.items():
        theirs = pt.estimate(sample, loss, method, search, rng=1).expected_loss
        assert ours <= theirs * (1 + 1e-9), f"{method} finds {theirs}, the default {ours}"


@pytest.mark.parametrize("loss", QUICK)
@pytest.mark.parametrize("name", SETS)
def test_never_worse_than_the_rivals(shared, name, loss):
    sample = reference_sample(shared, name)
    thinned = pt.as_sample(sample.to_numpy()[::4])
    check_never_worse(thinned, loss)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ALL)
@pytest.mark.parametrize("name", [*SETS, "large"])
def test_never_worse_than_the_rivals_on_all_draws(shared, name, loss):
    check_never_worse(reference_sample(shared, name), loss)


def test_chains_of_moves_end_where_single_moves_stick(shared):
    """Two runs suffice for the least loss known; without chains this seed ends above it, by two items."""
    found = pt.estimate(reference_sample(shared, "large"), "binder", search=pt.Search(runs=2), rng=1)
    assert found.expected_loss == pytest.approx(0.01555980792, rel=1e-8)


def hard_draws(n_items=60, n_draws=12, n_clusters=6):
    """Labels at random: many partitions are nearly as good as the best one."""
    return np.random.default_rng(3).integers(n_clusters, size=(n_draws, n_items))


@pytest.mark.parametrize(("loss", "known"), [(pt.NVI(), 0.8253652226), (pt.Binder(0.5, 1.5), 0.22845)], ids=str)
def test_moves_of_many_items_reach_what_single_moves_miss(loss, known):
    """Without them two of six seeds missed the best known NVI, and five of six this value of Binder's loss."""
    search = pt.Search(max_clusters=6, n_jobs=1)
    reached = [pt.estimate(hard_draws(), loss, search=search, rng=s, check_draws=False).expected_loss for s in range(6)]
    assert sum(value <= known + 1e-9 for value in reached) >= 5


def test_moves_of_many_items_do_not_depend_on_threads():
    one, two = (
        pt.estimate(hard_draws(), "nvi", search=pt.Search(max_clusters=6, n_jobs=n), rng=3, check_draws=False)
        for n in (1, 2)
    )
    assert one.labels.tolist() == two.labels.tolist()
    assert [row.loss for row in one.runs] == [row.loss for row in two.runs]
