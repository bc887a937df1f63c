"""Simulation-based calibration of a table with gaps (Talts et al. 2018), with split–merge moves and seeded starts.

Partition, parameters and data are drawn from the model; among thinned draws of the posterior, the rank of every
statistic of the truth is uniform. A start that biased the draws would be seen.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import mixture_reference as reference
import table_reference as tables
from partita.models import MixtureDPM

pytestmark = pytest.mark.filterwarnings("ignore:.*rows have no observed cell")

ITEMS, RANKS = 24, 19
ALPHA, SHAPE, RATE, WEIGHT, LEVELS = 1.2, 1.5, 0.3, 0.8, ("a", "b", "c")


def truth_of(rng):
    """Labels, and a table with gaps, from the model. Columns of counts and levels only: the base measure of numbers is
    centred at their mean, which is not known before they are drawn."""
    labels = [0]
    for _ in range(1, ITEMS):
        weights = np.append(np.bincount(labels), ALPHA)
        labels.append(int(rng.choice(len(weights), p=weights / weights.sum())))
    labels, clusters = np.array(labels), max(labels) + 1
    rates = rng.gamma(SHAPE, 1 / RATE, (clusters, 2))
    shares = rng.dirichlet([WEIGHT] * len(LEVELS), (clusters, 2))
    table = {}
    for j in range(2):
        counts = rng.poisson(rates[labels, j]).astype(float)
        codes = np.array([rng.choice(len(LEVELS), p=shares[k, j]) for k in labels])
        gaps = rng.random((2, ITEMS)) < 0.2
        table[f"count{j}"] = np.where(gaps[0], np.nan, counts)
        levels = [None if gap else LEVELS[code] for gap, code in zip(gaps[1], codes, strict=True)]
        table[f"level{j}"] = pd.Categorical(levels, categories=LEVELS)  # all are known, used or not
    return labels, pd.DataFrame(table)


def statistics(labels, log_density):
    sizes = np.bincount(labels) / len(labels)
    return [len(sizes), -(sizes * np.log(sizes)).sum(), float(labels[0] == labels[1]), log_density]


def log_density_of(labels, table):
    """Of the truth, from the formulas."""
    total = reference.log_crp(tuple(np.bincount(labels)), ALPHA)
    for k in range(labels.max() + 1):
        for j in range(2):
            total += tables.log_count(table[f"count{j}"].to_numpy()[labels == k], SHAPE, RATE)
            total += tables.log_levels(table[f"level{j}"].cat.codes.to_numpy()[labels == k], len(LEVELS), WEIGHT)
    return total


def ranks(replications, thin=12, **wrong):
    rng = np.random.default_rng(8)
    families = {"count0": "count", "count1": "count"}
    right = {"alpha": ALPHA, "shape": SHAPE, "rate": RATE, "weight": WEIGHT}
    rows = []
    for replication in range(replications):
        labels, table = truth_of(rng)
        model = MixtureDPM(families, **{**right, **wrong})
        chain = model.sample(table, draws=RANKS, warmup=60, thin=thin, chains=1, rng=replication, n_jobs=1)
        drawn = [statistics(z, d) for z, d in zip(chain.labels[0], chain.log_density[0], strict=True)]
        own = statistics(labels, log_density_of(labels, table))
        ties = rng.random((RANKS + 1, len(own))) * 1e-9  # equal values are in random order
        everyone = np.array([own, *drawn]) + ties
        rows.append((everyone[0] > everyone[1:]).sum(axis=0))
    return np.array(rows)


def p_values(found):
    """Of uniform ranks, by χ² in five bins; one for each statistic."""
    bins = (RANKS + 1) // 5
    return [stats.chisquare(np.bincount(column // 4, minlength=bins)).pvalue for column in found.T]


def test_ranks_are_uniform():
    assert min(p_values(ranks(60))) > 0.05 / 4 / 10


@pytest.mark.slow
def test_ranks_are_uniform_in_many_replications():
    assert min(p_values(ranks(400, thin=25))) > 0.05 / 4 / 10


def test_a_wrong_concentration_is_noticed():
    """The seeded fault: the sampler believes in three times the concentration."""
    assert min(p_values(ranks(60, alpha=3 * ALPHA))) < 1e-6
