"""Which options the user has typed, so that an option that would be ignored can be refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import typer

_context: ContextVar[typer.Context | None] = ContextVar("context", default=None)


@contextmanager
def running(context: typer.Context) -> Iterator[None]:
    """Makes the context of the running command available to `was_typed`."""
    token = _context.set(context)
    try:
        yield
    finally:
        _context.reset(token)


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
    context = _context.get()
    if context is not None:
        refuse([name for p in context.command.params if (name := p.name) is not None and name not in set(names)], why)


def flag_of(name: str) -> str:
    """The option of this name as the user types it; "" if the running command has none."""
    context = _context.get()
    options = [] if context is None else context.command.params
    found = (p.opts[0] for p in options if p.name == name and p.param_type_name == "option")
    return next(found, "")
