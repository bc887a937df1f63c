"""Bounds under a limit on clusters: never above the best partition that obeys it, and no weaker than without it."""

from __future__ import annotations

import math
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from partita import _core
from partita.draws.sample import as_sample
from partita.estimation.estimate import estimate
from partita.losses.expected import expected_loss
from partita.losses.losses import LOSSES, VI, Binder
from partita.losses.problem import core_sample
from partita.proofs import bounds, set_partition
from partita.proofs.bounds import Bound, lower_bound, with_proof
from partita.proofs.cluster_duals import Shares
from partita.proofs.set_partition import set_partition_bound
from partita.proofs.vi_bounds import _rows
from partita.proofs.work import Work, ignore
from partita.results.present import present
from partita.search.constraints import Constraints
from partita.search.exact import bound_limited_binder
from partita.search.settings import Search
from support.strategies import random_sample


def problems(count, rng):
    """Small samples, some in two components or with weights of zero, weights a over three decades, and a limit."""
    for _ in range(count):
        n = int(rng.integers(4, 9))
        rows, weights = random_sample(n, int(rng.integers(1, 14)), rng)
        rows = np.array(rows)
        if rng.random() < 0.3:
            weights[rng.integers(len(weights), size=len(weights) // 2)] = 0
        if rng.random() < 0.3:
            rows[:, n // 2 :] += n
        yield as_sample(rows, weights), 10 ** rng.uniform(-1.5, 1.5), int(rng.integers(1, n))


def best_within(sample, loss, limit):
    return estimate(sample, loss, "enumerate", Search(max_clusters=limit))


def obeying_draw(sample, limit):
    """A partition that obeys the limit and is not the best one."""
    return np.minimum(sample.labels[0].astype(np.int64), limit - 1)


def by_clusters(sample, loss, labels, limit):
    return set_partition_bound(sample, loss, labels, 20.0, 1, ignore, max_clusters=limit)[0]


def by_rows(sample, loss, labels, limit):
    return _rows(sample, loss, labels, Work(0.02, 1, ignore), limit)


def by_pairs(sample, loss, labels, limit):
    return bound_limited_binder(sample, loss, 20.0, labels, limit).value


KINDS = {"clusters": (by_clusters, VI), "rows": (by_rows, VI), "pairs": (by_pairs, Binder)}


def largest_excess(kind, count, seed=5):
    """How far a bound is above the optimum, from good and bad partitions; and the share of problems that it proves."""
    bound, loss_type = KINDS[kind]
    excess, proofs = [], 0
    for sample, a, limit in problems(count, np.random.default_rng(seed)):
        loss = loss_type(a, 1)
        best = best_within(sample, loss, limit)
        values = [bound(sample, loss, labels, limit) for labels in (best.labels, obeying_draw(sample, limit))]
        excess += [(value - best.expected_loss) / max(best.expected_loss, 1e-3) for value in values]
        proofs += values[0] >= best.expected_loss * (1 - 1e-7) - 1e-12
    return max(excess), proofs / count


@pytest.mark.parametrize(("kind", "proven"), [("clusters", 0.9), ("pairs", 0.9), ("rows", 0.2)])
@pytest.mark.parametrize("count", [40, pytest.param(2000, marks=pytest.mark.slow)])
def test_bounds_are_never_above_the_optimum_and_mostly_prove_it(kind, proven, count):
    excess, share = largest_excess(kind, count)
    assert excess <= 1e-9
    assert share > proven


@pytest.mark.parametrize("kind", KINDS)
def test_a_limit_that_is_counted_wrongly_is_found(kind, monkeypatch):
    """λ (K - 1) is given back instead of λ K, and the pairs are those of K - 1 clusters."""
    bound, loss_type = KINDS[kind]
    monkeypatch.setitem(KINDS, kind, (lambda *given: bound(*given[:-1], max(given[-1] - 1, 1)), loss_type))
    assert largest_excess(kind, 40)[0] > 1e-6


def test_pricing_that_always_says_yes_is_found(monkeypatch):
    monkeypatch.setattr(set_partition, "_price", lambda *given: (True, [], False))
    monkeypatch.setattr(
        set_partition.ClusterDuals,
        "solve",
        lambda program, *given: Shares(program.own + program.part, 1.0, program.max_clusters),
    )
    assert largest_excess("clusters", 40)[0] > 1e-6


def test_a_clique_with_a_pair_too_many_is_found(monkeypatch):
    monkeypatch.setattr("partita.search.clique_cuts.least_pairs_together", lambda count, limit: count * (count - 1) / 2)
    assert largest_excess("pairs", 40)[0] > 1e-6


@pytest.mark.parametrize("price", [0.0, 0.3, 5.0, 200.0])
def test_rows_hold_for_every_price(price):
    for sample, a, limit in problems(25, np.random.default_rng(11)):
        best = best_within(sample, VI(a, 1), limit).expected_loss
        for stop in (1, 7, 25, 60):
            value, *_ = _core.row_bound(
                core_sample(sample), a, 1, 1e9, 1, max_passes=stop, per_cluster=price, max_clusters=limit
            )
            assert value <= best + 1e-9


@pytest.mark.parametrize("price", [0.5, 4.0])
def test_pricing_is_right_for_any_shares_and_price(price):
    rng = np.random.default_rng(8)
    for sample, a, _ in problems(25, rng):
        costs, n = _core.cluster_costs(core_sample(sample), a, 1), sample.n_items
        subsets = [[i for i in range(n) if bits >> i & 1] for bits in range(1, 2**n)]
        shares = rng.normal(size=n)
        room = min((costs.cost(s) + price - shares[s].sum()) / len(s) for s in subsets)
        for margin in (1e-6, -1e-6, 0.1, -0.1):
            duals = shares + room - margin
            proven, negative, *_ = costs.price(duals, rng.integers(3, size=n).tolist(), 60.0, 1, price)
            assert proven == (margin > 0)
            assert all(costs.cost(items) + price < duals[items].sum() for items in negative)


@pytest.mark.parametrize("loss_type", [VI, Binder])
@pytest.mark.parametrize("enumerates", [True, False])
def test_bounds_of_estimates_are_valid_and_no_weaker_than_without_the_limit(loss_type, enumerates, monkeypatch):
    if not enumerates:
        monkeypatch.setattr(bounds, "are_few", lambda *_: False)
    for sample, a, limit in problems(12, np.random.default_rng(2)):
        best = replace(best_within(sample, loss_type(a, 1), limit), proven=False)
        labels = obeying_draw(sample, limit)
        other = replace(best, labels=labels, expected_loss=float(expected_loss(labels, sample, best.loss)))
        unlimited = lower_bound(replace(best, search=Search()), 2.0).value
        for est in (best, other):
            found = lower_bound(est, 2.0)
            assert found.value <= best.expected_loss + 1e-9
            assert found.value >= min(unlimited, est.expected_loss) - 1e-9
            assert found.max_clusters in (None, limit)
        assert lower_bound(best, 2.0).proven


@pytest.mark.parametrize("loss", LOSSES)
def test_no_limit_and_a_limit_that_excludes_nothing_are_the_same(loss):
    sample = as_sample(np.random.default_rng(3).integers(3, size=(9, 6)))
    for limit in (None, 6, 9, math.inf):
        found = estimate(sample, loss, search=Search(max_clusters=limit), rng=1).bound(1)
        assert found.max_clusters is None
        assert "into at most" not in str(found)


@pytest.mark.parametrize("loss", [name for name in LOSSES if name != "zero-one"])
def test_one_cluster_is_the_only_partition(loss):
    one = estimate(np.random.default_rng(3).integers(4, size=(9, 30)), loss, search=Search(max_clusters=1), rng=1)
    found = one.bound(1)
    assert (found.proven, found.value, found.max_clusters) == (True, one.expected_loss, 1)


@pytest.mark.parametrize("loss", ["nvi", "nid", "omari", "id", "zero-one"])
def test_losses_without_a_limited_bound_have_the_one_over_all_partitions(loss):
    sample = as_sample(np.random.default_rng(3).integers(4, size=(9, 6)))
    few = replace(estimate(sample, loss, search=Search(max_clusters=2), rng=1), proven=False)
    found = few.bound(1)
    assert found.max_clusters is None
    assert found.value <= estimate(sample, loss, "enumerate").expected_loss + 1e-9


def noisy_draws(n_clusters, size=6, noise=0.2, draws=60):
    rng = np.random.default_rng(3)
    base = np.repeat(np.arange(n_clusters), size)
    return np.where(rng.random((draws, base.size)) < noise, rng.integers(n_clusters, size=(draws, base.size)), base)


@pytest.mark.parametrize("loss", [VI(), Binder(0.5, 1.5)], ids=str)
def test_one_cluster_too_few_is_proven_best_under_the_limit(loss):
    """More items than can be enumerated; without the limit the bound is far below."""
    few = estimate(noisy_draws(4), loss, search=Search(max_clusters=3), rng=1)
    found = few.bound(30)
    assert found.proven
    assert found.max_clusters == 3
    assert lower_bound(replace(few, search=Search()), 5).gap > 0.05


def test_a_proof_without_the_limit_says_more():
    rows = noisy_draws(3)
    best = estimate(rows, "vi", search=Search(max_clusters=3), rng=1)
    found = best.bound(30)
    assert found.proven
    assert found.max_clusters is None
    assert with_proof(best, found).cautions == ()


def test_words_and_warnings_name_the_limit():
    few = estimate(noisy_draws(4), "vi", search=Search(max_clusters=3), rng=1)
    found = few.bound(30)
    assert (
        str(found) == "No partition into at most 3 clusters has a smaller expected loss: the estimate is provably"
        " optimal."
    )
    open_gap = Bound(0.5, 0.05, "rows", False, 1)
    assert (
        str(open_gap) == "No partition into at most 1 cluster has an expected loss that is smaller by more than 5.00%."
    )
    proven = with_proof(few, found)
    assert proven.proven
    assert any("as many clusters as were allowed" in sentence for sentence in proven.notes)
    assert "no partition into at most 3 clusters is better" in repr(proven)
    said = present(few, [found]).details
    assert "of all partitions into at most 3 clusters, which is proven" in said
    assert "No partition into at most 3 clusters has a smaller" in said


def test_components_of_a_proof_under_a_limit_are_not_proven():
    rows = [[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 2, 2]]
    few = estimate(rows, "vi", "enumerate", Search(max_clusters=2))
    assert few.proven
    assert few.components.proven < few.components.count


def test_a_proof_under_constraints_is_none_for_all_partitions():
    rows = [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    kept_apart = estimate(rows, "vi", "enumerate", constraints=Constraints(apart=[(0, 1)]))
    assert kept_apart.proven
    found = kept_apart.bound(1)
    assert not found.proven
    assert found.value <= estimate(rows, "vi", "enumerate").expected_loss + 1e-9


def test_missing_labels_leave_the_bound_without_a_limit():
    sample = as_sample([[0, 0, -1, 2], [0, 1, 1, 2]], missing=-1)
    few = replace(estimate(sample, "vi", "enumerate", Search(max_clusters=2)), proven=False)
    assert few.bound(0.5).max_clusters is None


@pytest.mark.parametrize("loss", [VI(), Binder(0.3, 1.7)], ids=str)
def test_the_time_limit_is_kept(loss):
    few = estimate(np.random.default_rng(1).integers(6, size=(300, 120)), loss, search=Search(max_clusters=3, runs=1))
    started = time.process_time()
    found = few.bound(1.0)
    assert time.process_time() - started < 20
    assert 0 <= found.value <= few.expected_loss


@pytest.mark.parametrize("loss", [VI(), Binder(0.3, 1.7)], ids=str)
def test_ctrl_c_under_a_limit_gives_the_bound_so_far(loss):
    rows = np.random.default_rng(1).integers(6, size=(300, 120))
    few = estimate(rows, loss, search=Search(max_clusters=3, runs=1), rng=1)
    timer = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])
    timer.start()
    started = time.monotonic()
    found = few.bound(1000)
    timer.join()
    assert time.monotonic() - started < 60
    assert 0 <= found.value <= few.expected_loss
