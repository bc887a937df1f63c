"""Data of one class make one cluster, and columns of noise change nothing."""

import numpy as np
import pytest

import partita as pt
from partita.models import Curves, MixtureDPM

pytestmark = pytest.mark.filterwarnings("ignore::partita.MixingWarning", "ignore:.* no observed cell")


def one_curve(rng):
    """Subjects about one line, with intercepts and slopes of their own, and a sex."""
    who, when = np.repeat(np.arange(60), 5), np.tile(np.arange(5.0), 60)
    own = rng.normal(0, [[1.0], [0.4]], (2, 60))
    y = 3 + own[0, who] + (1 + own[1, who]) * when + rng.normal(0, 1, 300)
    table = {"who": who, "when": when, "y": y, "sex": rng.choice(["f", "m"], 60)[who]}
    return MixtureDPM(curves=Curves("who", "when")), table


def one_mixed(rng):
    """Numbers, counts, answers and levels with gaps."""
    n = 150
    table = {
        "size": rng.normal(size=n), "weight": rng.lognormal(size=n), "visits": rng.poisson(4, n).astype(float),
        "answer": rng.choice([1.0, 2, 3, 4, 5], n, p=[0.1, 0.2, 0.4, 0.2, 0.1]), "colour": rng.choice(list("abc"), n),
    }  # fmt: skip
    table["size"][rng.random(n) < 0.1] = np.nan
    return MixtureDPM({"weight": "positive", "visits": "count", "answer": "ordinal"}), table


def one_correlated(rng):
    """Two factors behind forty columns."""
    factors = rng.normal(size=(100, 2)) @ rng.normal(size=(2, 40))
    return MixtureDPM(projection=True), factors + rng.normal(size=(100, 40))


def one_full(rng, rows=150, columns=4, missing=0.0, **more):
    """A Gaussian with any covariance."""
    table = rng.normal(size=(rows, columns)) @ rng.normal(size=(columns, columns))
    table[rng.random(table.shape) < missing] = np.nan
    return MixtureDPM(full="all", **more), table


def with_noise(case):
    """The same with rows that may be noise."""

    def noisy(rng):
        model, table = case(rng)
        return model.set_params(noise=True), table

    return noisy


CASES = {
    "curves": one_curve,
    "mixed": one_mixed,
    "correlated": one_correlated,
    "full": one_full,
    "full in two columns": lambda rng: one_full(rng, 150, 2),
    "full with missing cells": lambda rng: one_full(rng, 80, 3, 0.1),
}
CASES |= {f"{name} and noise": with_noise(CASES[name]) for name in ("mixed", "full", "curves")}
QUICK = ("curves", "mixed", "correlated", "full", "mixed and noise")


def share_of_one(case, replications):
    found = []
    for seed in range(replications):
        model, table = CASES[case](np.random.default_rng(seed))
        chain = model.sample(table, draws=100, warmup=150, chains=2, rng=seed, n_jobs=1)
        found.append(pt.estimate(chain, rng=1).n_clusters == 1)
    return np.mean(found)


@pytest.mark.parametrize("case", QUICK)
def test_one_class_is_one_cluster(case):
    assert share_of_one(case, 3) >= 2 / 3


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_one_class_is_one_cluster_in_most_replications(case):
    assert share_of_one(case, 50) >= 0.9


def planted(rng, rows=150):
    """Three clusters in three columns, and seven columns of noise."""
    truth = rng.integers(3, size=rows)
    words = np.where(rng.random(rows) < 0.85, truth, rng.integers(3, size=rows)).astype(str)
    clusters = {"size": rng.normal(4 * truth, 1), "weight": rng.normal(4 * (truth == 1), 1), "word": words}
    noise = {
        "gaussian": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(size=rows)),
        "positive": rng.lognormal(size=rows),
        "count": rng.poisson(4, rows).astype(float),
        "negative-binomial": rng.negative_binomial(1, 0.2, rows).astype(float),
        "ordinal": rng.choice([1.0, 2, 3, 4, 5], rows),
        "categorical": rng.choice(list("abcd"), rows),
        "binary": rng.random(rows) < 0.5,
    }
    return clusters, noise


def noise_columns(replications):
    """Mean inclusion of each noise column, and the Rand index of partitions with and without these columns."""
    inclusion, agreement = [], []
    settings = {"draws": 150, "warmup": 150, "chains": 2, "n_jobs": 1}
    for seed in range(replications):
        clusters, noise = planted(np.random.default_rng(seed))
        plain = pt.estimate(MixtureDPM().sample(clusters, rng=seed, **settings), rng=1)
        families = {family: family for family in noise}
        chain = MixtureDPM(families, select=True).sample({**clusters, **noise}, rng=seed, **settings)
        inclusion.append([chain.inclusion[name] for name in noise])
        agreement.append(pt.adjusted_rand(pt.estimate(chain, rng=1).labels, plain.labels))
        assert min(chain.inclusion[name] for name in clusters) > 0.9
    return np.mean(inclusion, axis=0), np.array(agreement)


def test_columns_of_noise_change_nothing():
    inclusion, agreement = noise_columns(2)
    assert inclusion.mean() < 0.2
    assert agreement.min() > 0.95


@pytest.mark.slow
def test_columns_of_noise_change_nothing_in_most_replications():
    inclusion, agreement = noise_columns(50)
    assert inclusion.mean() < 0.1
    assert inclusion.max() < 0.2
    assert (agreement > 0.98).mean() >= 0.9
