"""Mixtures as scikit-learn estimators."""

import warnings

import numpy as np
import pytest

import partita as pt
from partita.models import GaussianDPM, MixtureDPM, Sampling

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

QUICK = GaussianDPM(sampling=Sampling(draws=20, warmup=20, chains=1, n_jobs=1))
TABLES = MixtureDPM(sampling=Sampling(draws=20, warmup=20, chains=1, n_jobs=1))
RNG = np.random.default_rng(1)
X = np.concatenate([RNG.normal(-4, 1, (25, 2)), RNG.normal(4, 1, (25, 2))])

#: check -> why it does not apply
EXPECTED_FAILURES: dict[str, str] = {}


@parametrize_with_checks([QUICK, TABLES], expected_failed_checks=lambda estimator: EXPECTED_FAILURES)
def test_scikit_learn_agrees(estimator, check):
    check(estimator)


def test_fit_reports_the_partition_of_least_expected_loss():
    model = GaussianDPM(sampling=Sampling(draws=200, warmup=200, chains=2), random_state=3).fit(X)
    assert model.labels_.tolist() == np.repeat([0, 1], 25).tolist()
    assert model.n_clusters_ == 2
    assert model.chain_.labels.shape == (2, 200, 50)
    again = pt.expected_loss(model.labels_, model.chain_, "vi")
    np.testing.assert_allclose(model.estimate_.expected_loss, again)
    np.testing.assert_array_equal(
        GaussianDPM(sampling=Sampling(draws=200, warmup=200, chains=2), random_state=3).fit_predict(X), model.labels_
    )


def test_new_points_are_allocated():
    model = GaussianDPM("diag", b=0.5, sampling=Sampling(draws=100, warmup=100, chains=1), random_state=3).fit(X)
    assert model.predict([[-4.0, -4.0], [4.0, 4.0], [300.0, -300.0]]).tolist() == [0, 1, -1]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    with pytest.raises(NotFittedError):
        GaussianDPM().predict(X)


def test_parameters_in_and_out():
    model = GaussianDPM("diag", alpha=2.0, random_state=1)
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(alpha=3.0).alpha == 3.0
    assert repr(model) == "GaussianDPM(covariance='diag', alpha=3.0, random_state=1)"
    with pytest.raises(ValueError, match="Invalid parameter 'beta'"):
        model.set_params(beta=1)


def test_random_states():
    seeds = [np.random.RandomState(4), np.random.RandomState(4)]
    one, other = (QUICK.__class__(**{**QUICK.get_params(), "random_state": s}).fit(X).chain_.labels for s in seeds)
    np.testing.assert_array_equal(one, other)


def test_poor_mixing_is_said_once():
    """By `sample`; the estimate holds it too, without another warning."""
    wide = np.random.default_rng(2).normal(size=(300, 3)) * [1.0, 5.0, 20.0]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = GaussianDPM("diag", sampling=Sampling(draws=8, warmup=0, chains=4), random_state=1).fit(wide)
    assert model.chain_.notes
    assert model.estimate_.notes
    assert sum(issubclass(warning.category, pt.MixingWarning) for warning in caught) == 1
