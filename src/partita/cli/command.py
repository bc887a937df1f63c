"""Turns a function into a command: groups of options become single options, errors become sentences."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import OptionInfo

from partita.cli.errors import reported
from partita.cli.form import Form, check_form
from partita.cli.given import running
from partita.cli.option import opt
from partita.cli.steps import Verbosity, printing_steps

CONTEXT = "typed"  # the parameter through which a command receives typer's context
BY_NAME, EMPTY = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.empty
#: The panels of `--help`, and the options in them; others are under "Options".
PANELS = {
    "Input": "burn thin missing noise variable long header index as_draws pairs similarity default data columns truth"
    " labels family as_table undirected loops counts nodes items together apart one_per max_size records previous"
    " removed step_back subject time schema",
    "Model": "weights blocks degree_corrected nested covariance standardize regression full select clusters projection",
    "Loss": "loss a b level",
    "Search": "method runs restarts seconds max_clusters max_draws bound seed jobs algorithm k starts",
    "Sampler": "draws warmup chains alpha expect beta inference prior truncation resume",
    "Output": "out json force one_based table_format quiet verbose title figure newick",
    "Cluster of machines": "dask workers shards",
}
PANEL_OF = {name: panel for panel, names in PANELS.items() for name in names.split()}


class Command(TyperCommand):
    """A command whose help shows no types of Python."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, with --help."""
        return list(map(_without_type, super().get_params(ctx)))


class Group(TyperGroup):
    """A group of commands with the same kind of help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, with --help and those of completion."""
        return list(map(_without_type, super().get_params(ctx)))


def register(
    app: typer.Typer, name: str, run: Callable[..., None], *, writes_labels: bool = False, panel: str | None = None
) -> None:
    """Adds a command. A parameter whose type is a dataclass stands for all the options of that dataclass.

    A command that writes labels also has the options of `Form`, which the functions that write ask for.
    """
    made = _command(run, [Verbosity, Form] if writes_labels else [Verbosity])
    app.command(name, cls=Command, help=_paragraphs(run.__doc__ or ""), rich_help_panel=panel)(made)


def _paragraphs(text: str) -> str:
    """The text with one line per paragraph, to be wrapped at the width of the terminal."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _command(run: Callable[..., None], others: list[Any]) -> Callable[..., None]:
    """The function with single options; those of `others` are not for `run`, which is under way when they are asked."""
    hints = get_type_hints(run, include_extras=True)
    own = inspect.signature(run).parameters
    groups = {parameter: hints[parameter] for parameter in own if is_dataclass(hints[parameter])}

    @functools.wraps(run)
    def command(**options: Any) -> None:
        given = {
            name: kind(**{field.name: options[field.name] for field in fields(kind)}) for name, kind in groups.items()
        }
        given |= {name: options[name] for name in own if name not in groups}
        with running(options[CONTEXT]), reported(), printing_steps():
            check_form()
            run(**given)

    parameters = [option for p in own.values() for option in _options(p, hints[p.name])]
    parameters += [option for group in others for option in _flattened(group)]
    if not any(parameter.name == "out" for parameter in parameters):  # no tables are written
        parameters = [parameter for parameter in parameters if parameter.name != "table_format"]
    parameters.append(inspect.Parameter(CONTEXT, BY_NAME, annotation=typer.Context))
    parameters.sort(key=_place)
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _options(parameter: inspect.Parameter, hint: Any) -> list[inspect.Parameter]:
    """The option of a parameter, or those of its group."""
    return _flattened(hint) if is_dataclass(hint) else [_option(parameter.name, parameter.default, hint)]


def _flattened(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [_option(f.name, EMPTY if f.default is MISSING else f.default, hints[f.name]) for f in fields(group)]


def _option(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    """An option in its panel of the help; a sentence is its help."""
    found = getattr(annotation, "__metadata__", (None,))[0]
    if isinstance(found, str):
        found = opt(found, *([f"--{name.replace('_', '-')}"] if default is False else []))
    if isinstance(found, OptionInfo):
        found = copy.copy(found)
        found.rich_help_panel = found.rich_help_panel or PANEL_OF.get(name)
    if found is not None:
        annotation = Annotated[get_args(annotation)[0], found]
    return inspect.Parameter(name, BY_NAME, default=default, annotation=annotation)


def _place(option: inspect.Parameter) -> int:
    """Panels have the same order in every command; arguments and options without a panel come first."""
    found = next((m for m in getattr(option.annotation, "__metadata__", ()) if isinstance(m, OptionInfo)), None)
    return list(PANELS).index(found.rich_help_panel) if found is not None and found.rich_help_panel in PANELS else -1


def _without_type(parameter: Any) -> Any:
    """A flag takes no value, and what arguments are is said in words: typer would show <bool> and <list[str]>."""
    if getattr(parameter, "is_flag", False):
        parameter.metavar = ""
    elif parameter.param_type_name == "argument":
        parameter.display_type_rich = lambda ctx: ""
        parameter.metavar = parameter.metavar or parameter.name.upper()
    elif parameter.metavar is None and parameter.multiple:
        parameter.metavar = "<str>"
    return parameter
