"""Pair probabilities of NBCE against the truth of simulated ensembles."""

from __future__ import annotations

import numpy as np
from benchmarks.calibration import DESIGNS, simulate, simulation_itself, tenths

import partita as pt
from partita.ensembles import NBCE
from partita.models import Sampling

ENSEMBLES = 4


def mean_difference(counts):
    """Mean absolute difference of stated probability and frequency over pairs, by tenths."""
    return np.abs(counts[:, 2] - counts[:, 1]).sum() / counts[:, 0].sum()


def of_nbce(name, **settings):
    total = np.zeros((10, 3))
    for seed in range(ENSEMBLES):
        base, truth, *_ = simulate(DESIGNS[name], seed)
        model = NBCE(random_state=seed, sampling=Sampling(draws=100, warmup=100, chains=2), **settings).fit(base)
        total += tenths(pt.similarity(model.chain_), truth)
    return mean_difference(total)


def test_pairs_of_dependent_copies_are_together_as_often_as_stated():
    assert of_nbce("B") < 0.02
    assert of_nbce("B", alpha_prior=(1.0, 1.0)) > 0.03  # the seeded fault: ready to open clusters of few items


def test_the_posterior_of_the_simulation_is_calibrated():
    total = np.zeros((10, 3))
    for seed in range(20):
        base, truth, *_ = simulate(DESIGNS["C"], seed)
        total += tenths(simulation_itself(DESIGNS["C"], base), truth)
    assert mean_difference(total) < 0.01


def test_the_posterior_of_the_simulation_is_that_of_its_definition():
    """One item, from all labels that the parents may have had."""
    design = DESIGNS["C"]
    base, *_ = simulate(design, 0)
    k = len(design.shares)

    def passed(label, after, share):
        return (1.0 - share) * (label == after) + share / k

    first, second = np.zeros((2, k))
    for item, shares in ((0, first), (1, second)):
        for cluster in range(k):
            shares[cluster] = design.shares[cluster]
            for group in np.split(base[item], 2):
                shares[cluster] *= sum(
                    passed(cluster, parent, design.noise) * np.prod([passed(parent, y, design.own) for y in group])
                    for parent in range(k)
                )
    expected = first @ second / (first.sum() * second.sum())
    assert np.isclose(simulation_itself(design, base)[0, 1], expected, rtol=1e-12)
