"""Block models and ensembles as scikit-learn estimators; mixtures are in models/test_sklearn_face.py.

A `LayeredBlockModel` takes several networks of the same nodes, which is no array of scikit-learn's: it is not here.
"""

import numpy as np
import pytest

from partita.ensembles import BCE, NBCE, Ascent, MixtureModel
from partita.models import LatentBlockModel, StochasticBlockModel

pytest.importorskip("sklearn")
from sklearn.utils.estimator_checks import parametrize_with_checks


def _labels(base):
    """Labels instead of the measurements that scikit-learn's checks pass; everything else as it is."""
    try:
        numbers = np.asarray(base, dtype=float)
    except (TypeError, ValueError):
        return base
    if np.iscomplexobj(base) or hasattr(base, "columns") or numbers.ndim != 2 or not np.isfinite(numbers).all():
        return base
    return (numbers > 1).astype(int)


class _Binned:
    """An ensemble of labels that are made from measurements."""

    def fit(self, base, y=None):
        return super().fit(_labels(base))

    def predict_proba(self, base):
        return super().predict_proba(_labels(base))

    def predict(self, base):
        return super().predict(_labels(base))


class BinnedNBCE(_Binned, NBCE): ...


class BinnedBCE(_Binned, BCE): ...


class BinnedMixtureModel(_Binned, MixtureModel): ...


_CLUSTERINGS = "the message speaks of clusterings, not of features, and shows the shape in other words"
_ENSEMBLE = {
    "check_complex_data": "complex labels are a TypeError that lists the types of labels",
    "check_estimators_empty_data_messages": _CLUSTERINGS,
    "check_n_features_in_after_fitting": _CLUSTERINGS,
    "check_fit2d_predict1d": _CLUSTERINGS,
}
_FIXED_K = {**_ENSEMBLE, "check_fit2d_1sample": "the message says that k exceeds the number of items"}
_NODES = "a network has no features: its columns are its nodes, and messages speak of these"
_BLOCKS = {
    "check_complex_data": "complex numbers are a TypeError that names their type",
    "check_dtype_object": "an array of objects is a TypeError that names its type",
    "check_estimators_empty_data_messages": _NODES,
    "check_do_not_raise_errors_in_init_or_set_params": "settings of block models are checked where they are given",
}
#: estimator -> check -> why it fails
EXPECTED_FAILURES = {
    BinnedNBCE: _ENSEMBLE,
    BinnedBCE: _FIXED_K,
    BinnedMixtureModel: _FIXED_K,
    StochasticBlockModel: {
        **_BLOCKS,
        "check_n_features_in": _NODES,
        "check_n_features_in_after_fitting": _NODES,
    },
    LatentBlockModel: _BLOCKS,
}
ENSEMBLES = [
    BinnedNBCE(inference="vb", truncation=4, ascent=Ascent(max_iter=5)),
    BinnedBCE(2, restarts=1, max_iter=5),
    BinnedMixtureModel(2, restarts=1, max_iter=5),
]
BLOCK_MODELS = [StochasticBlockModel(edges="real", loops=True), LatentBlockModel(edges="real")]


def every_check(estimators):
    return parametrize_with_checks(
        estimators, expected_failed_checks=lambda estimator: EXPECTED_FAILURES[type(estimator)]
    )


@every_check(ENSEMBLES)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_agrees(estimator, check):
    check(estimator)


@pytest.mark.slow
@every_check(BLOCK_MODELS)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_agrees_on_networks(estimator, check):
    check(estimator)
