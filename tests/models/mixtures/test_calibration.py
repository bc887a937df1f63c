"""Simulation-based calibration of tables with gaps (Talts et al. 2018), with split–merge moves and seeded starts.

Partition, parameters and data are drawn from the model; among thinned draws of the posterior, the rank of every
statistic of the truth is uniform. A start that biased the draws would be seen.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from partita.models import DiscreteBase, MixtureDPM
from support import mixture_reference as reference
from support import table_reference as tables

pytestmark = pytest.mark.filterwarnings("ignore:.* no observed cell")

ITEMS, RANKS = 24, 19
ALPHA, SHAPE, RATE, WEIGHT, LEVELS = 1.2, 1.5, 0.3, 0.8, ("a", "b", "c")
MU0, C, A, B = 0.4, 0.3, 2.5, 0.8
SETTINGS = {"alpha": ALPHA, "discrete": DiscreteBase(SHAPE, RATE, WEIGHT), "mu0": MU0, "c": C, "a": A, "b": B}


def draw_labels(rng):
    labels = [0]
    for _ in range(1, ITEMS):
        weights = np.append(np.bincount(labels), ALPHA)
        labels.append(int(rng.choice(len(weights), p=weights / weights.sum())))
    return np.array(labels)


def draw_counts(rng, labels):
    return rng.poisson(rng.gamma(SHAPE, 1 / RATE, labels.max() + 1)[labels]).astype(float)


def draw_overdispersed(rng, labels):
    sizes = rng.choice(tables.SIZES, labels.max() + 1)
    p = 1 - rng.beta(SHAPE, 1 + sizes * RATE)
    return rng.poisson(np.minimum(rng.gamma(sizes[labels]) * ((1 - p) / p)[labels], 1e9)).astype(float)


def draw_levels(rng, labels, names=LEVELS):
    shares = rng.dirichlet([WEIGHT] * len(names), labels.max() + 1)
    codes = [rng.choice(len(names), p=shares[k]) for k in labels]
    return pd.Categorical.from_codes(codes, categories=names)  # all are known, used or not


def draw_numbers(rng, labels):
    variance = B / rng.gamma(A, 1, labels.max() + 1)
    mean = rng.normal(MU0, np.sqrt(variance / C))
    return rng.normal(mean[labels], np.sqrt(variance[labels]))


def draw_pairs(rng, labels):
    """Two numbers with one covariance; without gaps."""
    scale, cells = 2 * B * np.eye(2), np.empty((ITEMS, 2))
    for k in range(labels.max() + 1):
        covariance = stats.invwishart.rvs(2 * A + 1, scale, random_state=rng)
        mean = rng.multivariate_normal([MU0, MU0], covariance / C)
        cells[labels == k] = rng.multivariate_normal(mean, covariance, (labels == k).sum())
    return cells


def log_levels(cells):
    return tables.log_levels(cells.cat.codes.to_numpy(), len(cells.cat.categories), WEIGHT)


#: family -> (a column from the model, ln p of its cells in one cluster)
FAMILIES = {
    "count": (draw_counts, lambda cells: tables.log_count(cells.to_numpy(), SHAPE, RATE)),
    "negative-binomial": (
        draw_overdispersed,
        lambda cells: tables.log_negative_binomial(cells.to_numpy(), SHAPE, RATE),
    ),
    "categorical": (draw_levels, log_levels),
    "binary": (lambda rng, labels: draw_levels(rng, labels, ("no", "yes")), log_levels),
    "gaussian": (draw_numbers, lambda cells: tables.log_gaussian(cells.to_numpy(), MU0, C, A, B)),
    "positive": (
        lambda rng, labels: np.exp(draw_numbers(rng, labels)),
        lambda cells: tables.log_positive(cells.to_numpy(), MU0, C, A, B),
    ),
}
TABLES = {family: (family, family) for family in FAMILIES} | {
    "mixed": tuple(FAMILIES),
    "full": ("full", "categorical"),
}


def draw_table(rng, labels, families):
    columns = {}
    for j, family in enumerate(families):
        if family == "full":
            columns |= dict(zip(("x", "y"), draw_pairs(rng, labels).T, strict=True))
        else:
            cells = pd.Series(FAMILIES[family][0](rng, labels))
            columns[f"{family}{j}"] = cells.mask(rng.random(ITEMS) < 0.2)
    return pd.DataFrame(columns)


def model_of(families, **wrong):
    columns = {f"{family}{j}": family for j, family in enumerate(families) if family != "full"}
    full = [["x", "y"]] if "full" in families else None
    return MixtureDPM(columns, full=full, **{**SETTINGS, **wrong})


def log_density_of(labels, table, families):
    """Of the truth, from the formulas."""
    total = reference.log_crp(tuple(np.bincount(labels)), ALPHA)
    for k in range(labels.max() + 1):
        own = table[labels == k]
        for j, family in enumerate(families):
            if family == "full":
                pairs = own[["x", "y"]].to_numpy()
                total += reference.log_marginal_full(pairs, np.full(2, MU0), C, 2 * A + 1, 2 * B * np.eye(2))
            else:
                total += FAMILIES[family][1](own[f"{family}{j}"])
    return total


def statistics(labels, log_density):
    sizes = np.bincount(labels) / len(labels)
    return [len(sizes), -(sizes * np.log(sizes)).sum(), float(labels[0] == labels[1]), log_density]


def ranks(kind, replications, thin=12, **wrong):
    families = TABLES[kind]
    return ranks_of(
        lambda rng, labels: draw_table(rng, labels, families),
        model_of(families, **wrong),
        lambda labels, table: log_density_of(labels, table, families),
        replications,
        thin,
    )


def ranks_of(draw, model, log_density, replications, thin=12, more=None):
    """Ranks of the truth in draws of a model, (replications, statistics).

    `draw`: a table given its partition. `more`: one more statistic, of the draws of a chain and of the truth.
    """
    rng, rows = np.random.default_rng(8), []
    for replication in range(replications):
        labels = draw_labels(rng)
        table = draw(rng, labels)
        chain = model.sample(table, draws=RANKS, warmup=60, thin=thin, chains=1, rng=replication, n_jobs=1)
        drawn = [statistics(z, d) for z, d in zip(chain.labels[0], chain.log_density[0], strict=True)]
        own = statistics(labels, log_density(labels, table))
        everyone = np.array([own, *drawn])
        if more is not None:
            everyone = np.column_stack([everyone, np.append(more[1](table), more[0](chain))])
        everyone += rng.random(everyone.shape) * 1e-9  # equal values are in random order
        rows.append((everyone[0] > everyone[1:]).sum(axis=0))
    return np.array(rows)


def p_values(found):
    """Of uniform ranks, by χ² in five bins; one for each statistic."""
    bins = (RANKS + 1) // 4
    return [stats.chisquare(np.bincount(column // 4, minlength=bins)).pvalue for column in found.T]


def test_ranks_are_uniform():
    assert min(p_values(ranks("mixed", 60))) > 0.05 / 4 / 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", TABLES)
def test_ranks_are_uniform_in_many_replications(kind):
    assert min(p_values(ranks(kind, 200, thin=25))) > 0.05 / 4 / len(TABLES) / 10


def test_a_wrong_concentration_is_noticed():
    """The seeded fault: the sampler believes in three times the concentration."""
    assert min(p_values(ranks("mixed", 60, alpha=3 * ALPHA))) < 1e-6
