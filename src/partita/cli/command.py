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
from partita.cli.form import Form, written_in
from partita.cli.given import refuse, running
from partita.cli.steps import Verbose, printing_steps

CONTEXT = "typed"  # the parameter through which a command receives typer's context
VERBOSE = "verbose"
FORM = "form"
#: The panels of `--help`, and the options in them; others are under "Options".
PANELS = {
    "Input": "burn thin missing noise variable long header index as_draws pairs similarity default data columns truth"
    " labels family as_table undirected loops counts nodes items together apart one_per max_size records previous"
    " removed step_back id time",
    "Loss": "loss a b level",
    "Search": "method runs restarts seconds max_clusters max_draws bound seed jobs algorithm k starts",
    "Sampler": "draws warmup chains alpha beta inference prior truncation resume",
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

    `panel` is the panel of the list of commands.

    A command that writes labels also has the options of `Form`, which the functions that write ask for.
    """
    groups = {FORM: Form} if writes_labels else {}
    made = _command(run, groups)
    app.command(name, cls=Command, help=_paragraphs(run.__doc__ or ""), rich_help_panel=panel)(made)


def _paragraphs(text: str) -> str:
    """The text with one line per paragraph, to be wrapped at the width of the terminal."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _command(run: Callable[..., None], others: dict[str, type[Form]]) -> Callable[..., None]:
    hints = get_type_hints(run, include_extras=True)
    own = inspect.signature(run).parameters
    groups = {parameter: hints[parameter] for parameter in own if is_dataclass(hints[parameter])} | others

    @functools.wraps(run)
    def command(**options: Any) -> None:
        context = options.pop(CONTEXT)
        given = {
            parameter: kind(**{field.name: options.pop(field.name) for field in fields(kind)})
            for parameter, kind in groups.items()
        }
        form = given.pop(FORM, Form())
        with running(context), reported(), printing_steps(options.pop(VERBOSE)), written_in(form):
            if context.params.get("out") is None:
                refuse(["table_format"], "is for the tables that --out writes, and there is no --out")
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
    parameters += [option for group in others.values() for option in _flattened(group)]
    by_name = inspect.Parameter.KEYWORD_ONLY
    parameters.append(inspect.Parameter(VERBOSE, by_name, default=False, annotation=Verbose))
    parameters.append(inspect.Parameter(CONTEXT, by_name, annotation=typer.Context))
    parameters.sort(key=lambda parameter: parameter.default is not inspect.Parameter.empty)
    parameters = [p.replace(kind=by_name, annotation=_in_panel(p.name, p.annotation)) for p in parameters]
    signature = inspect.Signature(parameters)
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _in_panel(name: str, annotation: Any) -> Any:
    """The option with its panel of the help."""
    given = getattr(annotation, "__metadata__", ())
    options = [_with_panel(part, PANEL_OF.get(name)) if isinstance(part, OptionInfo) else part for part in given]
    return Annotated[get_args(annotation)[0], *options] if options else annotation


def _with_panel(option: OptionInfo, panel: str | None) -> OptionInfo:
    """A copy of an option in a panel."""
    made = copy.copy(option)
    made.rich_help_panel = panel
    return made


def _without_type(parameter: Any) -> Any:
    """A flag takes no value, and what arguments are is said in words: typer would show <bool> and <list[str]>."""
    if getattr(parameter, "is_flag", False):
        parameter.metavar = ""
    elif parameter.param_type_name == "argument":
        parameter.display_type_rich = lambda ctx: ""
    elif parameter.metavar is None and parameter.multiple:
        parameter.metavar = "<str>"
    return parameter


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
