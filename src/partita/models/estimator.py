"""What models and ensembles share with scikit-learn's estimators, without needing scikit-learn."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from partita._support.hints import HintsKeywords
from partita._support.settings import SettingsGroup
from partita._support.validate import check_random_state
from partita._support.warn import warn_user

if TYPE_CHECKING:
    from partita.estimation.result import Estimate
    from partita.models.chains.chain import Chain


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


class NotFittedError(ValueError, AttributeError):
    """Something that needs `fit` was used before it; also scikit-learn's error of this name, if that is loaded."""


def not_fitted(estimator: Any) -> NotFittedError:
    """The error of an estimator that is not fitted yet."""
    message = f"this {type(estimator).__name__} is not fitted yet; call fit first"
    loaded = sys.modules.get("sklearn.exceptions")
    if loaded is None:
        return NotFittedError(message)
    both: NotFittedError = type("NotFittedError", (NotFittedError, loaded.NotFittedError), {})(message)
    return both


class Estimator(HintsKeywords):
    """Constructor arguments are parameters: stored under their names, checked only when used.

    A parameter may be a group of settings (`_support.settings.SettingsGroup`); None stands for its default in `groups`.
    A subclass sets `labels_` in `fit`, and calls `_remember_features` there if its data have columns.
    """

    groups: ClassVar[Mapping[str, SettingsGroup]] = {}

    labels_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]  # if they were the columns of a data frame, with names

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = inspect.signature(cls.__init__).parameters
        return {name: parameter.default for name, parameter in parameters.items() if name != "self"}

    def settings_of(self, name: str) -> Any:
        """A group of settings: as given, or the default."""
        given, default = getattr(self, name), self.groups[name]
        if given is not None and not isinstance(given, type(default)):
            kind, first = type(default).__name__, next(iter(default.settings()))
            raise TypeError(f"{name} must be {kind}(...), as in {name}={kind}({first}=...), or None; it is {given!r}")
        return default if given is None else given

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments, as scikit-learn asks for them; settings that belong together are one object."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> Self:
        """Changes constructor arguments."""
        known = list(self._defaults())
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for {type(self).__name__}; valid: {known}")
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        raise NotImplementedError

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[Any]:
        """`fit(X).labels_`."""
        return self.fit(X).labels_

    def _check_fitted(self) -> None:
        if not hasattr(self, "labels_"):
            raise not_fitted(self)

    def _remember_features(self, X: Any, n_features: int) -> None:
        """Sets `n_features_in_`, and `feature_names_in_` if the columns have names."""
        names = feature_names(X)
        self.n_features_in_ = n_features
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _check_new(self, X: Any) -> None:
        """New data come after `fit`, and columns with names are those of `fit`; warns if only one side has names."""
        self._check_fitted()
        fitted, given, who = getattr(self, "feature_names_in_", None), feature_names(X), type(self).__name__
        if fitted is None and given is not None:
            warn_user(f"X has feature names, but {who} was fitted without feature names")
        elif fitted is not None and given is None:
            warn_user(f"X does not have valid feature names, but {who} was fitted with feature names")
        elif fitted is not None and given is not None and list(fitted) != list(given):
            raise ValueError(_difference(list(fitted), list(given)))

    def __repr__(self) -> str:
        defaults = self._defaults()
        changed = [f"{name}={value!r}" for name, value in self.get_params().items() if _differs(value, defaults[name])]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type="clusterer", target_tags=TargetTags(required=False))


def _differs(value: Any, default: Any) -> bool:
    """Whether a parameter is not the default; arrays, which are equal entry by entry, always differ."""
    return value is not default and not (type(value) is type(default) and bool(value == default))


class LazyPosterior(Estimator):
    """An estimator whose `fit` maximises; the posterior, `chain_` and `estimate_`, is sampled on first access."""

    sample: Any
    random_state: Any
    _as_fitted: LazyPosterior
    _data_fitted: Any
    _chain: Chain | None
    _estimate: Estimate | None

    def _fitted_on(self, data: Any) -> Self:
        """Keeps the data and the settings of a fit: both may have changed when the posterior is asked for."""
        self._as_fitted, self._data_fitted = type(self)(**self.get_params()), data
        self._chain = self._estimate = None
        return self

    @property
    def chain_(self) -> Chain:
        """Draws from the posterior given the data of `fit`, with the defaults of `sample`; sampled on first access."""
        self._check_fitted()
        if self._chain is None:
            generator = check_random_state(self._as_fitted.random_state)
            self._chain = self._as_fitted.sample(self._data_fitted, rng=generator)
        return self._chain

    @property
    def estimate_(self) -> Estimate:
        """The partition of least expected VI of `chain_`; `labels_` is the partition of largest ICL instead."""
        from partita.estimation.estimate import estimate

        chain = self.chain_
        if self._estimate is None:
            self._estimate = estimate(chain, rng=check_random_state(self._as_fitted.random_state))
        return self._estimate
