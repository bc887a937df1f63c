"""Names of columns: kept by `fit`, checked by whatever takes data later, with the rules of scikit-learn."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from partita.ensembles import BCE, NBCE, MixtureModel
from partita.models import GaussianDPM, LatentBlockModel, Sampling, StochasticBlockModel

RNG = np.random.default_rng(1)
NAMES = ["height", "width", "age"]
X = pd.DataFrame(np.concatenate([RNG.normal(-4, 1, (8, 3)), RNG.normal(4, 1, (8, 3))]), columns=NAMES)
BASE = pd.DataFrame(np.repeat([[0, 1, 0], [1, 0, 2]], 8, axis=0), columns=NAMES)
ESTIMATORS = {
    "dpm": (lambda: GaussianDPM(sampling=Sampling(draws=20, warmup=20, chains=1), random_state=1), X),
    "nbce": (lambda: NBCE(sampling=Sampling(draws=20, warmup=20, chains=1), random_state=1), BASE),
    "nbce-vb": (lambda: NBCE("vb", random_state=1), BASE),
    "bce": (lambda: BCE(2, random_state=1), BASE),
    "mixture": (lambda: MixtureModel(2, random_state=1), BASE),
}

pytestmark = pytest.mark.filterwarnings("ignore::partita.estimation.convergence.MixingWarning")


@pytest.fixture(params=ESTIMATORS)
def fitted(request):
    make, data = ESTIMATORS[request.param]
    return make().fit(data), data


def methods(estimator):
    names = ("predict", "predict_proba", "perplexity")
    return [getattr(estimator, name) for name in names if hasattr(estimator, name)]


def test_fit_keeps_the_names_and_their_number(fitted):
    estimator, data = fitted
    assert estimator.feature_names_in_.tolist() == NAMES
    assert estimator.feature_names_in_.dtype == object
    assert estimator.n_features_in_ == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in methods(estimator):
            method(data)


def test_columns_in_another_order_are_refused(fitted):
    """They were taken by position."""
    estimator, data = fitted
    for method in methods(estimator):
        with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
            method(data[NAMES[::-1]])


def test_other_columns_are_refused_and_listed(fitted):
    estimator, data = fitted
    for method in methods(estimator):
        with pytest.raises(ValueError, match=r"unseen at fit time:\n- weight\n.*yet now missing:\n- age\n"):
            method(data.rename(columns={"age": "weight"}))


def test_a_side_without_names_is_a_warning(fitted):
    estimator, data = fitted
    who = type(estimator).__name__
    with pytest.warns(UserWarning, match=f"X does not have valid feature names, but {who} was fitted with") as seen:
        estimator.predict(data.to_numpy())
    assert len(seen) == 1
    estimator.fit(data.to_numpy())
    assert not hasattr(estimator, "feature_names_in_")
    assert estimator.n_features_in_ == 3
    with pytest.warns(UserWarning, match=f"X has feature names, but {who} was fitted without feature names"):
        estimator.predict(data)


def test_polars_and_numbered_columns():
    model = GaussianDPM(sampling=Sampling(draws=10, warmup=10, chains=1), random_state=1)
    assert model.fit(pl.DataFrame(X.to_dict("list"))).feature_names_in_.tolist() == NAMES
    assert not hasattr(model.fit(pd.DataFrame(X.to_numpy())), "feature_names_in_")
    with pytest.raises(TypeError, match="string names"):
        model.fit(pd.DataFrame(X.to_numpy(), columns=["a", 1, 2]))


def test_block_models():
    matrix = pd.DataFrame(np.kron(np.eye(2, dtype=int), np.ones((4, 3), dtype=int)), columns=list("abcdef"))
    model = LatentBlockModel(random_state=1).fit(matrix)
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert model.n_features_in_ == 6
    assert not hasattr(model.fit(matrix.to_numpy()), "feature_names_in_")
    edges = pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 0]})  # columns of an edge list are no features
    assert not hasattr(StochasticBlockModel(random_state=1).fit(edges), "feature_names_in_")


def test_scikit_learn_s_own_check():
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    model = GaussianDPM(sampling=Sampling(draws=10, warmup=10, chains=1), random_state=1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Estimator does not have a feature_names_in_")
        checks.check_dataframe_column_names_consistency("GaussianDPM", model)
