"""Pairs that cost the same together and apart: the components follow from the pairs, however they were summed."""

import numpy as np
import pandas as pd
import pytest

import partita as pt
from partita import _core

PROBABILITIES = np.round(np.random.default_rng(5).uniform(0.02, 0.98, 40), 3)
LOSSES = [pt.Binder(), pt.Binder(1.0, 3.0), pt.VILowerBound(), pt.ApproximateARI()]
ONE_JOB = pt.Search(runs=2, n_jobs=1)


def pairs_of(rows, **how):
    return pt.as_similarity(pd.DataFrame(rows, columns=["left", "right", "p"]), **how)


@pytest.mark.parametrize("rounding", [-3, -1, 0, 1, 3])
def test_a_pair_at_the_threshold_joins_no_component(rounding):
    """The threshold of the approximate ARI is a mean of probabilities: its last digits depend on their order."""
    for p in PROBABILITIES:
        graph = _core.PairGraph(np.array([0, 1, 2]), np.array([1, 0], np.uint32), np.array([p, p]))
        objective = _core.ThresholdObjective(p + rounding * np.spacing(p), 0.0)
        options = _core.PairOptions(2, 1, float("inf"), 1, 1)
        nothing = _core.PairConstraints(None, None, None, None, 2**32 - 1)
        labels, component, *_ = _core.search_pairs(graph, objective, nothing, np.zeros((0, 2), np.uint32), options)
        assert labels.tolist() == component.tolist() == [0, 1]


@pytest.mark.parametrize("n", [3, 5, 7])
def test_one_probability_for_all_pairs_is_a_tie_that_leaves_all_apart(n):
    """Also where the pairs that are not listed have it: rounding puts none of them above the threshold."""
    names = [f"r{i}" for i in range(n)]
    for p in PROBABILITIES:
        found = pt.estimate(pairs_of([("r0", "r1", p)], names=names, default=p), "pear", search=ONE_JOB, rng=1)
        assert found.components.count == n
        assert found.proven
        split = pt.Binder(a=1 - p, b=p)  # its threshold is p too
        found = pt.estimate(pairs_of([("r0", "r1", p)], names=names, default=p), split, search=ONE_JOB, rng=1)
        assert found.components.count == n


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_components_of_ties_depend_on_neither_order_nor_names_nor_seed(loss):
    """Probabilities of 1/4, 1/2 and 3/4, at which the thresholds of Binder's losses are: many ties."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        n = int(rng.integers(2, 9))
        i, j = np.triu_indices(n, 1)
        kept = rng.random(i.size) < 0.5
        p = rng.choice([0.25, 0.5, 0.75], kept.sum())
        order = rng.permutation(n)
        there = pairs_of([*zip(i[kept], j[kept], p, strict=True)], names=[str(k) for k in range(n)])
        moved = pairs_of([*zip(i[kept], j[kept], p, strict=True)][::-1], names=[str(k) for k in order])
        one, other = (pt.estimate(x, loss, search=ONE_JOB, rng=s) for s, x in enumerate((there, moved)))
        assert one.expected_loss == pytest.approx(other.expected_loss, abs=1e-12)
        assert np.array_equal(pt.canonical(one.components.labels[order]), other.components.labels)
        for found in (one, other):  # no cluster is in two components
            assert pt.refines(found.labels, found.components.labels)
