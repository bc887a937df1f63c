"""Geweke's joint distribution test of a table: numbers, counts and levels with gaps in one sampler."""

import numpy as np
import pytest

from partita import _core
from support.geweke import differences

ITEMS, LEVELS, ALPHA = 6, 3, 0.9
MEAN, C, A, B = 0.3, 0.6, 3.0, 1.2
SHAPE, RATE, WEIGHT = 1.5, 0.4, 0.7
GAPS = np.array([[1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 1]], bool)


def draw_partition(rng):
    labels = [0]
    for i in range(1, ITEMS):
        counts = np.append(np.bincount(labels), ALPHA)
        labels.append(int(np.searchsorted(np.cumsum(counts), rng.uniform() * (i + ALPHA))))
    return np.array(labels, np.uint32)


def draw_table(rng, labels):
    """A number, a count and a level of each item; the gaps do not depend on them."""
    clusters = labels.max() + 1
    variances = B / rng.gamma(A, size=clusters)
    means = rng.normal(MEAN, np.sqrt(variances / C))
    rates, shares = rng.gamma(SHAPE, 1 / RATE, clusters), rng.dirichlet([WEIGHT] * LEVELS, clusters)
    numbers = rng.normal(means[labels], np.sqrt(variances[labels]))
    return numbers, rng.poisson(rates[labels]), np.array([rng.choice(LEVELS, p=shares[k]) for k in labels])


def sweep(table, labels, step, split_merge, weight):
    numbers, counts, levels = table
    columns = _core.MixtureColumns(ITEMS, 0.0)
    base = _core.GammaBase([MEAN], [C], [A], [B])
    columns.add_gaussian_with_gaps(np.where(GAPS[:, 0], np.nan, numbers)[:, None], base)
    columns.add_counts(np.where(GAPS[:, 1], 2**32 - 1, counts).astype(np.uint32)[:, None], [SHAPE], [RATE])
    columns.add_levels(np.where(GAPS[:, 2], 255, levels).astype(np.uint8)[:, None], [LEVELS], [weight])
    prior = _core.ProcessPrior(_core.FixedConcentration(ALPHA))
    drawn, _ = _core.MixtureColumnsSampler(columns, prior, split_merge, 1, 99, step, labels).advance(1, 0, 1)
    return drawn[0]


def summary(labels, table):
    numbers, counts, levels = table
    logs = np.log1p(np.abs(numbers))
    same = labels[0] == labels[4]
    return [labels.max(), same, logs.mean(), np.log1p(counts).mean(), (levels == levels[0]).mean(),
            same * (levels[0] == levels[4]), same * abs(logs[1] - logs[4])]  # fmt: skip


def forwards(rng, n):
    return np.array([summary(labels := draw_partition(rng), draw_table(rng, labels)) for _ in range(n)], float)


def by_turns(rng, n, split_merge, weight=WEIGHT):
    labels, rows = draw_partition(rng), []
    for step in range(n):
        table = draw_table(rng, labels)
        labels = sweep(table, labels, step, split_merge, weight)
        rows.append(summary(labels, table))
    return np.array(rows, float)


@pytest.mark.parametrize("split_merge", [0.0, 1.0])
def test_by_turns_is_as_forwards(split_merge):
    rng = np.random.default_rng(4)
    assert np.abs(differences(forwards(rng, 2500), by_turns(rng, 2500, split_merge))).max() < 3.7


def test_a_wrong_weight_is_noticed():
    """The seeded fault: the sampler believes in a tenth of the weight of each level."""
    rng = np.random.default_rng(4)
    assert np.abs(differences(forwards(rng, 2500), by_turns(rng, 2500, 0.0, WEIGHT / 10))).max() > 5
