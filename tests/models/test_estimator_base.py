"""What the estimators of models and ensembles share."""

import inspect
import sys

import numpy as np
import pytest

from partita.ensembles import BCE, NBCE, MixtureModel
from partita.models import GaussianDPM, LatentBlockModel, Sampling, StochasticBlockModel
from partita.models.estimator import NotFittedError

#: estimator, and a way to ask it for what only `fit` gives
UNFITTED = [
    (GaussianDPM(), lambda model: model.predict(np.zeros((2, 2)))),
    (StochasticBlockModel(), lambda model: model.chain_),
    (LatentBlockModel(), lambda model: model.estimate_),
    (NBCE(), lambda model: model.n_clusters_),
    (BCE(2), lambda model: model.predict([[0, 1]])),
    (MixtureModel(2), lambda model: model.outliers_),
]
IDS = [type(model).__name__ for model, _ in UNFITTED]


@pytest.mark.parametrize(("model", "ask"), UNFITTED, ids=IDS)
def test_not_fitted_is_one_error(model, ask, monkeypatch):
    """There were three: AttributeError, ValueError and scikit-learn's, by what was installed."""
    monkeypatch.delitem(sys.modules, "sklearn.exceptions", raising=False)
    with pytest.raises(NotFittedError, match=f"this {type(model).__name__} is not fitted yet; call fit first") as seen:
        ask(model)
    assert isinstance(seen.value, ValueError)
    assert isinstance(seen.value, AttributeError)
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize(("model", "ask"), UNFITTED, ids=IDS)
def test_not_fitted_is_the_error_of_scikit_learn_where_it_is_loaded(model, ask):
    exceptions = pytest.importorskip("sklearn.exceptions")
    with pytest.raises(exceptions.NotFittedError) as seen:
        ask(model)
    assert isinstance(seen.value, NotFittedError)


@pytest.mark.parametrize("model", [model for model, _ in UNFITTED], ids=IDS)
def test_unknown_parameters_are_refused_alike(model):
    with pytest.raises(ValueError, match=f"Invalid parameter 'depth' for {type(model).__name__}; valid: "):
        model.set_params(depth=3)


def test_only_what_was_changed_is_shown():
    assert repr(NBCE(truncation=100, alpha=2.0)) == "NBCE(alpha=2.0)"
    assert repr(GaussianDPM(discount=float("0.0"))) == "GaussianDPM()"
    assert repr(GaussianDPM("diag", b=np.array([1.0]))) == "GaussianDPM(covariance='diag', b=array([1.]))"
    assert repr(BCE(2)) == "BCE(k=2)"


def test_settings_that_belong_together_are_one_parameter():
    model = GaussianDPM(covariance="diag", a=2.0, sampling=Sampling(draws=20))
    assert repr(model) == "GaussianDPM(covariance='diag', a=2.0, sampling=Sampling(draws=20))"
    assert (model.a, model.sampling.draws, model.sampling.chains) == (2.0, 20, 4)
    assert model.set_params(sampling=Sampling(chains=1)).sampling == Sampling(chains=1)
    assert NBCE().sampling is None
    assert NBCE().settings_of("sampling") == Sampling(draws=500, warmup=500)


def test_no_constructor_takes_more_than_18_arguments():
    for model, _ in UNFITTED:
        parameters = inspect.signature(type(model).__init__).parameters.values()
        assert len(parameters) - 1 <= 18, model
        assert all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters), model


def test_an_unknown_setting_is_refused_with_a_hint():
    with pytest.raises(TypeError, match=r"GaussianDPM has no keyword nu=; did you mean nu0=\?"):
        GaussianDPM(nu=3)
    with pytest.raises(TypeError, match=r"NBCE has no keyword draws=; did you mean sampling=\?"):
        NBCE(draws=3)
