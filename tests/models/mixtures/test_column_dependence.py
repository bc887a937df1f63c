"""Correlated columns: a note where they are many, and principal components in their place."""

import numpy as np
import pytest

import partita as pt
from partita.models import MixtureDPM
from partita.models.mixtures.projection import effective_columns

pytestmark = pytest.mark.filterwarnings("ignore::partita.MixingWarning")


def genes(rows=120, columns=100, factors=3, apart=0.0, seed=1):
    """Columns that depend on a few factors; two groups whose factors differ by `apart`."""
    rng = np.random.default_rng(seed)
    truth = np.arange(rows) % 2
    scores = rng.normal(size=(rows, factors)) + apart * truth[:, None]
    return scores @ rng.normal(size=(factors, columns)) + 0.7 * rng.normal(size=(rows, columns)), truth


@pytest.mark.parametrize("copies", [1, 4])
def test_copies_of_columns_count_once(copies):
    rng = np.random.default_rng(2)
    columns = np.repeat(rng.normal(size=(400, 40)), copies, axis=1)
    labels = rng.integers(3, size=400)
    columns[rng.random(columns.shape) < 0.02] = np.nan
    effective, p = effective_columns(columns + 5.0 * labels[:, None], labels)
    assert p == 40 * copies
    assert effective == pytest.approx(40, rel=0.15)


def test_correlated_columns_make_too_many_clusters_and_a_note():
    X, _ = genes()
    options = {"draws": 100, "warmup": 150, "chains": 2, "rng": 1}
    chain = MixtureDPM().sample(X, **options)
    assert pt.estimate(chain, rng=1).n_clusters > 1
    assert any("100 numeric columns are correlated" in note for note in chain.notes)
    projected = MixtureDPM(projection=True).sample(X, **options)
    assert pt.estimate(projected, rng=1).n_clusters == 1
    assert not projected.model_notes
    independent = MixtureDPM().sample(np.random.default_rng(1).normal(size=(120, 30)), **options)
    assert not independent.model_notes


def test_components_find_groups_that_differ():
    X, truth = genes(apart=4.0)
    X[3, 5] = np.nan
    model = MixtureDPM(projection=True, sampling=pt.models.Sampling(100, 100, chains=2), random_state=1).fit(X)
    assert pt.adjusted_rand(model.labels_, truth) > 0.95
    np.testing.assert_array_equal(model.predict(X[:20]), model.labels_[:20])
    fit = MixtureDPM(projection=3).maximize(X, rng=1)
    assert pt.adjusted_rand(fit.labels, truth) > 0.95
    assert pt.profiles(model, X, rng=1)["x0"].mean.shape == (2,)
    with pytest.raises(ValueError, match="missing cells count as column means"):
        model.chain_.impute()


def test_scores_are_those_of_an_eigendecomposition():
    """The model of k components is that of their scores as a table."""
    X, _ = genes(apart=4.0, rows=40, columns=6)
    standardized = (X - X.mean(axis=0)) / X.std(axis=0)
    values, vectors = np.linalg.eigh(standardized.T @ standardized)
    scores = standardized @ vectors[:, ::-1][:, :2]
    labels = np.arange(40) % 3
    expected = MixtureDPM().icl(scores, labels)
    np.testing.assert_allclose(MixtureDPM(projection=2).icl(X, labels), expected, rtol=1e-9)
    assert values[-1] / 40 > (1 + np.sqrt(6 / 40)) ** 2


def test_order_and_scale_of_columns_and_rows_do_not_matter():
    X, _ = genes(rows=60, columns=8)
    labels = np.arange(60) % 4
    model, order = MixtureDPM(projection=3), np.random.default_rng(1).permutation(8)
    expected = model.icl(X, labels)
    np.testing.assert_allclose(model.icl(7 * X[:, order] - 2, labels), expected, rtol=1e-9)
    np.testing.assert_allclose(model.icl(X[::-1], labels[::-1]), expected, rtol=1e-9)


@pytest.mark.parametrize("more", [{"full": [["x0", "x1"]]}, {"select": True}])
def test_what_projection_does_not_go_with(more):
    with pytest.raises(ValueError, match="projection cannot be used together"):
        MixtureDPM(projection=True, **more).sample(np.eye(4), draws=1, warmup=1)
    with pytest.raises(ValueError, match="two numeric columns"):
        MixtureDPM(projection=True).sample({"x": [1.0, 2.0], "y": ["a", "b"]}, draws=1, warmup=1)
