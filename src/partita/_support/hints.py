"""Words of messages: suggestions for unknown names, and counts with their nouns."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

LIKENESS = 0.7  # of two spellings, as difflib measures it
#: Keywords of other libraries and functions, and what they may be called here.
SYNONYMS = {
    "seed": ("rng", "random_state"),
    "random_state": ("rng",),
    "rng": ("random_state",),
    "n_runs": ("runs",),
    "restarts": ("runs", "ascent"),
    "runs": ("restarts",),
    "n_samples": ("draws",),
    "iterations": ("draws",),
    "draws": ("sampling",),
    "chains": ("sampling",),
    "thin": ("sampling",),
    "n_jobs": ("sampling",),
    "split_merge": ("moves",),
    "restricted_scans": ("moves",),
    "max_iter": ("ascent",),
    "tol": ("ascent",),
    "warmup": ("sampling",),
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


def hinted(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A function whose error for an unknown keyword suggests the one that was most likely meant."""
    signature = inspect.signature(function)
    known = [name for name in signature.parameters if name != "self"]

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

    return checked


def hinted_init(cls: type[Result]) -> type[Result]:
    """A class decorator: the constructor suggests the right keyword for an unknown one."""
    setattr(cls, "__init__", hinted(cls.__init__))  # noqa: B010 - mypy does not let methods be assigned to
    return cls


class HintsKeywords:
    """A class whose constructor and listed methods suggest the right keyword for an unknown one."""

    def __init_subclass__(cls, methods: Iterable[str] = ("sample", "maximize"), **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in cls.__dict__:
            hinted_init(cls)
        for name in methods:
            if name in cls.__dict__:
                setattr(cls, name, hinted(cls.__dict__[name]))


def plural(count: int, noun: str) -> str:
    """
    >>> plural(1, "cluster"), plural(2000, "draw")
    ('1 cluster', '2,000 draws')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed(names: Sequence[str], most: int = 20) -> str:
    """Names as a message lists them: the first ones, and dots if there are more."""
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
