"""The bound for VI by clusters: never above the enumerated optimum, no false proof, and a fault is found."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pytest

from partita import _core
from partita.draws.sample import as_sample
from partita.estimation.estimate import estimate
from partita.losses.losses import VI
from partita.losses.problem import core_sample
from partita.partitions.lattice import enumerate_partitions
from partita.proofs import set_partition
from partita.proofs.cluster_duals import Shares
from partita.proofs.set_partition import set_partition_bound
from partita.proofs.work import ignore
from partita.search.deadline import NEVER
from partita.search.settings import Search
from support import reference as ref
from support.strategies import random_sample


def problems(count, rng):
    """Small samples, some with weights of zero, and VI with ratios of its weights over three decades."""
    for _ in range(count):
        rows, weights = random_sample(int(rng.integers(2, 8)), int(rng.integers(1, 14)), rng)
        if rng.random() < 0.3:
            weights[rng.integers(len(weights), size=len(weights) // 2)] = 0
        yield as_sample(rows, weights), VI(10 ** rng.uniform(-1.5, 1.5), 1)


def costs_of(sample, loss):
    return _core.cluster_costs(core_sample(sample), loss.a, loss.b)


def subsets(n):
    return [[i for i in range(n) if bits >> i & 1] for bits in range(1, 2**n)]


def by_clusters(sample, loss, labels):
    return set_partition_bound(sample, loss, np.asarray(labels), 20.0, 1, ignore)[0]


def largest_excess(count):
    """How far the bound is above the optimum, over all problems and from good and bad partitions; and the proofs."""
    excess, proofs = [], 0
    for sample, loss in problems(count, np.random.default_rng(5)):
        best = estimate(sample, loss, "enumerate")
        for labels in (best.labels, sample.labels[0].astype(np.int64)):
            value = by_clusters(sample, loss, labels)
            excess.append((value - best.expected_loss) / max(best.expected_loss, 1e-3))
        proofs += by_clusters(sample, loss, best.labels) >= best.expected_loss * (1 - 1e-7)
    return max(excess), proofs / count


@pytest.mark.parametrize("count", [60, pytest.param(2000, marks=pytest.mark.slow)])
def test_clusters_are_never_above_the_optimum_and_mostly_prove_it(count):
    excess, proven = largest_excess(count)
    assert excess <= 1e-9
    assert proven > 0.8


def test_a_seeded_fault_is_found(monkeypatch):
    """Pricing that always says yes."""
    monkeypatch.setattr(set_partition, "_price", lambda *given: (True, [], False))
    monkeypatch.setattr(set_partition.ClusterDuals, "solve", lambda program, *given: Shares(program.own, 0.0, None))
    assert largest_excess(40)[0] > 1e-6


def test_costs_of_clusters_sum_to_the_expected_loss():
    for sample, loss in problems(10, np.random.default_rng(1)):
        costs, n = costs_of(sample, loss), sample.n_items
        for labels in list(enumerate_partitions(n))[::7]:
            groups = [np.flatnonzero(labels == k).tolist() for k in np.unique(labels)]
            total = (costs.constant() + sum(map(costs.cost, groups))) / n
            expected = sample.weights @ [ref.vi(row, labels, loss.a, loss.b) for row in sample.labels.tolist()]
            assert total == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("threads", [1, 3])
def test_pricing_is_right_for_any_shares(threads):
    """Shares at the edge of what the clusters allow: it is proven exactly if no subset is violated."""
    rng = np.random.default_rng(8)
    verdicts = []
    for sample, loss in problems(60, rng):
        costs, n = costs_of(sample, loss), sample.n_items
        shares = rng.normal(size=n)
        room = min((costs.cost(s) - shares[s].sum()) / len(s) for s in subsets(n))
        for margin in (1e-6, -1e-6, 0.1, -0.1):
            duals = shares + room - margin
            proven, negative, _, interrupted = costs.price(duals, rng.integers(3, size=n).tolist(), 60.0, threads)
            assert not interrupted
            assert proven == (margin > 0)
            assert all(costs.cost(items) < duals[items].sum() for items in negative)
            verdicts.append(proven)
    assert 0 < sum(verdicts) < len(verdicts)


#: Of the sizes 1 to 12; with one home, each of them has two families that are not parts of others.
N_CLASSES = 7


def test_families_that_are_split_are_priced_right():
    """Twelve items with as large shares as all subsets allow, so that there are many near ties."""
    rng, n = np.random.default_rng(3), 12
    all_of_them = subsets(n)
    members = np.array([np.isin(np.arange(n), items) for items in all_of_them])
    splits = 0
    for ratio in (0.5, 1, 2, 4):
        astray = rng.random((25, n)) < 0.35
        sample = as_sample(np.where(astray, rng.integers(4, size=(25, n)), np.repeat([0, 1, 2], 4)))
        costs = costs_of(sample, VI(ratio, 1))
        values = np.array([costs.cost(items) for items in all_of_them])
        shares = np.full(n, (values / members.sum(axis=1)).min())
        for item in rng.permutation(n):
            shares[item] += (values - members @ shares)[members[:, item]].min()
        for margin in (1e-6, -1e-6):
            duals = shares - margin
            for homes in ([0] * n, rng.integers(3, size=n).tolist()):
                proven, negative, families, _ = costs.price(duals, homes, 60.0, 1)
                assert proven == (margin > 0)
                assert all(costs.cost(items) < duals[items].sum() for items in negative)
                splits += max(homes) == 0 and families > 2 * N_CLASSES
    assert splits > 0


def noisy_sample(rng):
    """Draws around one partition of 24 items, in each of which a third of the items have gone astray."""
    base = np.repeat([0, 1, 2], 8)
    return as_sample(np.where(rng.random((60, 24)) < 0.3, rng.integers(3, size=(60, 24)), base))


def test_the_proof_does_not_depend_on_threads():
    sample = noisy_sample(np.random.default_rng(2))
    labels = estimate(sample, "vi", rng=1).labels
    proofs = set_partition._Proofs.of(sample, VI(), labels, 1)
    shares = proofs._shares(0.0, NEVER).of_items - 1e-6
    answers = [proofs.costs.price(shares, labels.tolist(), 60.0, threads) for threads in (1, 3)]
    assert answers[0] == answers[1]
    proven, _, families, _ = answers[0]
    assert proven
    assert families > 10


def test_ctrl_c_ends_the_proof():
    sample = as_sample(np.random.default_rng(2).integers(6, size=(2000, 120)))
    labels = estimate(sample, "vi", search=Search(runs=1), rng=1).labels
    timer = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])
    timer.start()
    started = time.monotonic()
    try:
        value, interrupted = set_partition_bound(sample, VI(), labels, 1000.0, 1, ignore)
        timer.join()
    except KeyboardInterrupt:  # it was done before
        value, interrupted = 0.0, True
    assert interrupted
    assert time.monotonic() - started < 60
    assert value >= 0
