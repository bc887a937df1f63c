"""Geweke's joint test of the collapsed block sampler: (K, labels, network) forwards, and by the sampler."""

import struct

import numpy as np
import pytest

from partita import _core
from support.geweke import differences, first_appearance

NODES, N0, ETA0, ZETA0 = 5, 0.8, 0.7, 1.3
P_OF_K = np.array([0.3, 0.3, 0.2, 0.2])


def draw_labels(rng):
    k = 1 + rng.choice(len(P_OF_K), p=P_OF_K)
    return k, rng.choice(k, NODES, p=rng.dirichlet(np.full(k, N0)))


def draw_network(rng, k, labels, affiliation):
    rates = rng.beta(ETA0, ZETA0, (k, k))
    if affiliation:
        inside, between = rng.beta(ETA0, ZETA0, 2)
        rates = np.where(np.eye(k, dtype=bool), inside, between)
    network = (rng.random((NODES, NODES)) < rates[np.ix_(labels, labels)]).astype(int)
    np.fill_diagonal(network, 0)
    return network


def block_model(network, affiliation):
    arrays = _core.NetworkArrays(NODES, NODES, True, 1, 1)
    for direction, matrix in enumerate((network, network.T)):
        start = np.append(0, np.cumsum(matrix.sum(axis=1))).astype(np.int64)
        to = np.nonzero(matrix)[1].astype(np.uint32)
        arrays.set_edges(direction, start, to, np.ones(len(to), np.uint32))
    return _core.BlockModel(arrays, False, ETA0, ZETA0, False, affiliation, N0, N0)


def sampler_state(rng, k, labels):
    """A state of the core's sampler: sweeps, accepted proposals, random numbers, K of both sides, labels."""
    random = rng.integers(1, 2**63, 4)
    return struct.pack(f"=2Q4Q2QQ{NODES}I", 0, 0, *random, k, 0, NODES, *labels)


def sweep(rng, network, k, labels, affiliation, split_merge_rate, p_of_k):
    log_k = np.log(p_of_k)
    model = block_model(network, affiliation)
    sampler = _core.BlockSampler(model, log_k, log_k, split_merge_rate, 1, 1, 1, 0, 0)
    sampler.restore(sampler_state(rng, k, first_appearance(labels)[0]))
    drawn, stats = sampler.advance(1, 0, 1)
    return int(stats[0, list(sampler.stat_names).index("k")]), drawn[0].astype(int)


def summary(k, labels, network):
    together = labels[:, None] == labels
    return [
        k,
        len(set(labels.tolist())),
        together[0, 1],
        network.mean(),
        (network * together).mean(),
        (network * network.T).mean(),
    ]


def forwards(rng, affiliation, n):
    rows = []
    for _ in range(n):
        k, labels = draw_labels(rng)
        rows.append(summary(k, labels, draw_network(rng, k, labels, affiliation)))
    return np.array(rows, float)


def successive(rng, affiliation, split_merge_rate, n, p_of_k=P_OF_K):
    k, labels = draw_labels(rng)
    rows = []
    for _ in range(n):
        network = draw_network(rng, k, labels, affiliation)
        k, labels = sweep(rng, network, k, labels, affiliation, split_merge_rate, p_of_k)
        rows.append(summary(k, labels, network))
    return np.array(rows, float)


@pytest.mark.parametrize("split_merge_rate", [0.0, 1.0])
@pytest.mark.parametrize("affiliation", [False, True], ids=["blocks", "affiliation"])
def test_both_ways_give_the_same_joint_distribution(affiliation, split_merge_rate):
    rng = np.random.default_rng(3)
    z = differences(forwards(rng, affiliation, 4000), successive(rng, affiliation, split_merge_rate, 8000))
    assert np.abs(z).max() < 4.0, z


def test_a_wrong_prior_is_noticed():
    """The seeded fault: the sampler believes in fewer clusters."""
    rng = np.random.default_rng(3)
    z = differences(forwards(rng, False, 4000), successive(rng, False, 1.0, 4000, np.array([0.6, 0.2, 0.1, 0.1])))
    assert np.abs(z).max() > 6.0
