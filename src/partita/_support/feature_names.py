"""Names of columns as in scikit-learn: `feature_names_in_` is set by fit and checked for all later data.

The rules and messages are those of scikit-learn's estimators, which users know, without needing scikit-learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._support.warn import warn_user

_MAX_LISTED = 5


def feature_names(X: Any) -> NDArray[Any] | None:
    """The column names of a data frame if they are strings; None if they are numbers; a mix raises an error.

    >>> import pandas as pd
    >>> feature_names(pd.DataFrame({"height": [1], "width": [2]}))
    array(['height', 'width'], dtype=object)
    >>> feature_names(np.zeros((2, 2))) is None
    True
    """
    columns = getattr(X, "columns", None)
    if columns is None or callable(columns):
        return None
    names = list(columns)
    texts = [isinstance(name, str) for name in names]
    if not names or not any(texts):
        return None
    if not all(texts):
        kinds = sorted({type(name).__name__ for name in names})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name types; X.columns = X.columns.astype(str) makes them all strings"
        )
    return np.array(names, dtype=object)


def remember_features(estimator: Any, X: Any, n_features: int) -> None:
    """Sets `n_features_in_`, and `feature_names_in_` if the columns have names."""
    names = feature_names(X)
    estimator.n_features_in_ = n_features
    if names is not None:
        estimator.feature_names_in_ = names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def check_features(estimator: Any, X: Any) -> None:
    """Raises an error for columns other than those of `fit`, or in another order; warns if only one side has names."""
    fitted, given = getattr(estimator, "feature_names_in_", None), feature_names(X)
    who = type(estimator).__name__
    if fitted is None and given is not None:
        warn_user(f"X has feature names, but {who} was fitted without feature names")
    elif fitted is not None and given is None:
        message = f"X does not have valid feature names, but {who} was fitted with feature names"
        warn_user(message)
    elif fitted is not None and given is not None and list(fitted) != list(given):
        raise ValueError(_difference(list(fitted), list(given)))


def _difference(fitted: list[str], given: list[str]) -> str:
    message = "The feature names should match those that were passed during fit.\n"
    unseen, absent = sorted(set(given) - set(fitted)), sorted(set(fitted) - set(given))
    if unseen:
        message += f"Feature names unseen at fit time:\n{_listed(unseen)}"
    if absent:
        message += f"Feature names seen at fit time, yet now missing:\n{_listed(absent)}"
    if not unseen and not absent:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message


def _listed(names: list[str]) -> str:
    lines = [f"- {name}\n" for name in names[:_MAX_LISTED]]
    return "".join(lines) + ("- ...\n" if len(names) > _MAX_LISTED else "")
