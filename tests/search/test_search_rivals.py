"""On real posterior draws the default search is never worse than the estimators that it replaces."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt

SETS = ["galaxy", "iris", "cls15", "gaskins_like", "simce_like"]
RIVALS = {"draws": None, "medv": None, "pear": None, "greedy": pt.Search(runs=16)}
QUICK, ALL = ["vi", "binder"], ["vi", "binder", "omari", "nvi", "id", "nid"]


def reference_sample(shared, name: str) -> pt.PartitionSample:
    return pt.as_sample(np.load(shared / "reference" / "draws" / f"{name}.npz")["draws"])


def check_never_worse(sample: pt.PartitionSample, loss: str) -> None:
    ours = pt.estimate(sample, loss, rng=1).expected_loss
    for method, search in RIVALS.items():
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
