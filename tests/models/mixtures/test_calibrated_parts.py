"""Simulation-based calibration of what has a prior that follows from the data: ordinal columns, curves, regressions.

Thresholds, mean curves and their variance are fixed here, so that data can be drawn from the model. Missing cells in
columns of full= and the selection of columns follow.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp
from test_calibration import ALPHA, FAMILIES, ITEMS, SETTINGS, A, B, C, draw_pairs, p_values, ranks_of

from partita.models import Curves, MixtureDPM
from partita.models.mixtures import base
from partita.models.mixtures.base import level_shares
from partita.models.mixtures.curve_basis import Basis, Linear
from partita.models.mixtures.regression import RATIOS, CurveBase
from support import mixture_reference as reference
from support import table_reference as tables

pytestmark = pytest.mark.filterwarnings("ignore:.* no observed cell")

CHOSEN = ("gaussian", "count", "categorical")
COLUMN = np.repeat([0, 1, 2, 3], [4, 9, 6, 5])  # the answers that the thresholds are of
GRID = [axis.ravel() for axis in np.meshgrid(np.linspace(-3.5, 3.5, 36), 0.2 * 1.35 ** np.arange(9), indexing="ij")]


def answers_of(rng, labels):
    """Levels of two columns: m and s of each cluster from the grid, and a probit."""
    counts = np.bincount(COLUMN) + 0.5
    cuts = np.concatenate([[-np.inf], stats.norm.ppf(np.cumsum(counts)[:-1] / counts.sum()), [np.inf]])
    m, s = GRID
    weights = stats.invgamma.pdf(s**2, A, scale=A - 1) * s**2 * stats.norm.pdf(m, 0, s / np.sqrt(C))
    table = {}
    for name in ("first", "second"):
        at = rng.choice(len(m), labels.max() + 1, p=weights / weights.sum())
        codes = np.searchsorted(cuts, rng.normal(m[at][labels], s[at][labels])) - 1
        codes[rng.random(ITEMS) < 0.1] = -1
        table[name] = pd.Categorical.from_codes(codes, categories=list("abcd"), ordered=True)
    return pd.DataFrame(table)


def log_answers(own):
    return sum(tables.log_ordinal(np.asarray(own[name].cat.codes), COLUMN, 4, C, A, A - 1) for name in own)


TIMES = np.array([0.0, 1.0, 2.0, 4.0])
BASIS = Basis(np.array([0.0, 0, 2, 4, 4]), 1, 0.0, 4.0)
CURVE = CurveBase(BASIS, RATIOS, np.array([1.0, 2.0, 1.5]), C, A, B)
LINE = CurveBase(Linear(np.zeros(1), np.ones(1)), (0.0,), np.array([0.5, -1.0]), C, A, B)


def draw_coefficients(rng, own, clusters):
    variance = own.b / rng.gamma(own.a, 1, clusters)
    return own.mean + rng.normal(size=(clusters, own.basis.size)) * np.sqrt(variance / own.c)[:, None], variance


def visits_of(rng, labels):
    """A mean curve and a variance for each cluster, a line for each subject, and visits that were missed."""
    beta, variance = draw_coefficients(rng, CURVE, labels.max() + 1)
    ratios = rng.choice(RATIOS, labels.max() + 1)
    lines = rng.normal(size=(ITEMS, 2)) * np.sqrt(ratios * variance)[labels][:, None]
    means = beta[labels] @ BASIS.splines(TIMES).T + lines @ BASIS.line(TIMES).T
    y = rng.normal(means, np.sqrt(variance[labels])[:, None])
    y[rng.random(y.shape) < 0.2] = np.nan
    return pd.DataFrame({"who": np.repeat(np.arange(ITEMS), 4), "when": np.tile(TIMES, ITEMS), "y": y.ravel()})


def line_of(rng, labels):
    beta, variance = draw_coefficients(rng, LINE, labels.max() + 1)
    x = rng.uniform(-1, 1, ITEMS)
    y = rng.normal(beta[labels, 0] + beta[labels, 1] * x, np.sqrt(variance[labels]))
    return pd.DataFrame({"who": np.arange(ITEMS), "when": x, "y": y})


def log_rows(own, prior):
    """ln p of the outcomes of one cluster: a multivariate t for each ratio."""
    own = own[own.y.notna()]
    if own.empty:
        return 0.0
    times = own.when.to_numpy()
    x = times[:, None] if isinstance(prior.basis, Linear) else times
    design, line = prior.basis.splines(x), prior.basis.line(x)
    same = own.who.to_numpy()[:, None] == own.who.to_numpy()
    logs = [
        stats.multivariate_t.logpdf(
            own.y,
            design @ prior.mean,
            prior.b / prior.a * (np.eye(len(own)) + ratio * same * (line @ line.T) + design @ design.T / prior.c),
            df=2 * prior.a,
        )
        for ratio in prior.ratios
    ]
    return logsumexp(logs) - np.log(len(logs))


def pairs_of(rng, labels):
    """Two numbers with one covariance, and missing cells."""
    cells = draw_pairs(rng, labels)
    gaps = rng.random(cells.shape) < 0.2
    gaps[gaps.all(axis=1)] = False
    return pd.DataFrame(np.where(gaps, np.nan, cells), columns=["x", "y"])


def chosen_of(rng, labels):
    """Columns of several families, each of which takes part with probability 1/2."""
    takes_part = rng.random(len(CHOSEN)) < 0.5
    columns = {
        family: FAMILIES[family][0](rng, labels if part else np.zeros(ITEMS, int))
        for family, part in zip(CHOSEN, takes_part, strict=True)
    }
    table = pd.DataFrame(columns)
    table.attrs["takes part"] = dict(zip(CHOSEN, takes_part, strict=True))
    return table


#: The number of columns that take part, in draws and in truth.
TAKING_PART = (
    lambda chain: sum(chain.stats[f"included_{unit}"][0] for unit in range(len(CHOSEN))),
    lambda table: sum(table.attrs["takes part"].values()),
)


def log_chosen(labels, table):
    total = reference.log_crp(tuple(np.bincount(labels)), ALPHA) - len(CHOSEN) * np.log(2)
    for family, part in table.attrs["takes part"].items():
        own = labels if part else np.zeros(ITEMS, int)
        total += sum(FAMILIES[family][1](table[family][own == k]) for k in range(own.max() + 1))
    return total


def log_density(log_cluster):
    def of(labels, table):
        rows = np.asarray(table["who"]) if "who" in table else np.arange(ITEMS)
        own = sum(log_cluster(table[labels[rows] == k]) for k in range(labels.max() + 1))
        return reference.log_crp(tuple(np.bincount(labels)), ALPHA) + own

    return of


#: name -> (a table given its partition, the model, the log density of the truth)
PARTS = {
    "ordinal": (answers_of, {"columns": "ordinal"}, log_density(log_answers)),
    "curves": (
        visits_of,
        {"curves": Curves("who", "when", c=C, degree=1, knots=1)},
        log_density(lambda own: log_rows(own, CURVE)),
    ),
    "regression": (
        line_of,
        {"columns": {"who": "ignore"}, "curves": "y ~ when"},
        log_density(lambda own: log_rows(own, LINE)),
    ),
    # the log density of a draw is that of the completed rows, and is left out
    "missing in full": (pairs_of, {"full": "all"}, lambda labels, table: 0.0),
    "selected": (chosen_of, {"columns": {family: family for family in CHOSEN}, "select": True}, log_chosen),
}


#: part -> the seeded fault, in the arguments of the model or in the prior of its curves
FAULTS = {
    "ordinal": {"c": 20 * C},
    "curves": {"prior": replace(CURVE, ratios=(0.0,))},
    "regression": {"prior": replace(LINE, b=6 * B)},
    "missing in full": {"alpha": 4 * ALPHA},
    "selected": {"select": 0.05},
}


@pytest.fixture(autouse=True)
def fixed_priors(monkeypatch):
    """The priors that would follow from the data."""
    monkeypatch.setattr(base, "level_shares", lambda codes, n_levels: level_shares(COLUMN, n_levels))
    monkeypatch.setattr(base, "curve_bases", lambda cells, curves, c, a: (CURVE if curves else LINE,))


def p_value(part, replications, thin=12, **wrong):
    """The least of all statistics, times their number."""
    draw, settings, log_density = PARTS[part]
    model = MixtureDPM(**{**SETTINGS, **settings, **wrong})
    found = ranks_of(draw, model, log_density, replications, thin, *([TAKING_PART] if part == "selected" else []))
    kept = found[:, :3] if part == "missing in full" else found
    return min(p_values(kept)) * kept.shape[1]


@pytest.mark.parametrize("part", PARTS)
def test_ranks_are_uniform(part):
    assert p_value(part, 20) > 0.05 / len(PARTS) / 10


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_ranks_are_uniform_in_many_replications(part):
    assert p_value(part, 200, thin=25) > 0.05 / len(PARTS) / 10


@pytest.mark.parametrize("part", PARTS)
def test_a_fault_is_noticed(part, monkeypatch):
    """Seeded faults: a narrow prior, no lines of subjects, another variance, concentration and share of columns."""
    wrong = dict(FAULTS[part])
    if (prior := wrong.pop("prior", None)) is not None:
        monkeypatch.setattr(base, "curve_bases", lambda *given: (prior,))
    assert p_value(part, 30, **wrong) < 1e-3
