"""Chains that have not mixed are reported once for all fits of a cross-validation."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

from partita.estimation.convergence import MixingWarning
from partita.models import GaussianDPM, Sampling

X = np.random.default_rng(0).normal(size=(60, 2))
SHORT = GaussianDPM(sampling=Sampling(draws=40, warmup=0, chains=2), random_state=1)


@pytest.mark.parametrize(
    "validate",
    [
        lambda: cross_val_score(SHORT, X, cv=4),
        lambda: GridSearchCV(SHORT, {"alpha": [0.5, 2.0]}, cv=2, refit=False).fit(X),
    ],
)
def test_one_warning_for_each_cross_validation(validate):
    for _ in range(2):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            validate()
        (said,) = [str(warning.message) for warning in seen if warning.category is MixingWarning]
        assert said.startswith("Chains of the cross-validation have not mixed")


def test_a_fit_says_which_quantities_have_not_mixed():
    with pytest.warns(MixingWarning, match="R-hat"):
        SHORT.fit(X)
