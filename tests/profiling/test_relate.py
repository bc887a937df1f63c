"""Clusters and outside variables: regressions against plain optimisers, bias and coverage in Bakk & Kuha's design."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.relate import MEANS, METHODS, classes_of, planted, replicate, reported
from scipy.optimize import minimize
from scipy.special import logsumexp

import partita as pt
from partita.models import GaussianDPM, MixtureDPM
from partita.profiling import regressions
from partita.profiling.regressions import Records, fit
from partita.profiling.relate import classification_matrix


def simulated(replications, separation):
    """Slope of estimated on true contrasts, and coverage of the intervals, for naive, averaged and corrected."""
    rows = [replicate(separation, number, stepmix=False) for number in range(replications)]
    return ([np.mean([row[f"{m}_{what}"] for row in rows]) for m in METHODS[:3]] for what in ("slope", "covered"))


def test_the_correction_removes_the_bias():
    slopes, covered = simulated(20, 0.8)
    assert slopes[1] < slopes[0] < 0.92
    assert abs(slopes[2] - 1) < 0.06
    assert covered[2] > 0.7


@pytest.mark.slow
@pytest.mark.parametrize("separation", [0.7, 0.8, 0.9])
def test_bias_and_coverage_over_200_replications(separation):
    slopes, covered = simulated(200, separation)
    assert slopes[1] < slopes[0] < 0.99
    assert abs(slopes[2] - 1) < 0.03
    assert covered[2] > 0.92
    assert covered[0] < 0.93


def weighted_records(rng, outcome, n=200):
    X = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
    return Records(X, outcome(rng, X), rng.gamma(2.0, size=n), np.arange(n) // 2, n // 2)


LOGS = {
    "gaussian": lambda r, b: -0.5 * (r.y - r.X @ b) ** 2,
    "binomial": lambda r, b: r.y * (r.X @ b) - np.logaddexp(0, r.X @ b),
    "poisson": lambda r, b: r.y * (r.X @ b) - np.exp(r.X @ b),
}
DRAWS = {
    "gaussian": lambda rng, X: X @ [1.0, 0.5, -0.5] + rng.normal(size=len(X)),
    "binomial": lambda rng, X: (rng.random(len(X)) < 1 / (1 + np.exp(-X @ [0.2, 0.5, -0.5]))).astype(float),
    "poisson": lambda rng, X: rng.poisson(np.exp(X @ [0.2, 0.5, -0.5])).astype(float),
}


@pytest.mark.parametrize("family", LOGS)
def test_linear_models_against_a_general_optimiser(family):
    records = weighted_records(np.random.default_rng(1), DRAWS[family])
    beta, covariance = fit(getattr(regressions, family), records, 3)

    def cost(b):
        return -float(records.weights @ LOGS[family](records, b))

    best = minimize(cost, np.zeros(3), method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(beta, best.x, atol=1e-4)
    np.testing.assert_allclose(covariance, numeric_sandwich(LOGS[family], records, beta), rtol=1e-3)


def numeric_sandwich(logs, records, beta, step=1e-4):
    """A⁻¹ B A⁻¹ by finite differences of the log likelihood of each record."""
    k = len(beta)

    def gradient(b):
        moves = np.eye(k) * step
        terms = [(logs(records, b + m) - logs(records, b - m)) / (2 * step) for m in moves]
        return records.weights[:, None] * np.array(terms).T

    scores = gradient(beta)
    by_item = np.zeros((records.n_items, k))
    np.add.at(by_item, records.items, scores)
    curvature = [(gradient(beta + m) - gradient(beta - m)).sum(axis=0) / (2 * step) for m in np.eye(k) * step]
    bread = np.linalg.inv(-np.array(curvature))
    return bread @ (by_item.T @ by_item) @ bread


def test_multinomial_logit_against_a_general_optimiser():
    rng = np.random.default_rng(2)
    records = weighted_records(rng, lambda rng, X: rng.integers(3, size=len(X)).astype(float))

    def logs(r, b):
        eta = np.column_stack([np.zeros(len(r.X)), r.X @ b.reshape(2, -1).T])
        return (eta - logsumexp(eta, axis=1, keepdims=True))[np.arange(len(r.X)), r.y.astype(int)]

    beta, covariance = fit(regressions.multinomial(3), records, 6)
    best = minimize(lambda b: -float(records.weights @ logs(records, b)), np.zeros(6), method="BFGS")
    np.testing.assert_allclose(beta, best.x, atol=1e-3)
    np.testing.assert_allclose(covariance, numeric_sandwich(logs, records, beta), rtol=1e-3)


def test_cox_against_the_plain_partial_likelihood():
    rng = np.random.default_rng(3)
    n = 60
    X = rng.normal(size=(n, 2))
    time = np.ceil(rng.exponential(np.exp(-X @ [0.7, -0.4])) * 8)  # with ties
    event = (rng.random(n) < 0.7).astype(float)
    weights = rng.gamma(2.0, size=n)
    records = Records(X, np.column_stack([time, event]), weights, np.arange(n), n)

    def cost(b):
        total = 0.0
        for i in np.flatnonzero(event):
            risk = time >= time[i]
            total += weights[i] * (X[i] @ b - np.log(weights[risk] @ np.exp(X[risk] @ b)))
        return -total

    beta, covariance = fit(regressions.cox, records, 2)
    best = minimize(cost, np.zeros(2), method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(beta, best.x, atol=1e-4)
    scores = regressions.cox(records, beta).scores
    np.testing.assert_allclose(scores.sum(axis=0), 0, atol=1e-6)
    for i in (3, 17):  # Lin & Wei's score of one item, in plain loops
        plain = np.zeros(2)
        for s in np.flatnonzero(event):
            risk = time >= time[s]
            mass = weights[risk] * np.exp(X[risk] @ beta)
            centre = mass @ X[risk] / mass.sum()
            plain += weights[i] * (X[i] - centre) * (s == i)
            if time[i] >= time[s]:
                plain -= weights[i] * np.exp(X[i] @ beta) * weights[s] / mass.sum() * (X[i] - centre)
        np.testing.assert_allclose(scores[i], plain, atol=1e-9)
    assert covariance.shape == (2, 2)


def survival(rng, truth, effect, censoring):
    """Times and events, with hazards that differ by `effect` from class to class."""
    times, censored = rng.exponential(np.exp(-effect * (MEANS[truth] - 1))), rng.exponential(censoring, len(truth))
    return np.column_stack([np.minimum(times, censored), times <= censored])


@pytest.mark.parametrize("effect", [1.0, 2.0])
def test_cox_leaves_out_a_cluster_of_negative_risk_and_says_so(effect):
    """Late events, when the corrected number of items at risk in a cluster may be below zero: unbiased, and noted."""
    slopes = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        truth, labels, modal, _ = planted(rng, 400, 0.8, 40)
        found = pt.relate(reported(labels, modal), survival(rng, truth, effect, 5.0), family="cox")
        assert "the corrected number of its items at risk falls below zero" in found.notes[0]
        means = MEANS[classes_of(modal)]
        true = effect * (means[1:] - means[0])
        slopes.append([each.estimate @ true / (true @ true) for each in (found.naive, found.corrected)])
    naive, corrected = np.mean(slopes, axis=0)
    assert naive < 0.85
    assert corrected == pytest.approx(1, abs=3 * np.std(slopes, axis=0)[1] / np.sqrt(20))


@pytest.mark.parametrize("family", ["binomial", "multinomial", "poisson", "cox"])
def test_other_families_recover_planted_contrasts(family):
    rng = np.random.default_rng(4)
    truth, labels, modal, _ = planted(rng, 3000, 0.9, 60)
    linear = MEANS[truth] - 1
    if family == "binomial":
        outcome = np.where(rng.random(3000) < 1 / (1 + np.exp(-linear)), "yes", "no")
    elif family == "multinomial":
        shares = np.exp(np.column_stack([np.zeros(3000), linear, -linear]))
        outcome = (rng.random((3000, 1)) > np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)).sum(axis=1)
    elif family == "poisson":
        outcome = rng.poisson(np.exp(linear))
    else:
        outcome = survival(rng, truth, 1.0, 3.0)
    found = pt.relate(reported(labels, modal), outcome, {"z": rng.normal(size=3000)}, family)
    means = MEANS[classes_of(modal)]
    place = [i for i, term in enumerate(found.terms) if term.endswith("- cluster 0")][:2]
    error = np.abs(found.corrected.estimate[place] - (means[1:] - means[0])) / found.corrected.standard_error[place]
    assert (error < 4).all()
    assert found.p_value < 1e-6
    covariate = next(i for i, term in enumerate(found.terms) if term.endswith("z"))
    assert abs(found.corrected.estimate[covariate]) < 4 * found.corrected.standard_error[covariate]


def test_clusters_on_covariates():
    rng = np.random.default_rng(5)
    z = rng.normal(size=2000)
    truth, labels, modal, _ = planted(rng, 2000, 0.9, 60)
    found = pt.relate(reported(labels, modal), covariates={"z": z + 0.5 * truth})
    assert found.outcome == "cluster"
    assert found.p_value < 1e-6
    assert len(found.terms) == 4
    assert "are related" in found.in_words()
    nothing = pt.relate(reported(labels, modal), covariates={"z": z, "side": np.where(z > 0, "a", "b")})
    assert nothing.p_value > 1e-3


def test_certain_clusters_need_no_correction_and_names_match():
    pd = pytest.importorskip("pandas")
    names = [f"p{i}" for i in range(8)]
    best = pt.estimate(pt.as_sample([[0, 0, 0, 0, 1, 1, 1, 1]] * 5, names=names), rng=1)
    y = pd.Series([1.0, 2, 3, 4, 7, 8, 9, np.nan], index=names, name="score")
    found = pt.relate(best, y.iloc[::-1])
    for each in (found.naive, found.averaged, found.corrected):
        np.testing.assert_allclose(each.estimate, [2.5, 5.5])
    assert found.n_items == 7
    assert found.outcome == "score"
    assert "1 item without a cluster or with missing values" in found.notes[0]
    assert found.to_pandas().shape == (6, 6)
    assert "score" in repr(found)
    np.testing.assert_allclose(found.classification, np.eye(2))
    again = pt.relate(pt.memberships(best), y)
    np.testing.assert_array_equal(again.corrected.estimate, found.corrected.estimate)
    assert again.terms == ("cluster 0", "cluster 1 - cluster 0")
    assert again.counted_from(1).terms == ("cluster 1", "cluster 2 - cluster 1")


def test_classification_probabilities():
    belongs = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    expected = [[1.5 / 1.7, 0.2 / 1.7], [0.5 / 1.3, 0.8 / 1.3]]
    np.testing.assert_allclose(classification_matrix(belongs, np.array([0, 0, 1])), expected)


def test_an_outcome_of_the_model_is_refused():
    rng = np.random.default_rng(6)
    X = np.column_stack([np.repeat([0.0, 8.0], 10) + rng.normal(size=20), rng.normal(size=20)])
    chain = GaussianDPM("diag").sample(X, draws=50, warmup=50, chains=2, rng=1)
    best = pt.estimate(chain, rng=1)
    with pytest.raises(ValueError, match="'outcome' was a column of the model"):
        pt.relate(best, 3 - 2 * X[:, 0])
    with pytest.raises(ValueError, match="'z' was a column of the model"):
        pt.relate(best, covariates={"z": X[:, 1]})
    assert pt.relate(best, rng.normal(size=20)).n_items == 20
    table = {"size": X[:, 0].tolist(), "colour": ["red"] * 10 + ["blue"] * 10}
    mixed = pt.estimate(MixtureDPM().sample(table, draws=50, warmup=50, chains=2, rng=1), rng=1)
    with pytest.raises(ValueError, match="was a column of the model"):
        pt.relate(mixed, [0] * 10 + [1] * 10, family="binomial")


@pytest.mark.parametrize(
    ("outcome", "family", "error", "message"),
    [
        ([1.0, 2.0], "gaussian", ValueError, "outcome has 2 items, but the estimate has 6"),
        ([1.0] * 6, "normal", ValueError, "family must be one of gaussian"),
        (["a", "b", "c", "a", "b", "c"], "gaussian", ValueError, "has text .*families 'binomial' and"),
        (["a", "b", "c", "a", "b", "c"], "binomial", ValueError, "must have two values"),
        ([1, 2, 3, 4, 5, -6], "poisson", ValueError, "item 5 has -6"),
        ([1.0] * 6, "cox", ValueError, "two columns, times and events"),
        (np.c_[[1.0] * 6, [0.0] * 6], "cox", ValueError, "has no events"),
        ([1, 2, np.inf, 3, 4, 5], "gaussian", ValueError, "'outcome' must be finite, but item 2 has inf"),
        (np.c_[[1.0, np.inf] * 3, [1.0] * 6], "cox", ValueError, "must be finite, but item 1 has inf"),
        ([2.0] * 6, "gaussian", ValueError, "'outcome' has one value for all items"),
        ([0, 0, 0, 1, 1, 1], "binomial", ValueError, "no finite solution"),
        (None, "gaussian", TypeError, "outcome is missing"),
    ],
)
def test_bad_input(outcome, family, error, message):
    best = pt.estimate([[0, 0, 0, 1, 1, 1]] * 4, rng=1)
    with pytest.raises(error, match=message):
        pt.relate(best, outcome, family=family)


def test_codes_and_markers_of_missing_values_are_asked_about():
    rng = np.random.default_rng(7)
    best = pt.estimate([np.repeat([0, 1], 30)] * 4, rng=1)
    codes, sizes = np.tile([1, 2], 30), rng.normal(size=60)
    (note,) = pt.relate(best, {"gender": codes}).notes
    assert note.startswith(
        "gender has whole numbers only, 2 different ones, and is taken as a measurement. Are they codes?"
    )
    (note,) = pt.relate(best, {"size": sizes}, {"region": np.tile([1, 2, 3], 20), "gender": codes}).notes
    assert note.startswith("region has whole numbers only, 3 different ones")
    assert pt.relate(best, {"visits": np.tile([0, 1, 2], 20)}, family="poisson").notes == ()
    assert pt.relate(best, {"gender": codes}, {"kind": np.tile(["a", "b", "c"], 20)}, family="binomial").notes == ()
    assert pt.relate(best, {"age": 20 + np.arange(60) % 40}).notes == ()
    sizes[[3, 40]] = -999
    (note,) = pt.relate(best, {"size": sizes}).notes
    assert note.startswith("-999 is in 2 cells of size, far from the other values. Does it mark missing cells?")
