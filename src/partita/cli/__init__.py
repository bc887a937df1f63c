"""The `partita` command. A command is a module with a function `run`; heavy imports happen inside it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from partita._support.signals import listen, release
from partita.cli import (
    ball,
    blockmodel,
    cluster,
    compare,
    compare_posteriors,
    convert,
    demo,
    ensemble,
    estimate,
    hierarchy,
    link,
    monitor,
    partial,
    relate,
    report,
    sample,
    similarity,
    stability,
)
from partita.cli.command import Group, register
from partita.cli.terminal import open_closed_streams, show_what_has_no_code

#: The commands by their panel of the help; those without clusters have no options for how these are counted.
COMMANDS: dict[str, tuple[Any, ...]] = {
    "From draws": (report, estimate, ball, partial, hierarchy, relate, similarity, compare_posteriors, monitor),
    "From data, networks and clusterings": (cluster, link, blockmodel, ensemble, stability, sample),
    "Other": (compare, convert, demo),
}
WITHOUT_LABELS = (similarity, compare, convert, demo, monitor)

app = typer.Typer(
    name="partita",
    cls=Group,
    help="From posterior draws of cluster labels to one clustering, with its uncertainty.",
    epilog="One command from draws to a page:  partita report draws.csv",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for panel, modules in COMMANDS.items():
    for module in modules:
        name = module.__name__.rpartition(".")[2].replace("_", "-")
        if module is sample:
            app.add_typer(sample.app, name=name, rich_help_panel=panel)
        else:
            register(app, name, module.run, writes_labels=module not in WITHOUT_LABELS, panel=panel)


def main() -> None:
    """Runs the `partita` command with the words of the command line."""
    listen()
    open_closed_streams()
    show_what_has_no_code()
    try:
        app(prog_name="partita")
    finally:
        release()


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"partita {version('partita')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """From posterior draws of cluster labels to one clustering, with its uncertainty."""
