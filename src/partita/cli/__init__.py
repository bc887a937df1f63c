"""The `partita` command. A command is a module with a function `run`; heavy imports happen inside it."""

from __future__ import annotations

from typing import Annotated

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
from partita.cli.terminal import open_closed_streams

FROM_DRAWS, FROM_DATA, OTHER = "From draws", "From data, networks and clusterings", "Other"

app = typer.Typer(
    name="partita",
    cls=Group,
    help="From posterior draws of cluster labels to one clustering, with its uncertainty.",
    epilog="One command from draws to a page:  partita report draws.csv",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

register(app, "report", report.run, writes_labels=True, panel=FROM_DRAWS)
register(app, "estimate", estimate.run, writes_labels=True, panel=FROM_DRAWS)
register(app, "ball", ball.run, writes_labels=True, panel=FROM_DRAWS)
register(app, "partial", partial.run, writes_labels=True, panel=FROM_DRAWS)
register(app, "hierarchy", hierarchy.run, writes_labels=True, panel=FROM_DRAWS)
register(app, "relate", relate.run, writes_labels=True, panel=FROM_DRAWS)
register(app, "similarity", similarity.run, panel=FROM_DRAWS)
register(app, "compare-posteriors", compare_posteriors.run, writes_labels=True, panel=FROM_DRAWS)
register(app, "monitor", monitor.run, writes_labels=True, panel=FROM_DRAWS)
register(app, "cluster", cluster.run, writes_labels=True, panel=FROM_DATA)
register(app, "link", link.run, writes_labels=True, panel=FROM_DATA)
register(app, "blockmodel", blockmodel.run, writes_labels=True, panel=FROM_DATA)
register(app, "ensemble", ensemble.run, writes_labels=True, panel=FROM_DATA)
register(app, "stability", stability.run, writes_labels=True, panel=FROM_DATA)
app.add_typer(sample.app, name="sample", rich_help_panel=FROM_DATA)
register(app, "compare", compare.run, panel=OTHER)
register(app, "convert", convert.run, panel=OTHER)
register(app, "demo", demo.run, panel=OTHER)


def main() -> None:
    """Runs the `partita` command with the words of the command line."""
    listen()
    open_closed_streams()
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
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """From posterior draws of cluster labels to one clustering, with its uncertainty."""
