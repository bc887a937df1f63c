"""Data of one class make one cluster, and columns of noise change nothing."""

import numpy as np
import pytest

import partita as pt
from partita.models import Curves, MixtureDPM

pytestmark = pytest.mark.filterwarnings("ignore::partita.MixingWarning")


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
    return MixtureDPM(projection=True), rng.normal(size=(100, 2)) @ rng.normal(size=(2, 40)) + rng.normal(
        size=(100, 40)
    )


CASES = {"curves": one_curve, "mixed": one_mixed, "correlated": one_correlated}


def share_of_one(case, replications):
    found = []
    for seed in range(replications):
        model, table = CASES[case](np.random.default_rng(seed))
        chain = model.sample(table, draws=100, warmup=150, chains=2, rng=seed, n_jobs=1)
        found.append(pt.estimate(chain, rng=1).n_clusters == 1)
    return np.mean(found)


@pytest.mark.parametrize("case", CASES)
def test_one_class_is_one_cluster(case):
    assert share_of_one(case, 3) >= 2 / 3


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_one_class_is_one_cluster_in_most_replications(case):
    assert share_of_one(case, 50) >= 0.9
