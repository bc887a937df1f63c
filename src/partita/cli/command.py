"""Turns a function into a command: groups of options become single options, errors become sentences."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any, get_origin, get_type_hints

import typer

from partita.cli.errors import reported
from partita.cli.given import running

CONTEXT = "typed"  # the parameter through which a command receives typer's context


def register(app: typer.Typer, name: str, run: Callable[..., None]) -> None:
    """Adds a command. A parameter whose type is a dataclass stands for all the options of that dataclass."""
    app.command(name)(_command(run))


def _command(run: Callable[..., None]) -> Callable[..., None]:
    hints = get_type_hints(run, include_extras=True)
    own = inspect.signature(run).parameters
    groups = {parameter: hints[parameter] for parameter in own if is_dataclass(hints[parameter])}

    @functools.wraps(run)
    def command(**options: Any) -> None:
        context = options.pop(CONTEXT)
        given = {
            parameter: kind(**{field.name: options.pop(field.name) for field in fields(kind)})
            for parameter, kind in groups.items()
        }
        with reported(), running(context):
            run(**given, **options)

    parameters = [
        flat
        for parameter in own.values()
        for flat in (
            _flattened(groups[parameter.name])
            if parameter.name in groups
            else [parameter.replace(annotation=hints[parameter.name])]
        )
    ]
    for parameter in parameters:
        _hide_flag_type(parameter.annotation)
    parameters.append(inspect.Parameter(CONTEXT, inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context))
    parameters.sort(key=lambda parameter: parameter.default is not inspect.Parameter.empty)
    signature = inspect.Signature([p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters])
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _hide_flag_type(annotation: Any) -> None:
    """Keeps the help from showing <bool> beside a flag, which takes no value."""
    if get_origin(annotation) is Annotated and annotation.__origin__ in (bool, bool | None):
        for option in annotation.__metadata__:
            option.metavar = ""


def _flattened(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
