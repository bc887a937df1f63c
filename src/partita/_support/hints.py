"""Words of messages: suggestions for unknown names, and counts with their nouns."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, ClassVar, ParamSpec, TypeVar

from partita._support.settings import SettingsGroup, group_of_setting

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

LIKENESS = 0.7  # of two spellings, as difflib measures it
#: Keywords of other libraries and functions, and what they may be called here.
SYNONYMS = {
    "seed": ("rng", "random_state"),
    "random_state": ("rng",),
    "rng": ("random_state",),
    "n_runs": ("runs",),
    "restarts": ("runs",),
    "runs": ("restarts",),
    "n_samples": ("draws",),
    "iterations": ("draws",),
    "tune": ("warmup",),
    "burnin": ("burn", "warmup"),
    "burn_in": ("burn", "warmup"),
    "burn": ("warmup",),
    "max_k": ("max_clusters", "k_max"),
    "k_max": ("max_clusters",),
    "max_clusters": ("k_max",),
    "jobs": ("n_jobs",),
    "cores": ("n_jobs",),
    "n_threads": ("n_jobs",),
    "max_time": ("seconds",),
    "timeout": ("seconds",),
}


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """The hint of a message about an unknown name: the most similar known name, if any is similar."""
    names = {known_name.lower(): known_name for known_name in known}
    close = get_close_matches(str(name).lower(), names, n=1, cutoff=LIKENESS)
    return f" (did you mean {names[close[0]]!r}?)" if close else ""


def meant_keyword(name: str, known: Iterable[str]) -> str | None:
    """The known keyword that was most likely meant: one of the same meaning, otherwise one of similar spelling."""
    names = list(known)
    close = get_close_matches(name.lower(), names, n=1, cutoff=LIKENESS)
    return next((synonym for synonym in SYNONYMS.get(name, ()) if synonym in names), close[0] if close else None)


def hinted(function: Callable[Arguments, Result], settings: Iterable[str] = ()) -> Callable[Arguments, Result]:
    """A function whose error for an unknown keyword suggests the one that was most likely meant.

    `settings` are the further keywords of a function with `**settings`, which its signature then does not show:
    scikit-learn would take them for a parameter.
    """
    signature = inspect.signature(function)
    named = [parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
    known = [*(parameter.name for parameter in named if parameter.name != "self"), *settings]

    def called(args: tuple[Any, ...]) -> str:
        """As the user knows it: a method by the class of its object, which may have inherited it."""
        owner, _, own = function.__qualname__.rpartition(".")
        if owner and args and "self" in signature.parameters:
            owner = type(args[0]).__name__
        return owner if own == "__init__" else f"{owner}.{own}" if owner else own

    @functools.wraps(function)
    def checked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        for name in kwargs:
            if name not in known:
                meant = meant_keyword(name, known)
                hint = "" if meant is None else f"; did you mean {meant}=?"
                raise TypeError(f"{called(args)} has no keyword {name}={hint}")
        return function(*args, **kwargs)

    checked.__signature__ = signature.replace(parameters=named)  # type: ignore[attr-defined]
    return checked


class HintsKeywords:
    """A class whose constructor and listed methods suggest the right keyword for an unknown one."""

    #: Parameters that hold several settings, each a keyword of the constructor as well, and their defaults.
    groups: ClassVar[Mapping[str, SettingsGroup]] = {}

    def __init_subclass__(cls, methods: Iterable[str] = ("sample", "maximize"), **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in cls.__dict__:
            cls.__init__ = hinted(cls.__init__, group_of_setting(cls.groups))  # type: ignore[method-assign]
        for name in methods:
            if name in cls.__dict__:
                setattr(cls, name, hinted(cls.__dict__[name]))


def plural(count: int, noun: str) -> str:
    """
    Examples
    --------
    >>> plural(1, "cluster"), plural(2000, "draw")
    ('1 cluster', '2,000 draws')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
