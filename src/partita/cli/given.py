"""The running command: which options it has, and which of them the user has typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import typer

_context: ContextVar[typer.Context | None] = ContextVar("context", default=None)


@contextmanager
def running(context: typer.Context) -> Iterator[None]:
    """Makes the context of the running command available to the functions below."""
    token = _context.set(context)
    try:
        yield
    finally:
        _context.reset(token)


def value_of(name: str, default: Any) -> Any:
    """The value of an option; the default if the running command has none, and outside a command."""
    context = _context.get()
    return default if context is None else context.params.get(name, default)


def was_typed(name: str) -> bool:
    """Whether the user has typed this option; False outside a command."""
    context = _context.get()
    source = None if context is None else context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def refuse(names: Iterable[str], why: str) -> None:
    """Raises an error for the first of these options that the user has typed; `why` completes its sentence."""
    for name in names:
        if was_typed(name):
            raise ValueError(f"{flag_of(name)} {why}")


def refuse_all_but(names: Iterable[str], why: str) -> None:
    """Raises an error for any other option that the user has typed."""
    refuse([p.name for p in _parameters() if p.name not in set(names)], why)


def check_choice(name: str, value: str, choices: Iterable[str]) -> None:
    """Refuses a value that is none of the choices of an option."""
    from partita._support.hints import did_you_mean

    if value not in choices:
        raise ValueError(
            f"--{name} must be one of {', '.join(choices)}, but it is {value}{did_you_mean(value, choices)}"
        )


def flag_of(name: str) -> str:
    """The option of this name as the user types it; "" if the running command has none."""
    return next((p.opts[0] for p in _parameters() if p.name == name and p.param_type_name == "option"), "")


def _parameters() -> list[Any]:
    context = _context.get()
    return [] if context is None else context.command.params
