"""New rows and missing cells: predictive densities, allocation, imputation."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from partita.models import DiscreteBase, MixtureDPM, Sampling
from support import table_reference as tables

RNG = np.random.default_rng(3)
N = 40
TRUTH = np.repeat([0, 1], N // 2)
TABLE = pd.DataFrame(
    {
        "size": RNG.normal(np.where(TRUTH, 6.0, 0.0)),
        "visits": RNG.poisson(np.where(TRUTH, 20, 2)),
        "colour": np.where(RNG.random(N) < 0.9, TRUTH, 1 - TRUTH).astype(str),
    }
)
TABLE["colour"] = TABLE["colour"].map({"0": "red", "1": "blue"})
GAPS = TABLE.astype({"visits": float}).mask(RNG.random(TABLE.shape) < 0.15)
MODEL = MixtureDPM({"visits": "count"}, sampling=Sampling(draws=200, warmup=200, chains=2), random_state=1)


@pytest.fixture(scope="module")
def fitted():
    return MixtureDPM(**MODEL.get_params()).fit(GAPS)


def test_clusters_are_found_through_the_gaps(fitted):
    assert fitted.n_clusters_ == 2
    assert (fitted.labels_ == TRUTH).mean() > 0.9


def test_new_rows_with_gaps_are_allocated(fitted):
    new = pd.DataFrame({"size": [0.1, None, None], "visits": [None, 22.0, None], "colour": ["red", "blue", None]})
    assert fitted.predict(new)[:2].tolist() == [0, 1]
    probabilities = fitted.predict_proba(new)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert abs(probabilities[2, 0] - 0.5) < 0.1


def test_the_predictive_density_is_a_ratio_of_marginals():
    """For one known partition: p(x | data) = Σ_k weight_k p(x, cluster k) / p(cluster k)."""
    x, y = np.array([0.2, -0.3, 5.0]), np.array([1.0, np.nan, 7.0])
    model = MixtureDPM({"y": "count"}, alpha=1.3, c=0.4, a=1.5, b=0.3, discrete=DiscreteBase(0.7, 0.2))
    chain = model.sample({"x": x, "y": y}, draws=200, warmup=0, chains=1, rng=2)

    def log_part(group):
        return tables.log_gaussian(x_all[group], x.mean(), 0.4, 1.5, 0.3) + tables.log_count(y_all[group], 0.7, 0.2)

    for new_x, new_y in [(0.4, 3.0), (np.nan, 2.0), (1.0, np.nan), (np.nan, np.nan)]:
        x_all, y_all = np.append(x, new_x), np.append(y, new_y)
        expected = []
        for labels in chain.labels[0]:
            groups = [np.flatnonzero(labels == k) for k in range(labels.max() + 1)]
            terms = [len(g) * np.exp(log_part(np.append(g, 3)) - log_part(g)) for g in groups]
            terms.append(1.3 * np.exp(log_part([3])))
            expected.append(sum(terms) / (3 + 1.3))
        found = chain.predictive_density({"x": [new_x], "y": [new_y]})
        np.testing.assert_allclose(found, [np.mean(expected)], rtol=1e-9)


def test_positive_densities_are_those_of_the_numbers_themselves():
    chain = MixtureDPM("positive").sample({"x": [0.5, 0.7, 9.0]}, draws=50, chains=1, rng=1)
    grid = np.exp(np.linspace(-18, 22, 4001))
    np.testing.assert_allclose(np.trapezoid(chain.predictive_density({"x": grid}), grid), 1.0, rtol=1e-3)


def test_new_levels_and_columns_are_refused(fitted):
    with pytest.raises(
        ValueError, match="row 1, column 'colour': the level 'green' is not one of those known: blue, red"
    ):
        fitted.predict(pd.DataFrame({"size": [1.0, 2.0], "visits": [1, 2], "colour": ["red", "green"]}))
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(TABLE[["size", "visits"]])
    with pytest.raises(ValueError, match="X has no column 'colour'"):
        fitted.chain_.predictive_density({"size": [1.0], "visits": [1]})
    with pytest.raises(ValueError, match="row 0, column 'visits': -1 is not a count"):
        fitted.predict(pd.DataFrame({"size": [1.0], "visits": [-1], "colour": ["red"]}))


def test_draws_of_a_cell_follow_its_predictive_distribution():
    """One cluster (alpha tiny): a Student t, a negative binomial, shares of levels."""
    table = {
        "x": [1.0, 2.0, 4.0, None],
        "y": [3.0, 5.0, None, 4.0],
        "z": ["a", "a", "b", None],
        "p": [1.0, 2.0, 5.0, None],
    }
    model = MixtureDPM({"y": "count", "p": "positive"}, alpha=1e-50, b=1.0, discrete=DiscreteBase(rate=0.5))
    chain = model.sample(table, draws=4000, warmup=5, chains=1, rng=1)
    assert (chain.n_clusters == 1).all()
    found = chain.impute(rng=1)
    x = np.array([1.0, 2.0, 4.0])
    c, a, b = 3.5, 3.5, 1.0 + 0.5 * ((x - x.mean()) ** 2).sum()
    student = stats.t(2 * a, x.mean(), np.sqrt(b * (c + 1) / (a * c)))
    assert stats.kstest(found["x"].draws[:, 0], student.cdf).pvalue > 0.001
    logs = np.log([1.0, 2.0, 5.0])
    b = 1.0 + 0.5 * ((logs - logs.mean()) ** 2).sum()
    student = stats.t(2 * a, logs.mean(), np.sqrt(b * (c + 1) / (a * c)))
    assert stats.kstest(np.log(found["p"].draws[:, 0]), student.cdf).pvalue > 0.001
    counts = stats.nbinom(13, 3.5 / 4.5)
    assert abs(found["y"].draws.mean() - counts.mean()) < 4 * counts.std() / np.sqrt(4000)
    assert abs((found["z"].draws == 0).mean() - 0.6) < 4 * np.sqrt(0.24 / 4000)
    assert found.n_cells == 4
    entry = found.summary()[2]
    assert (entry["row"], entry["column"], entry["value"]) == (3, "z", "a")


def test_cells_are_imputed_better_than_by_the_marginals(fitted):
    """Log score of the levels, and error of the numbers, of cells that were removed."""
    found = fitted.chain_.impute(rng=1)
    size = found["size"]
    truth = TABLE["size"].to_numpy()[size.rows]
    marginal = np.nanmean(GAPS["size"])
    assert np.abs(size.draws.mean(axis=0) - truth).mean() < 0.6 * np.abs(marginal - truth).mean()
    colour = found["colour"]
    codes = (TABLE["colour"] == "red").to_numpy()[colour.rows].astype(int)
    own = np.mean([np.log((colour.draws[:, cell] == code).mean()) for cell, code in enumerate(codes)])
    shares = GAPS["colour"].value_counts(normalize=True)
    assert own > np.mean([np.log(shares[("blue", "red")[code]]) for code in codes])


def test_a_table_without_gaps_has_nothing_to_impute():
    chain = MODEL.sample(TABLE, draws=5, warmup=5, chains=1, rng=1)
    assert chain.impute().n_cells == 0
    with pytest.raises(KeyError, match="no missing cells"):
        chain.impute()["size"]


def test_imputation_is_repeatable_and_has_names(fitted):
    one, other = (fitted.chain_.impute(draws=10, rng=4) for _ in range(2))
    np.testing.assert_array_equal(one["size"].draws, other["size"].draws)
    assert one["size"].draws.shape == (10, GAPS["size"].isna().sum())
    assert list(one.to_pandas().columns)[:3] == ["row", "column", "value"]


def test_score_samples_is_the_log_of_the_density(fitted):
    rows = GAPS.head(3)
    np.testing.assert_allclose(fitted.score_samples(rows), np.log(fitted.chain_.predictive_density(rows)))


def test_missing_cells_of_columns_with_a_covariance_are_integrated_out():
    """Against sums over a fine grid of the values that the missing cell may have, for rows with several patterns."""
    rng = np.random.default_rng(5)
    x = rng.normal(3.0 * (np.arange(40) % 2), 1.0)
    table = {"x": x, "y": np.exp(0.3 * x + 0.2 * rng.normal(size=40)), "c": ["u", "v"] * 20}
    sampling = Sampling(draws=20, warmup=20, chains=1)
    model = MixtureDPM({"y": "positive"}, full=[["x", "y"]], sampling=sampling, random_state=1).fit(table)
    new = {"x": [0.5, None, 0.5, None], "y": [None, 2.0, None, None], "c": ["u", None, "u", "v"]}
    density, probabilities = np.exp(model.score_samples(new)), model.predict_proba(new)
    grid = np.linspace(-40, 45, 4001)
    for row, filled in (
        (0, {"x": np.full(4001, 0.5), "y": np.exp(grid / 4), "c": ["u"] * 4001}),
        (1, {"x": grid, "y": np.full(4001, 2.0), "c": [None] * 4001}),
    ):
        at = np.exp(model.score_samples(filled)) * (filled["y"] / 4 if row == 0 else 1.0)
        assert density[row] == pytest.approx(np.trapezoid(at, grid), rel=1e-4)
        shares = np.trapezoid(at[:, None] * model.predict_proba(filled), grid, axis=0) / density[row]
        np.testing.assert_allclose(probabilities[row], shares, atol=1e-4)
    alone = [model.score({name: [cells[row]] for name, cells in new.items()}) for row in range(4)]
    np.testing.assert_allclose(np.log(density), alone)
